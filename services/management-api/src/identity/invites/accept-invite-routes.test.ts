import { randomUUID } from 'node:crypto';
import { createPersonalApiKey, createUser, type NewPersonalApiKey } from '@millrace/accounts';
import { createLogger } from '@millrace/runtime';
import type { Mail, Mailer } from '@millrace/runtime/mail';
import { createTestEnvironment, patienceMs } from '@millrace/testing';
import { notFound, validationError } from '../../testing/expected-errors.ts';
import { createActors, type OrganizationActors } from '../../testing/organization-actors.ts';
import { signInAs, startTestApi, type TestApi } from '../../testing/start-test-api.ts';
import { createInviteMailing, type InviteMailing } from './mailing.ts';

/** Tests how users accept invites (docs/api/invites.md). */
let api: TestApi;
let acme: OrganizationActors;
let mailing: InviteMailing;
const sent: Mail[] = [];
beforeAll(async () => {
  const mailer: Mailer = {
    send: async (mail) => {
      sent.push(mail);
      return { result: 'accepted' };
    },
    stop: async () => {},
  };
  api = await startTestApi({
    inviteMailing: {
      send: (...args) => mailing.send(...args),
      notifyJoined: (...args) => mailing.notifyJoined(...args),
      drain: async () => {},
    },
  });
  const logger = createLogger('test', 'error');
  const { sql } = api.database;
  mailing = createInviteMailing({ sql, logger, mailer, publicUrl: api.url, patienceMs, mailsPerHour: 0 });
  acme = await createActors(api.database);
});
afterAll(() => api.stop());

const newEmail = () => `${randomUUID()}@guest.example`;

async function invite(body: Record<string, unknown> = {}, key = acme.W.key) {
  const target_email = newEmail();
  const path = `/api/organizations/${acme.organizationId}/invites/`;
  const response = await api.send('POST', path, { key, body: { target_email, ...body } });
  expect(response.status).toBe(201);
  return {
    id: response.body.id as string,
    email: response.body.target_email as string,
    token: mailedToken(),
  };
}
const mailedToken = () => /"token": "([\w-]{43})"/.exec(sent.at(-1)?.text ?? '')?.[1] ?? '';
const look = (id: string, token: string) => api.send('POST', `/api/signup/${id}/look/`, { body: { token } });
const signUp = (id: string, body: unknown) => api.send('POST', `/api/signup/${id}/`, { body });
const accept = (id: string, key: string, token?: string) =>
  api.send('POST', `/api/invites/${id}/accept/`, { key, body: { ...(token !== undefined && { token }) } });
async function account(
  email: string,
  { isEmailVerified = true, ...options }: { isEmailVerified?: boolean; scopedOrganizations?: string[] } = {},
) {
  const user = await createUser(api.database.sql, { email, isEmailVerified });
  const { value } = await createPersonalApiKey(api.database.sql, {
    actor: null,
    userId: user.id,
    label: 'key',
    scopes: ['*'],
    ...options,
  });
  return { user, key: value };
}
const expire = (id: string) =>
  api.database.prisma.organization_invite.update({
    where: { id },
    data: { created_at: new Date(Date.now() - 3 * 86_400_000 - 1000) },
  });

test('shows an invite to a client with the emailed secret, without accepting it', async () => {
  const { id, email, token } = await invite({ first_name: 'Grace', level: 8 });
  const { status, body } = await look(id, token);
  expect([status, body]).toEqual([
    200,
    {
      id,
      target_email: email,
      first_name: 'Grace',
      organization_name: 'Acme',
      level: 8,
      expires_at: expect.anything(),
      is_expired: false,
      has_account: false,
    },
  ]);
  expect((await look(id, token)).status).toBe(200);
});

it("keeps an invite's secret out of query strings, because access logs would contain it", async () => {
  const { id, token } = await invite();
  expect(sent.at(-1)?.text).not.toContain('?token=');
  expect((await api.get(`/api/signup/${id}/?token=${token}`)).status).toBe(405);
});

test("checks an invite's secret before locking or writing any record", async () => {
  const { id } = await invite();
  await api.database.transaction(async (tx) => {
    await tx.query('SELECT 1 FROM organization WHERE id = $1 FOR NO KEY UPDATE', [acme.organizationId]);
    await tx.query('SELECT 1 FROM organization_invite WHERE id = $1 FOR UPDATE', [id]);
    expect(await signUp(id, { token: 'x' })).toMatchObject(notFound());
    expect(await accept(id, acme.off.personalApiKey)).toMatchObject(notFound());
    expect((await look(id, 'x')).status).toBe(404);
  });
});

test('returns 404 for an invite without its secret', async () => {
  const { id } = await invite();
  const other = await invite();
  for (const token of ['x', other.token, id]) expect(await look(id, token)).toMatchObject(notFound());
  expect(await api.send('POST', `/api/signup/${id}/look/`, { body: {} })).toMatchObject({
    status: 400,
    body: { code: 'required', attr: 'token' },
  });
  expect(await signUp(id, { token: 'x' })).toMatchObject(notFound());
  expect(await signUp(id, {})).toMatchObject(validationError('required', 'token', 'This field is required.'));
  expect(await signUp(randomUUID(), { token: 'x' })).toMatchObject(notFound());
});

describe('the first API key of a user who was invited with a limited key', () => {
  const powersOf = async (key: string) => {
    const { body } = await api.get('/api/personal_api_keys/@current/', key);
    return [body.scopes, body.scoped_organizations, body.scoped_teams, body.expires_at];
  };
  const joinedBy = async (options: Partial<NewPersonalApiKey>, level = 1) => {
    const { prisma } = api.database;
    const { key, value } = await createPersonalApiKey(api.database.sql, {
      actor: null,
      ...{ userId: acme.W.userId, label: 'inviting', scopes: ['*' as const], ...options },
    });
    const { id, token } = await invite({ level }, value);
    await prisma.personal_api_key.delete({ where: { id: key.id } });
    return signUp(id, { token });
  };

  test("the invited user's key has the scopes of the key that created the invite", async () => {
    const { body } = await joinedBy({ scopes: ['organization_member:write', 'user:read'] });
    expect(await powersOf(body.personal_api_key)).toEqual([['organization_member:write', 'user:read'], [], [], null]);
    expect((await api.get('/api/projects/', body.personal_api_key)).status).toBe(403);
  });

  test("the invited user's key is limited to the inviting key's organizations, and cannot create an organization", async () => {
    const { body } = await joinedBy({ scopedOrganizations: [acme.organizationId] }, 8);
    expect(await powersOf(body.personal_api_key)).toEqual([['*'], [acme.organizationId], [], null]);
    const own = await api.send('POST', '/api/organizations/', { key: body.personal_api_key, body: { name: 'Own' } });
    expect(own.status).toBe(403);
  });

  test("the invited user's key and the invite expire at the same time as the inviter's key", async () => {
    const expiresAt = new Date(Date.now() + 3_600_000);
    const { body } = await joinedBy({ expiresAt });
    const [, , , end] = await powersOf(body.personal_api_key);
    expect(new Date(end)).toEqual(expiresAt);
    const { id, token } = await invite();
    await api.database.prisma.organization_invite.update({
      where: { id },
      data: { key_expires_at: new Date(Date.now() - 1000) },
    });
    expect((await look(id, token)).body.is_expired).toBe(true);
    expect(await signUp(id, { token })).toMatchObject({ status: 400, body: { code: 'expired' } });
  });
});

test('signing up with an invite creates an account, a membership and a key, and works only once', async () => {
  const { id, email, token } = await invite({ first_name: 'Grace', level: 8 });
  const { status, body } = await signUp(id, { token, last_name: 'Hopper' });
  expect([status, body]).toMatchObject([
    201,
    {
      user: { email: email.toLowerCase(), first_name: 'Grace', last_name: 'Hopper', is_email_verified: true },
      organization_id: acme.organizationId,
      organization_name: 'Acme',
      level: 8,
    },
  ]);
  const me = (await api.get('/api/users/@me/', body.personal_api_key)).body;
  expect(me).toMatchObject({ email, organization: { id: acme.organizationId, membership_level: 8 } });
  const { prisma } = api.database;
  const records = await prisma.activity_log.findMany({ where: { user_id: body.user.id }, orderBy: { id: 'asc' } });
  expect(records.map(({ scope, activity }) => `${scope} ${activity}`).sort()).toEqual([
    ...['OrganizationMembership created', 'PersonalAPIKey created', 'User created'],
  ]);
  expect(JSON.stringify(records)).not.toContain(body.personal_api_key);
  expect(await signUp(id, { token })).toMatchObject(notFound());
  expect(await prisma.organization_invite.count({ where: { id } })).toBe(0);
});

test('only one of several concurrent sign-ups with the same invite succeeds', async () => {
  const { id, token } = await invite();
  const responses = await Promise.all([1, 2, 3].map(() => signUp(id, { token })));
  expect(responses.map(({ status }) => status).sort()).toEqual([201, 404, 404]);
});

test('a user with an account accepts the invite with a key, even if the email address is in a different case', async () => {
  const { id, email, token } = await invite({ target_email: newEmail().toUpperCase() });
  const { key } = await account(email);
  expect((await look(id, token)).body.has_account).toBe(true);
  expect((await signUp(id, { token })).body).toMatchObject({ code: 'account_exists' });
  expect(await accept(id, key)).toMatchObject({
    status: 201,
    body: { organization_id: acme.organizationId, level: 1 },
  });
  expect((await api.get('/api/organizations/@current/', key)).body.id).toBe(acme.organizationId);
  expect(await accept(id, key)).toMatchObject(notFound());
});

test('returns 404 for an invite for another user', async () => {
  const { id } = await invite();
  const { key } = await account(newEmail());
  expect(await accept(id, key)).toMatchObject(notFound());
  expect(await accept(id, acme.W.key)).toMatchObject(notFound());
  expect((await api.send('POST', `/api/invites/${id}/accept/`, {})).status).toBe(401);
});

test('returns 403 if the key that accepts an invite is limited to other organizations', async () => {
  const { id, email } = await invite();
  const { user } = await account(email);
  const second = await createPersonalApiKey(api.database.sql, {
    actor: null,
    userId: user.id,
    label: 'small',
    scopes: ['user:write'],
    scopedEnvironments: [],
  });
  await api.database.prisma.personal_api_key.update({
    where: { id: second.key.id },
    data: { scoped_organizations: [randomUUID()] },
  });
  expect((await accept(id, second.value)).status).toBe(403);
});

test('shows that an invite has expired, and does not accept it', async () => {
  const expected = validationError('expired', null, 'This invite has expired. Please ask your admin for a new one.');
  const { id, email, token } = await invite();
  await expire(id);
  expect((await look(id, token)).body.is_expired).toBe(true);
  expect(await signUp(id, { token })).toMatchObject(expected);
  expect(await api.database.prisma.user.count({ where: { email } })).toBe(0);
  const { key } = await account(email);
  expect(await accept(id, key)).toMatchObject(expected);
});

test('returns 400 if the user has already become a member without the invite', async () => {
  const { id, email } = await invite();
  const { key, user } = await account(email);
  await api.database.prisma.membership.create({
    data: { id: randomUUID(), organization_id: acme.organizationId, user_id: user.id, level: 1 },
  });
  expect(await accept(id, key)).toMatchObject(
    validationError('user_already_member', null, 'You already are a member of this organization.'),
  );
});

describe('console-033: an invite secret that is shown to the inviter', () => {
  /** Creates an invite through a session. @returns the emailed secret and the secret in the response */
  async function inviteShown(body: Record<string, unknown> = {}) {
    const key = await signInAs(api, acme.W.userId);
    const path = `/api/organizations/${acme.organizationId}/invites/`;
    const response = await api.send('POST', path, { key, body: { target_email: newEmail(), ...body } });
    expect(response.status).toBe(201);
    const mailed = mailedToken();
    const { id, token, target_email: email } = response.body as Record<'id' | 'token' | 'target_email', string>;
    return { id, email, shown: token, mailed, path, key };
  }

  test('returns the secret only when the invite is created, and only to sessions', async () => {
    const { shown, mailed, email, path, key } = await inviteShown();
    expect(shown).toMatch(/^[\w-]{43}$/);
    expect(shown).not.toBe(mailed);
    expect(sent.at(-1)?.text).not.toContain(shown);
    const byKey = await api.send('POST', path, { key: acme.W.key, body: { target_email: newEmail() } });
    expect([byKey.status, byKey.body.token]).toEqual([201, undefined]);
    for (const reader of [key, acme.W.key]) {
      const list = await api.get(path, reader);
      expect(JSON.stringify(list.body)).not.toContain(shown);
      expect(JSON.stringify(list.body)).toContain(email);
      expect(JSON.stringify(list.body)).not.toMatch(/token/);
    }
    const bulk = await api.send('POST', `${path}bulk/`, {
      key,
      body: [{ target_email: newEmail() }, { target_email: newEmail() }],
      headers: { prefer: 'return=representation' },
    });
    const tokens = bulk.body.map(({ token }: { token: string }) => token);
    expect(new Set(tokens).size).toBe(2);
    const rows = await api.database.sql.query('SELECT i::text AS row FROM organization_invite i');
    const records = await api.database.sql.query('SELECT a.detail::text AS row FROM activity_log a');
    for (const secret of [shown, mailed, ...tokens]) expect(JSON.stringify([rows, records])).not.toContain(secret);
  });

  test('the shown secret creates an account with an unverified email address, unlike the emailed secret', async () => {
    const first = await inviteShown();
    expect((await look(first.id, first.shown)).body.target_email).toBe(first.email);
    const joined = await signUp(first.id, { token: first.shown });
    expect(joined).toMatchObject({ status: 201, body: { user: { is_email_verified: false } } });
    const second = await inviteShown();
    expect(await signUp(second.id, { token: second.mailed })).toMatchObject({
      status: 201,
      body: { user: { is_email_verified: true } },
    });
  });

  it('the shown secret does not reveal whether the email address has an account, unlike the emailed secret', async () => {
    const email = newEmail();
    await account(email);
    const { id, shown, mailed } = await inviteShown({ target_email: email });
    expect((await look(id, shown)).body.has_account).toBeNull();
    expect((await look(id, mailed)).body.has_account).toBe(true);
  });

  test('the shown secret becomes invalid when the invite is sent again', async () => {
    const before = await inviteShown();
    const after = await inviteShown({ target_email: before.email });
    for (const token of [before.shown, before.mailed]) {
      expect(await signUp(before.id, { token })).toMatchObject(notFound());
      expect(await signUp(after.id, { token })).toMatchObject(notFound());
    }
    expect((await signUp(after.id, { token: after.shown })).status).toBe(201);
  });

  test('the shown secret cannot add an account with an unverified email address to another organization', async () => {
    const own = await inviteShown();
    const { body: made } = await signUp(own.id, { token: own.shown });
    const before = made.personal_api_key as string;
    const oldSession = await signInAs(api, made.user.id);
    const other = await createActors(api.database);
    const path = `/api/organizations/${other.organizationId}/invites/`;
    const { body: elsewhere } = await api.send('POST', path, { key: other.A.key, body: { target_email: own.email } });
    const mailed = mailedToken();
    const session = await signInAs(api, made.user.id);
    for (const token of [undefined, '', 'x', own.shown]) {
      const refused = await accept(elsewhere.id, session, token);
      expect(refused).toMatchObject({ status: 400, body: { attr: 'token', code: 'required' } });
    }
    expect(await accept(elsewhere.id, session, mailed)).toMatchObject({ status: 201 });
    const organizationsOf = async (key: string) => {
      const { status, body } = await api.get('/api/users/@me/', key);
      return status === 200 ? body.organizations.map(({ id }: { id: string }) => id).sort() : status;
    };
    expect(await organizationsOf(session)).toEqual([acme.organizationId, other.organizationId].sort());
    expect(await organizationsOf(before)).toEqual([acme.organizationId]);
    expect(await organizationsOf(oldSession)).toBe(401);
    expect((await api.get('/api/users/@me/', session)).body.is_email_verified).toBe(true);
  });

  test('an account without organizations keeps only the key with which it accepts an invite with the shown secret', async () => {
    const { id, email, shown } = await inviteShown();
    const { user, key } = await account(email, { isEmailVerified: false });
    const spare = await createPersonalApiKey(api.database.sql, {
      ...{ actor: null, userId: user.id, label: 'spare', scopes: ['*' as const] },
    });
    expect(await accept(id, key, shown)).toMatchObject({ status: 201 });
    expect((await api.get('/api/organizations/@current/', key)).body.id).toBe(acme.organizationId);
    expect((await api.get('/api/users/@me/', key)).body.is_email_verified).toBe(false);
    expect((await api.get('/api/users/@me/', spare.value)).status).toBe(401);
  });
});

test('replacing an invite makes its earlier secret invalid', async () => {
  const first = await invite();
  await invite({ target_email: first.email });
  expect(await signUp(first.id, { token: first.token })).toMatchObject(notFound());
});

test("accepting an invite keeps the user's invites to other organizations, unlike in PostHog", async () => {
  const { id, email, token } = await invite();
  const other = await createActors(api.database);
  const path = `/api/organizations/${other.organizationId}/invites/`;
  const elsewhere = await api.send('POST', path, { key: other.A.key, body: { target_email: email } });
  const { body } = await signUp(id, { token });
  expect(await accept(elsewhere.body.id, body.personal_api_key)).toMatchObject({
    status: 201,
    body: { organization_id: other.organizationId },
  });
});

test('emails administrators and owners when a user joins, unless the organization has turned these emails off', async () => {
  const sentMails = async () => {
    const { id, email, token } = await invite({ first_name: 'Grace' });
    sent.length = 0;
    expect((await signUp(id, { token })).status).toBe(201);
    await mailing.drain();
    return sent.filter(({ subject, text }) => subject === `${email} joined Acme on Millrace` && text.includes(email));
  };
  const recipients = (await sentMails()).map(({ to }) => to);
  expect(recipients).toEqual(expect.arrayContaining([acme.A.email, acme.W.email]));
  expect(recipients).not.toContain(acme.M.email);
  await api.database.prisma.organization.update({
    where: { id: acme.organizationId },
    data: { is_member_join_email_enabled: false },
  });
  expect(await sentMails()).toEqual([]);
});

test('grants the private project access that the invite contains', async () => {
  const { prisma } = api.database;
  const hidden = await createTestEnvironment(api.database, { projectId: acme.projectId, name: 'Hidden' });
  await prisma.environment.update({ where: { id: hidden.id }, data: { access_control: true } });
  const gone = await createTestEnvironment(api.database, { projectId: acme.projectId, name: 'Gone' });
  const grants = [
    { id: hidden.id, level: 1 },
    { id: gone.id, level: 8 },
  ];
  const invited = await invite({ private_project_access: grants });
  const without = await invite();
  await prisma.environment.delete({ where: { id: gone.id } });
  const namesSeenBy = async ({ id, token }: { id: string; token: string }) => {
    const { body } = await signUp(id, { token });
    const { teams } = (await api.get('/api/organizations/@current/', body.personal_api_key)).body;
    return teams.map(({ name }: { name: string }) => name);
  };
  expect(await namesSeenBy(invited)).toContain('Hidden');
  expect(await namesSeenBy(without)).not.toContain('Hidden');
});
