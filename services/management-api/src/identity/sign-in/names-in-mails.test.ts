import { randomUUID } from 'node:crypto';
import {
  createOneTimeLink,
  createUser,
  findUser,
  type ProviderProfile,
  provisionUser,
  signInThroughProvider,
} from '@millrace/accounts';
import { createLogger, createMetrics } from '@millrace/runtime';
import { createMailer, type Mailer } from '@millrace/runtime/mail';
import { createTestTenant, type MailServer, startMailServer, type TestTenant } from '@millrace/testing';
import { newInviteSecret } from '../../testing/organization-actors.ts';
import { signInAs, startTestApi, type TestApi } from '../../testing/start-test-api.ts';
import { createInviteMailing, type InviteMailing } from '../invites/mailing.ts';

/**
 * Tests the names in emails. Anyone can make Millrace send an email to any address, so names that users have entered
 * must not look like a message from Millrace.
 */
let mailServer: MailServer;
let mailer: Mailer;
let api: TestApi;
let tenant: TestTenant;
let email: string;
let session: string;
let invites: string;
beforeAll(async () => {
  mailServer = await startMailServer();
  const from = { url: mailServer.url, from: 'Millrace <no-reply@millrace.test>', timeoutMs: 60_000 };
  const logger = createLogger('test', 'error');
  mailer = createMailer(from, { logger, metrics: createMetrics({ withProcessMetrics: false }) });
  let mailing: InviteMailing | undefined;
  const inviteMailing: InviteMailing = {
    send: async (...args) => (await mailing?.send(...args)) ?? new Map(),
    notifyJoined: (...args) => mailing?.notifyJoined(...args),
    drain: async () => mailing?.drain(),
  };
  api = await startTestApi({ inviteMailing }, { mailer });
  const { sql } = api.database;
  const publicUrl = 'https://analytics.example';
  mailing = createInviteMailing({ sql, logger, mailer, publicUrl, patienceMs: 60_000, mailsPerHour: 0 });
});
beforeEach(async () => {
  tenant = await createTestTenant(api.database);
  email = (await findUser(api.database.sql, { id: tenant.userId }))?.email ?? '';
  session = await signInAs(api, tenant.userId);
  invites = `/api/organizations/${tenant.organizationId}/invites/`;
});
afterAll(async () => {
  await api.stop();
  await mailer.stop();
  await mailServer.stop();
});

const send = (method: 'POST' | 'PATCH', path: string, body: object, key = session) =>
  api.send(method, path, { key, body });
const mailsTo = (address: string) =>
  mailServer.mails
    .filter(({ to }) => to.includes(address))
    .map(({ headers, body }) => `${headers.subject}\n${body.replaceAll(/=\r?\n/g, '')}`);
async function invite(fields: object = {}) {
  const target_email = `guest-${tenant.userId}@example.com`;
  const { status, body } = await send('POST', invites, { target_email, ...fields });
  return { status, body, id: String(body.id), target_email };
}
async function invitedPath(): Promise<{ path: string; token: string }> {
  const { id } = await invite({ send_email: false });
  const { token, hash } = newInviteSecret();
  await api.database.prisma.organization_invite.update({ where: { id }, data: { token_hash: hash } });
  return { path: `/api/signup/${id}/`, token };
}

type Named = [field: string, write: (name: string) => Promise<{ status: number; body: unknown }>, attr?: string];
const writes: Named[] = [
  ['first_name of a user', (first_name) => send('PATCH', '/api/users/@me/', { first_name }), 'first_name'],
  ['last_name of a user', (last_name) => send('PATCH', '/api/users/@me/', { last_name }), 'last_name'],
  [
    'first_name of a new user',
    async (first_name) => {
      const { path, token } = await invitedPath();
      return api.send('POST', path, { body: { token, first_name } });
    },
    'first_name',
  ],
  ['first_name of an invite', (first_name) => invite({ first_name }), 'first_name'],
  [
    'organization_name of a first owner',
    async (organization_name) => {
      const { secret } = await api.database.transaction((tx) =>
        createOneTimeLink(tx, { kind: 'first_owner', userId: null }),
      );
      const password = 'correct horse battery staple';
      const body = { secret, email: `owner-${tenant.userId}@example.com`, password, organization_name };
      return api.send('POST', '/api/console_link/', { body });
    },
    'organization_name',
  ],
  ['name of an organization', (name) => send('POST', '/api/organizations/', { name }), 'name'],
  [
    'new name of an organization',
    (name) => send('PATCH', `/api/organizations/${tenant.organizationId}/`, { name }),
    'name',
  ],
  ['name of a project', (name) => send('PATCH', `/api/projects/${tenant.projectId}/`, { name }), 'name'],
  [
    'name of a new project',
    (name) => send('POST', `/api/organizations/${tenant.organizationId}/projects/`, { name }),
    'name',
  ],
];
it.each(writes)('rejects a %s with a line break or a link', async (_field, write, attr) => {
  for (const name of ['Ada\nYour account is locked', 'Ada\u2028Hello', 'Go to https://evil.example']) {
    expect(await write(name)).toMatchObject({ status: 400, body: { attr, code: 'invalid_input' } });
  }
});

it('removes line breaks and links from names that identity providers send', async () => {
  const [domainId, name] = [randomUUID(), `names-${tenant.userId}.example.com`];
  await api.database.sql.query(
    `INSERT INTO organization_domain (id, organization_id, domain, verification_challenge, verified_at, jit_provisioning_enabled)
     VALUES ($1, $2, $3, 'x', now(), true)`,
    [domainId, tenant.organizationId, name],
  );
  const [firstName, lastName, now] = ['Go to\nhttps://evil.example', 'x', new Date()];
  const scim = { id: domainId, organizationId: tenant.organizationId, name, mayChangeOwners: false };
  const provisioned = { userName: `scim@${name}`, firstName, lastName, externalId: null, isActive: true, now };
  const arrival: ProviderProfile = {
    ...{
      kind: 'google-oauth2',
      domainId: null,
      issuer: 'https://accounts.google.com',
      subject: name,
      firstName,
      lastName,
    },
    ...{ email: `google@${name}`, isEmailVerified: true },
  };
  await api.database.transaction(async (tx) => {
    await provisionUser(tx, scim, provisioned);
    const installedProviders = new Set(['google-oauth2'] as const);
    expect(await signInThroughProvider(tx, arrival, { now, installedProviders })).toMatchObject({
      outcome: 'signed_in',
    });
  });
  for (const email of [`scim@${name}`, `google@${name}`]) {
    expect((await findUser(api.database.sql, { email }))?.first_name).toBe('Go to https evil.example');
  }
});

it("rejects a link in an invite's message, and quotes the message in the email", async () => {
  const refused = await invite({ message: 'Hello\nhttps://evil.example' });
  expect(refused).toMatchObject({ status: 400, body: { attr: 'message', code: 'invalid_input' } });
  const { target_email } = await invite({ message: 'Hello\r\nYour account is locked.' });
  expect(mailsTo(target_email)[0]?.replaceAll('\r', '')).toContain('> Hello\n> Your account is locked.');
});

it("omits users' names from emails to an address that anyone could have entered", async () => {
  await send('PATCH', '/api/users/@me/', { first_name: 'Mallory', last_name: 'Mallory' });
  const wanted = `victim-${tenant.userId}@example.com`;
  expect((await send('PATCH', '/api/users/@me/', { email: wanted })).status).toBe(200);
  await api.send('POST', '/api/reset/', { body: { email } });
  const { target_email } = await invite({ first_name: 'Mallory' });
  await api.mailsSent();
  const mails = [wanted, email, target_email].map(mailsTo);
  expect(mails.map((all) => all.length)).toEqual([1, 2, 1]);
  expect(mails.join()).not.toContain('Mallory');
});

it('an invite email names the inviter only by a verified email address', async () => {
  const { target_email } = await invite();
  await api.database.sql.query('UPDATE "user" SET is_email_verified = true WHERE id = $1', [tenant.userId]);
  await invite();
  const mails = mailServer.mails.filter(({ to }) => to.includes(target_email));
  expect(mails.map(({ headers }) => headers['reply-to'])).toEqual([undefined, email]);
  const [before, after] = mailsTo(target_email);
  expect(before).toContain('A member of ');
  expect(before).not.toContain(email);
  expect(after).toContain(`${email} invited you to join `);
});

it('describes an unknown browser by its type, because a client can send any user agent', async () => {
  const user = await createUser(api.database.sql, { email: `browses-${tenant.userId}@example.com` });
  await signInAs(api, user.id);
  const link = { kind: 'sign_in', userId: user.id } as const;
  const { secret } = await api.database.transaction((tx) => createOneTimeLink(tx, link));
  const headers = { 'user-agent': 'Firefox/140 https://evil.example' };
  expect((await api.send('POST', '/api/console_link/', { body: { secret }, headers })).status).toBe(200);
  await api.mailsSent();
  const [mail] = mailsTo(user.email);
  expect(mail).toContain('Firefox');
  expect(mail).not.toContain('evil');
});
