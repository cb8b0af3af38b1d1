import { randomUUID } from 'node:crypto';
import { createPersonalApiKey } from '@millrace/accounts';
import { allScopes } from '@millrace/contracts';
import { createLogger, createMetrics } from '@millrace/runtime';
import { createMailer, type Mailer } from '@millrace/runtime/mail';
import {
  createFaultProxy,
  createTestEnvironment,
  eventually,
  type FaultProxy,
  type MailServer,
  patienceMs,
  startMailServer,
  waitOutHourEnd,
} from '@millrace/testing';
import { notFound, permissionDenied, validationError } from '../../testing/expected-errors.ts';
import { type Actor, createActor, createActors, type OrganizationActors } from '../../testing/organization-actors.ts';
import { startTestApi, type TestApi } from '../../testing/start-test-api.ts';
import { createInviteMailing, type InviteMailing } from './mailing.ts';

/** Tests cases invite-001 to invite-039 (docs/cases.md#the-rest-api). */
let mailServer: MailServer;
let proxy: FaultProxy;
let mailer: Mailer;
let mailing: InviteMailing;
let api: TestApi;
let acme: OrganizationActors;
let path: string;
beforeAll(async () => {
  mailServer = await startMailServer();
  proxy = await createFaultProxy({ targetPort: Number(new URL(mailServer.url).port) });
  const logger = createLogger('test', 'error');
  mailer = createMailer(
    { url: `smtp://127.0.0.1:${proxy.port}`, from: 'Millrace <no-reply@millrace.test>', timeoutMs: 5000 },
    { logger, metrics: createMetrics({ withProcessMetrics: false }) },
  );
  api = await startTestApi({
    inviteMailing: {
      send: (invites, organization) => mailing.send(invites, organization),
      notifyJoined: () => {},
      drain: () => mailing.drain(),
    },
  });
  mailing = waitingForMails(patienceMs);
  acme = await createActors(api.database);
  path = `/api/organizations/${acme.organizationId}/invites/`;
});
afterAll(async () => {
  await mailing.drain();
  await api.stop();
  await mailer.stop();
  await proxy.stop();
  await mailServer.stop();
});

const waitingForMails = (waitMs: number) =>
  createInviteMailing({
    ...{ sql: api.database.sql, logger: createLogger('test', 'error'), mailer, publicUrl: 'https://millrace.test/' },
    ...{ patienceMs: waitMs, mailsPerHour: 0, withConsole: true },
  });
const newEmail = () => `${randomUUID()}@guest.example`;
const invite = (body: unknown, { key }: Actor = acme.A, at = path) => api.send('POST', at, { key, body });
const bulk = (body: unknown, { key }: Actor = acme.A, at = path) =>
  api.send('POST', `${at}bulk/`, { key, body, headers: { prefer: 'return=representation' } });
const countInvites = (organizationId = acme.organizationId) =>
  api.database.prisma.organization_invite.count({ where: { organization_id: organizationId } });
const pendingOf = (email: string) =>
  api.database.prisma.organization_invite.findMany({ where: { email_key: email.toLowerCase() } });
const mailsTo = (email: string) => mailServer.mails.filter(({ to }) => to.includes(email));

async function addEnvironment({ isPrivate }: { isPrivate: boolean }): Promise<number> {
  const { prisma } = api.database;
  const { id } = await createTestEnvironment(api.database, { projectId: acme.projectId });
  await prisma.environment.update({ where: { id }, data: { access_control: isPrivate } });
  return id;
}

test("invite-001, invite-002, invite-013, invite-017: returns 403 or 404 for another organization's invites", async () => {
  const foreign = `/api/organizations/${acme.off.organizationId}/invites/`;
  expect(await api.get(foreign, acme.A.key)).toMatchObject(permissionDenied());
  expect(await invite({ target_email: newEmail() }, acme.A, foreign)).toMatchObject(permissionDenied());
  expect(await bulk([{ target_email: newEmail() }], acme.A, foreign)).toMatchObject(permissionDenied());
  expect(await api.send('DELETE', `${foreign}${randomUUID()}/`, { key: acme.A.key })).toMatchObject(permissionDenied());
  expect(await countInvites(acme.off.organizationId)).toBe(0);
});

test('invite-002: returns 405 for GET of a single invite, because Millrace has no such route', async () => {
  expect((await api.get(`${path}${randomUUID()}/`, acme.A.key)).status).toBe(405);
});

test('invite-004: creates an invite and sends an email', async () => {
  const email = newEmail();
  const { status, body } = await invite({ target_email: email });
  expect(status).toBe(201);
  expect(body).toMatchObject({
    target_email: email,
    first_name: '',
    level: 1,
    is_expired: false,
    emailing_attempt_made: true,
    message: null,
    created_by: { id: acme.A.userId, email: acme.A.email },
  });
  // Unlike PostHog, Millrace returns unset fields as null, and includes `send_email` and `combine_pending_invites`.
  expect(body).toMatchObject({ private_project_access: null, send_email: true, combine_pending_invites: false });
  const [mail, ...others] = mailsTo(email);
  expect(others).toEqual([]);
  expect(mail?.headers).toMatchObject({
    subject: 'A member of Acme invited you to join Acme on Millrace',
    from: 'Millrace <no-reply@millrace.test>',
  });
  expect(mail?.body).toContain(`https://millrace.test/console/invite/${body.id}#`);
  expect(mail?.body).toContain(`https://millrace.test/api/signup/${body.id}`);
  expect((await api.get(path, acme.M.key)).body.results[0]).toEqual(body);
});

const needsFullKey = permissionDenied('Inviting with a level above 1 requires an API key with all scopes.');

test('requires a key with all scopes to invite administrators', async () => {
  const { value } = await createPersonalApiKey(api.database.sql, {
    actor: null,
    userId: acme.W.userId,
    label: 'small',
    scopes: allScopes.filter((scope) => scope !== 'event:write'),
  });
  const small = { ...acme.W, key: value };
  for (const level of [8, 15]) {
    expect(await invite({ target_email: newEmail(), level }, small)).toMatchObject(needsFullKey);
  }
  const private_project_access = [{ id: acme.projectId, level: 8 }];
  expect(await invite({ target_email: newEmail(), private_project_access }, small)).toMatchObject(needsFullKey);
  expect((await invite({ target_email: newEmail(), level: 1 }, small)).status).toBe(201);
});

test("hides an invite's private projects from members without access to them", async () => {
  const [open, shut] = [await addEnvironment({ isPrivate: false }), await addEnvironment({ isPrivate: true })];
  const [both, one] = [[open, shut], [shut]].map((ids) => ids.map((id) => ({ id, level: 1 })));
  const made = await invite({ target_email: newEmail(), private_project_access: one });
  await invite({ target_email: newEmail(), private_project_access: both });
  const [latest, before] = (await api.get(path, acme.M.key)).body.results;
  expect([latest.private_project_access, before.private_project_access]).toEqual([[{ id: open, level: 1 }], null]);
  expect(made.body.private_project_access).toEqual(one);
  expect((await api.get(path, acme.A.key)).body.results[0].private_project_access).toEqual(both);
});

test('invite-005: sends no email if the request turns emails off', async () => {
  const email = newEmail();
  const response = await invite({ target_email: email, send_email: false });
  expect(response).toMatchObject({ status: 201, body: { send_email: false, emailing_attempt_made: false } });
  expect(mailsTo(email)).toEqual([]);
});

test("quotes the inviter's message in the email, and does not turn any line of the message into a mail header", async () => {
  const email = newEmail();
  await invite({
    target_email: email,
    first_name: 'Grace',
    message: 'See you!\r\n.\r\nBcc: eve@example.com',
    level: 8,
  });
  const [mail] = mailsTo(email);
  expect(mail?.body).toMatch(/Hello,[\s\S]*as an administrator[\s\S]*> See you!/);
  expect([mail?.to, mail?.headers.bcc]).toEqual([[email], undefined]);
});

test('invite-006: a new invite replaces earlier invites for the email address', async () => {
  const email = newEmail();
  for (let time = 0; time < 3; time += 1) expect((await invite({ target_email: email })).status).toBe(201);
  expect(await pendingOf(email)).toHaveLength(1);
  const responses = await Promise.all(
    [1, 2, 3, 4].map(() => invite({ target_email: email.toUpperCase(), send_email: false })),
  );
  expect(responses.map(({ status }) => status)).toEqual([201, 201, 201, 201]);
  expect(await pendingOf(email)).toHaveLength(1);
});

describe('access to private projects through an invite', () => {
  const noProject = validationError(
    'invalid_input',
    'private_project_access',
    'Project does not exist on this organization, or it is private and you do not have access to it.',
  );

  test('invite-007, invite-008: returns 400 for a project of another organization, or one that the inviter cannot access', async () => {
    const granting = (id: number) => ({ target_email: newEmail(), private_project_access: [{ id, level: 1 }] });
    expect(await invite(granting(acme.off.projectId))).toMatchObject(noProject);
    expect(await invite(granting(await addEnvironment({ isPrivate: true })), acme.M)).toMatchObject(noProject);
    expect(await invite(granting(-1))).toMatchObject(noProject);
    expect(await invite(granting(9e15))).toMatchObject(noProject);
  });

  test("invite-009, invite-010: returns 400 for a higher level than the inviter's own", async () => {
    const id = await addEnvironment({ isPrivate: false });
    const body = { target_email: newEmail(), private_project_access: [{ id, level: 8 }] };
    expect(await invite(body, acme.M)).toMatchObject(
      validationError(
        'invalid_input',
        'private_project_access',
        'You cannot invite to a private project with a higher level than your own.',
      ),
    );
  });

  test('invite-011, invite-012: administrators can grant access to any project, and members only to open projects', async () => {
    const hidden = [{ id: await addEnvironment({ isPrivate: true }), level: 8 }];
    const open = [{ id: await addEnvironment({ isPrivate: false }), level: 1 }];
    expect(await invite({ target_email: newEmail(), private_project_access: hidden })).toMatchObject({
      status: 201,
      body: { private_project_access: hidden },
    });
    expect(await invite({ target_email: newEmail(), private_project_access: open }, acme.M)).toMatchObject({
      status: 201,
      body: { private_project_access: open },
    });
  });

  test.each([
    ['x', 'The field must be a list of dictionaries.'],
    [{}, 'The field must be a list of dictionaries.'],
    [[1], 'Each item in the list must be a dictionary.'],
    [[null], 'Each item in the list must be a dictionary.'],
    [[{}], 'Each dictionary must contain "id" and "level" keys.'],
    [[{ id: 'x', level: 1 }], 'The "id" field must be an integer.'],
    [[{ id: 1, level: 15 }], 'The "level" field must be either "member" or "admin".'],
  ])('invite-038: returns 400 for an invite with %j', async (value, detail) => {
    expect(await invite({ target_email: newEmail(), private_project_access: value })).toMatchObject(
      validationError('invalid_input', 'private_project_access', detail),
    );
  });

  test.each([[[]], [null]])('stores the private project access %j as null', async (value) => {
    const { body } = await invite({
      target_email: newEmail(),
      private_project_access: value,
      combine_pending_invites: true,
    });
    expect(body.private_project_access).toBeNull();
  });
});

test.each([
  ['demoted', 'UPDATE membership SET level = 1 WHERE user_id = $1', 403],
  ['removed', 'DELETE FROM membership WHERE user_id = $1', 404],
])('an inviter who is %s while the request waits for a lock can no longer invite', async (_, change, status) => {
  const { sql, transaction } = api.database;
  const inviter = await createActor(api.database, acme.organizationId, 8);
  const target_email = newEmail();
  let asked: ReturnType<typeof invite> | undefined;
  await transaction(async (tx) => {
    await tx.query('SELECT 1 FROM organization WHERE id = $1 FOR NO KEY UPDATE', [acme.organizationId]);
    asked = invite({ target_email, level: 8 }, inviter);
    const waiting = `SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`;
    await eventually(async () => (await sql.query(waiting)).length > 0, { what: 'The request waiting' });
    await tx.query(change, [inviter.userId]);
  });
  expect((await asked)?.status).toBe(status);
  expect(await pendingOf(target_email)).toEqual([]);
});

describe('several invites in one request', () => {
  test('invite-014: creates seven invites in order, and emails each of them', async () => {
    const emails = Array.from({ length: 7 }, newEmail);
    const { status, body } = await bulk(emails.map((target_email) => ({ target_email })));
    // Unlike PostHog, Millrace returns 200, and sends a body only if the request asks for it.
    expect(status).toBe(200);
    expect(body.map((one: { target_email: string }) => one.target_email)).toEqual(emails);
    for (const email of emails) expect(mailsTo(email)).toHaveLength(1);
  });

  test("sends no more emails per hour than the organization's limit, and sends the remaining ones in the next hour", async () => {
    const before = mailing;
    const logger = createLogger('test', 'error');
    const publicUrl = 'https://millrace.test';
    mailing = createInviteMailing({
      sql: api.database.sql,
      logger,
      mailer,
      publicUrl,
      patienceMs,
      mailsPerHour: 3,
    });
    const { A, organizationId } = await createActors(api.database);
    const at = `/api/organizations/${organizationId}/invites/`;
    await waitOutHourEnd(api.database.sql);
    const emails = Array.from({ length: 4 }, newEmail);
    const last = emails[3] ?? '';
    // An invite that is not emailed does not count toward the limit.
    await invite({ target_email: newEmail(), send_email: false }, A, at);
    const { status, body } = await bulk(
      emails.map((target_email) => ({ target_email })),
      A,
      at,
    );
    const attempts = body.map((one: { emailing_attempt_made: boolean }) => one.emailing_attempt_made);
    expect([status, attempts]).toEqual([200, [true, true, true, false]]);
    expect(await invite({ target_email: last }, A, at)).toMatchObject({
      status: 201,
      body: { emailing_attempt_made: false, send_email: true },
    });
    expect(await pendingOf(last)).toMatchObject([{ emailing_attempt_made: false }]);
    expect(emails.map((email) => mailsTo(email).length)).toEqual([1, 1, 1, 0]);
    await api.database.sql.query(
      `UPDATE organization_mail_hour SET hour = hour - interval '1 hour' WHERE organization_id = $1`,
      [organizationId],
    );
    expect((await invite({ target_email: last }, A, at)).body).toMatchObject({ emailing_attempt_made: true });
    expect(mailsTo(last)).toHaveLength(1);
    mailing = before;
  });

  test('creating several invites returns no body without a `Prefer` header', async () => {
    const response = await api.send('POST', `${path}bulk/`, { key: acme.A.key, body: [{ target_email: newEmail() }] });
    expect([response.status, response.body]).toEqual([200, undefined]);
  });

  test('invite-015: returns 400 for more than twenty invites', async () => {
    const before = await countInvites();
    const body = Array.from({ length: 21 }, () => ({ target_email: newEmail() }));
    expect(await bulk(body)).toMatchObject(
      validationError('max_length', null, 'A maximum of 20 invites can be sent in a single request.'),
    );
    expect(await countInvites()).toBe(before);
    expect((await bulk(body.slice(1))).status).toBe(200);
  });

  test.each([
    ['invite-016: no address', { target_email: null }, 'null', '4__target_email', 'This field may not be null.'],
    [
      'an element that is not an object',
      5,
      'invalid_input',
      '4',
      'Invalid data. Expected a dictionary, but got int. Send a JSON object.',
    ],
    [
      'a bad level',
      { target_email: 'a@b.com', level: 3 },
      'invalid_choice',
      '4__level',
      '"3" is not a valid choice. Choose one of: 1, 8, 15.',
    ],
    [
      'bad access',
      { target_email: 'a@b.com', private_project_access: 'x' },
      'invalid_input',
      '4__private_project_access',
      'The field must be a list of dictionaries.',
    ],
  ])(
    '%s: creates and emails no invites, and names the invalid element in the error',
    async (_, wrong, code, attr, detail) => {
      const before = await countInvites();
      const emails = Array.from({ length: 4 }, newEmail);
      const response = await bulk([...emails.map((target_email) => ({ target_email })), wrong]);
      expect(response).toMatchObject(validationError(code, attr, detail));
      expect(await countInvites()).toBe(before);
      for (const email of emails) expect(mailsTo(email)).toEqual([]);
    },
  );

  test('creates no invites if one of them is for a member, and names the element in the error', async () => {
    const before = await countInvites();
    const response = await bulk([{ target_email: newEmail() }, { target_email: acme.M.email }]);
    expect(response).toMatchObject(
      validationError(
        'invalid_input',
        '1__target_email',
        'A user with this email address already belongs to the organization.',
      ),
    );
    expect(await countInvites()).toBe(before);
  });

  test('invite-018: accepts an object as a single invite, because clients generated from the OpenAPI document send one', async () => {
    const email = newEmail();
    expect(await bulk({ target_email: email })).toMatchObject({ status: 200, body: [{ target_email: email }] });
    expect(await bulk({})).toMatchObject(validationError('required', 'target_email', 'This field is required.'));
    expect(await bulk('text')).toMatchObject(
      validationError('invalid_input', null, 'This endpoint needs an array of data for bulk invite creation.'),
    );
  });

  test('invite-019: accepts an empty list of invites', async () => {
    expect(await bulk([])).toMatchObject({ status: 200, body: [] });
  });

  test('keeps the last of two invites for one email address, and sends one email', async () => {
    const email = newEmail();
    const { body } = await bulk([
      { target_email: email, level: 8 },
      { target_email: email.toUpperCase(), level: 1 },
    ]);
    expect(body).toMatchObject([{ level: 1 }]);
    expect(await pendingOf(email)).toHaveLength(1);
    expect(mailServer.mails.filter(({ to }) => to[0]?.toLowerCase() === email)).toHaveLength(1);
  });
});

test('invite-020: any member can withdraw an invite, but only once', async () => {
  const { body } = await invite({ target_email: newEmail() });
  const foreign = await createActors(api.database);
  const elsewhere = `/api/organizations/${foreign.organizationId}/invites/${body.id}/`;
  expect(await api.send('DELETE', elsewhere, { key: foreign.W.key })).toMatchObject(notFound());
  const removed = await api.send('DELETE', `${path}${body.id}/`, { key: acme.M.key });
  expect([removed.status, removed.body]).toEqual([204, undefined]);
  expect(await api.send('DELETE', `${path}${body.id}/`, { key: acme.M.key })).toMatchObject(notFound());
});

describe('earlier invites for the same email address', () => {
  const expire = (id: string) =>
    api.database.prisma.organization_invite.update({
      where: { id },
      data: { created_at: new Date(Date.now() - 3 * 86_400_000 - 1000) },
    });

  test('invite-021: combines earlier invites to the highest levels', async () => {
    const [p1, p2] = [await addEnvironment({ isPrivate: true }), await addEnvironment({ isPrivate: true })];
    const target_email = newEmail();
    await invite({
      target_email,
      level: 8,
      private_project_access: [
        { id: p1, level: 1 },
        { id: p2, level: 8 },
      ],
    });
    const response = await invite({
      target_email,
      level: 1,
      private_project_access: [{ id: p1, level: 8 }],
      combine_pending_invites: true,
    });
    expect(response).toMatchObject({
      status: 201,
      body: {
        level: 8,
        private_project_access: [
          { id: p1, level: 8 },
          { id: p2, level: 8 },
        ],
        combine_pending_invites: true,
      },
    });
    expect(await pendingOf(target_email)).toHaveLength(1);
  });

  test("combines another inviter's invite only if the new inviter could grant its levels too", async () => {
    const [open, shut] = [await addEnvironment({ isPrivate: false }), await addEnvironment({ isPrivate: true })];
    const target_email = newEmail();
    await invite({ target_email, level: 8 });
    expect(await invite({ target_email, combine_pending_invites: true }, acme.M)).toMatchObject(
      permissionDenied('You cannot invite a user with a higher permission level than your own.'),
    );
    expect((await pendingOf(target_email))[0]).toMatchObject({ level: 8 });
    const private_project_access = [open, shut].map((id) => ({ id, level: 1 }));
    await invite({ target_email, private_project_access });
    expect(await invite({ target_email, combine_pending_invites: true }, acme.M)).toMatchObject({ status: 400 });
    const { value } = await createPersonalApiKey(api.database.sql, {
      actor: null,
      userId: acme.A.userId,
      label: 'small',
      scopes: ['organization_member:write'],
    });
    await invite({ target_email, level: 8 });
    const small = { ...acme.A, key: value };
    expect(await invite({ target_email, combine_pending_invites: true }, small)).toMatchObject(needsFullKey);
    expect((await invite({ target_email }, small)).status).toBe(201);
  });

  test('invite-022: accepts a request to combine invites even if there are no earlier invites', async () => {
    const response = await invite({ target_email: newEmail(), combine_pending_invites: true });
    expect(response).toMatchObject({ status: 201, body: { level: 1, private_project_access: null } });
  });

  test('invite-023: ignores earlier invites that have expired', async () => {
    const target_email = newEmail();
    const { body } = await invite({ target_email, level: 8 });
    await expire(body.id);
    expect(await invite({ target_email, combine_pending_invites: true })).toMatchObject({
      status: 201,
      body: { level: 1 },
    });
    expect(await pendingOf(target_email)).toHaveLength(1);
  });

  test('invite-024: ignores earlier invites unless the request combines them', async () => {
    const target_email = newEmail();
    await invite({ target_email, level: 8 });
    expect(await invite({ target_email })).toMatchObject({ status: 201, body: { level: 1 } });
    expect(await pendingOf(target_email)).toHaveLength(1);
  });

  test('invite-039: an invite expires after three days and is still listed', async () => {
    const actors = await createActors(api.database);
    const list = `/api/organizations/${actors.organizationId}/invites/`;
    const { body } = await invite({ target_email: newEmail() }, actors.A, list);
    await expire(body.id);
    expect((await api.get(list, actors.M.key)).body).toMatchObject({
      count: 1,
      results: [{ id: body.id, is_expired: true }],
    });
  });
});

describe('the level of an invite', () => {
  const tooHigh = permissionDenied('You cannot invite a user with a higher permission level than your own.');

  test("invite-025, invite-026: returns 403 for a level higher than the inviter's own", async () => {
    const before = await countInvites();
    expect(await invite({ target_email: newEmail(), level: 8 }, acme.M)).toMatchObject(tooHigh);
    expect(await invite({ target_email: newEmail(), level: 15 }, acme.A)).toMatchObject(tooHigh);
    expect(await countInvites()).toBe(before);
  });

  test("invite-027: accepts a level up to the inviter's own", async () => {
    for (const [actor, level] of [
      [acme.M, 1],
      [acme.A, 8],
      [acme.W, 15],
    ] as const) {
      expect(await invite({ target_email: newEmail(), level }, actor)).toMatchObject({ status: 201, body: { level } });
    }
  });

  test('invite-028, invite-029: creates no invites in bulk if one of them has too high a level', async () => {
    const before = await countInvites();
    const some = (...levels: number[]) => levels.map((level) => ({ target_email: newEmail(), level }));
    expect(await bulk(some(1, 8, 1), acme.M)).toMatchObject(tooHigh);
    expect(await countInvites()).toBe(before);
    expect((await bulk(some(1, 1), acme.M)).body).toHaveLength(2);
  });

  test.each([
    [2, 'invalid_choice', '"2" is not a valid choice. Choose one of: 1, 8, 15.'],
    ['admin', 'invalid_choice', '"admin" is not a valid choice. Choose one of: 1, 8, 15.'],
    [null, 'null', 'This field may not be null.'],
    // Unlike PostHog's error, this one does not contain Python's `True`.
    [true, 'invalid_choice', '"true" is not a valid choice. Choose one of: 1, 8, 15.'],
  ])('invite-035: returns 400 for the level %j', async (level, code, detail) => {
    expect(await invite({ target_email: newEmail(), level })).toMatchObject(validationError(code, 'level', detail));
  });

  test('invite-036: accepts a level written as a string', async () => {
    expect(await invite({ target_email: newEmail(), level: '8' })).toMatchObject({ status: 201, body: { level: 8 } });
  });
});

test('invite-030 to invite-032: ignores the field `members_can_invite`, which later PostHog versions accept in invites', async () => {
  expect((await invite({ target_email: newEmail(), members_can_invite: false }, acme.M)).status).toBe(201);
});

test("invite-033: returns 400 for a member's email address, in any case", async () => {
  const expected = validationError(
    'invalid_input',
    null,
    'A user with this email address already belongs to the organization.',
  );
  for (const target_email of [acme.M.email, acme.M.email.toUpperCase()]) {
    expect(await invite({ target_email })).toMatchObject(expected);
  }
});

test("invite-034: converts the email address's domain to lower case", async () => {
  const local = randomUUID().toUpperCase();
  expect(await invite({ target_email: ` ${local}@Guest.Example ` })).toMatchObject({
    status: 201,
    body: { target_email: `${local}@guest.example` },
  });
});

test.each([
  ['invite-003', {}, validationError('required', 'target_email', 'This field is required.')],
  [
    'invite-037',
    { target_email: 'foo' },
    validationError('invalid_input', 'target_email', 'Enter a valid email address.'),
  ],
  [
    'invite-037',
    { target_email: 'a@b.com', first_name: 'x'.repeat(31) },
    validationError('max_length', 'first_name', 'Ensure this field has no more than 30 characters.'),
  ],
  [
    'null',
    { target_email: 'a@b.com', first_name: null },
    validationError('null', 'first_name', 'This field may not be null.'),
  ],
  [
    'too long',
    { target_email: `${'a'.repeat(250)}@b.com` },
    validationError('max_length', 'target_email', 'Ensure this field has no more than 254 characters.'),
  ],
  [
    'two',
    { target_email: 'a@b.com, c@d.com' },
    validationError('invalid_input', 'target_email', 'Enter a valid email address.'),
  ],
  [
    'G14: the first wrong field',
    { level: 3, target_email: 'foo' },
    validationError('invalid_input', 'target_email', 'Enter a valid email address.'),
  ],
])('%s: returns 400 for an invite with %j', async (_, body, expected) => {
  expect(await invite(body)).toMatchObject(expected);
});

describe('invites whose email cannot be sent', () => {
  afterEach(() => proxy.pass());

  test('records the attempt to send the email, and the error, when the mail server rejects the mailbox', async () => {
    const email = newEmail();
    mailServer.refuse(email);
    const failed = { target_email: email, emailing_attempt_made: true, mail_error: '550' };
    expect(await invite({ target_email: email })).toMatchObject({ status: 201, body: failed });
    expect((await api.get(path, acme.A.key)).body.results[0]).toMatchObject(failed);
  });

  test('creates the invite and records a failed attempt when the mail server is unreachable', async () => {
    await proxy.refuse();
    expect(await invite({ target_email: newEmail() })).toMatchObject({
      status: 201,
      body: { emailing_attempt_made: true, mail_error: 'unreachable' },
    });
  });

  test('does not wait for an unresponsive mail server, and records the attempt to send the email later', async () => {
    proxy.cut();
    proxy.blackHole();
    const email = newEmail();
    const before = mailing;
    mailing = waitingForMails(700);
    const { status, body } = await invite({ target_email: email });
    mailing = before;
    expect([status, body.emailing_attempt_made]).toEqual([201, false]);
    await eventually(async () => (await pendingOf(email))[0]?.emailing_attempt_made === true, {
      what: 'The note of the attempt',
    });
  });

  test.each([
    ['a mail server', {}],
    ['a base URL for the links', { mailer: true }],
  ])(
    'does not try to send an email without %s, and reports this in the response',
    async (_, has: { mailer?: boolean }) => {
      const before = mailing;
      mailing = createInviteMailing({
        sql: api.database.sql,
        logger: createLogger('test', 'error'),
        mailer: has.mailer ? mailer : undefined,
        patienceMs: 100,
        mailsPerHour: 0,
      });
      const email = newEmail();
      const response = await invite({ target_email: email });
      mailing = before;
      expect(response).toMatchObject({ status: 201, body: { emailing_attempt_made: false, send_email: true } });
      expect(mailsTo(email)).toEqual([]);
    },
  );
});
