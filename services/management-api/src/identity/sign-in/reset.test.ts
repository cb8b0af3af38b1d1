import { randomUUID } from 'node:crypto';
import { createOneTimeLink, createUser, findSignInUser, setUserActive } from '@millrace/accounts';
import { createLogger, createMetrics } from '@millrace/runtime';
import { createMailer, type Mailer } from '@millrace/runtime/mail';
import { createTestTenant, eventually, type MailServer, startMailServer, type TestTenant } from '@millrace/testing';
import { newInviteSecret } from '../../testing/organization-actors.ts';
import { noLimits, sessionKey, signInAs, startTestApi, type TestApi } from '../../testing/start-test-api.ts';

/** Tests how users set a new password with an emailed link, or their first password with an invite. */
let mailServer: MailServer;
let mailer: Mailer;
let api: TestApi;
let tenant: TestTenant;
let user: { uuid: string; email: string };
const password = 'four unrelated words here';
beforeAll(async () => {
  mailServer = await startMailServer();
  const logger = createLogger('test', 'error');
  const metrics = createMetrics({ withProcessMetrics: false });
  mailer = createMailer(
    { url: mailServer.url, from: 'Millrace <no-reply@millrace.test>', timeoutMs: 60_000 },
    { logger, metrics },
  );
  api = await startTestApi(
    {
      limits: { ...noLimits, resetsPerDay: 6 },
      trustedProxies: 1,
    },
    { mailer },
  );
});
beforeEach(async () => {
  tenant = await createTestTenant(api.database);
  const found = await findSignInUser(api.database.sql, { id: tenant.userId });
  user = { uuid: found?.uuid ?? '', email: found?.email ?? '' };
});
afterAll(async () => {
  await api.stop();
  await mailer.stop();
  await mailServer.stop();
});

let clients = 0;
const post = (path: string, body: object, headers: Record<string, string> = {}) =>
  api.send('POST', path, { body, headers: { 'x-forwarded-for': `192.0.2.${clients}`, ...headers } });
beforeEach(() => {
  clients += 1;
});

const mailsTo = (address: string) => mailServer.mails.filter(({ to }) => to.includes(address));

async function askForLink(): Promise<{ token: string; body: string }> {
  const count = mailsTo(user.email).length;
  expect((await post('/api/reset/', { email: user.email })).status).toBe(204);
  await eventually(() => mailsTo(user.email).length > count, { what: 'the mail of a new password' });
  const body = mailsTo(user.email).at(-1)?.body.replaceAll('=\r\n', '').replaceAll('=\n', '') ?? '';
  const [, token = ''] = /#([\w-]{43})/.exec(body) ?? [];
  return { token, body };
}
const invalid = { status: 400, body: { type: 'validation_error', code: 'invalid_token', attr: 'token' } };
const look = (token: string, uuid = user.uuid) => api.send('POST', `/api/reset/${uuid}/look/`, { body: { token } });
const reset = (token: string, uuid = user.uuid) => post(`/api/reset/${uuid}/`, { token, password });

describe('resetting a forgotten password', () => {
  test('signin-031: returns the same response for every email address, and sends an email only to active accounts', async () => {
    const shutOut = await createUser(api.database.sql, { email: `${randomUUID()}@example.com` });
    await setUserActive(api.database.sql, shutOut.id, false);
    const unknown = `${randomUUID()}@example.com`;
    for (const email of [user.email, unknown, shutOut.email, 'no address at all']) {
      const response = await post('/api/reset/', { email });
      expect([response.status, response.body]).toEqual([204, undefined]);
    }
    await api.mailsSent();
    expect([user.email, unknown, shutOut.email].map((email) => mailsTo(email).length)).toEqual([1, 0, 0]);
  });

  test('signin-032: a reset link works only once and only for its user, and viewing it does not invalidate it', async () => {
    const { token } = await askForLink();
    expect(await look(token)).toMatchObject({ status: 200, body: {} });
    expect((await look(token)).headers.get('referrer-policy')).toBe('no-referrer');
    expect((await api.get(`/api/reset/${user.uuid}/?token=${token}`)).status).toBe(405);
    const other = await createUser(api.database.sql, { email: `${randomUUID()}@example.com` });
    expect(await look(token, other.uuid)).toMatchObject(invalid);
    expect(await reset(token, other.uuid)).toMatchObject(invalid);
    expect(await reset(token)).toMatchObject({ status: 200, body: { success: true, email: user.email } });
    expect(await reset(token)).toMatchObject(invalid);
    expect(await look(token)).toMatchObject(invalid);
    expect((await post('/api/login/', { email: user.email, password })).status).toBe(200);
  });

  test('signin-032: rejects a sign-in link, a link older than a day, and a link that a newer one has replaced', async () => {
    const [old, newer] = [await askForLink(), await askForLink()];
    expect(await look(old.token)).toMatchObject(invalid);
    await api.database.sql.query("UPDATE one_time_link SET expires_at = expires_at - interval '1 day'");
    expect(await reset(newer.token)).toMatchObject(invalid);
    const link = { kind: 'sign_in', userId: tenant.userId } as const;
    const { secret } = await api.database.transaction((tx) => createOneTimeLink(tx, link));
    expect(await reset(secret)).toMatchObject(invalid);
    const asSignIn = await post('/api/console_link/', { secret: (await askForLink()).token });
    expect(asSignIn).toMatchObject({ status: 400, body: { code: 'invalid_token', attr: 'secret' } });
  });

  test('signin-032: rejects a weak password without invalidating the link', async () => {
    const { token } = await askForLink();
    const weak = await post(`/api/reset/${user.uuid}/`, { token, password: 'password1' });
    expect(weak).toMatchObject({ status: 400, body: { code: 'invalid_input', attr: 'password' } });
    expect((await reset(token)).status).toBe(200);
  });

  test('signin-033: a reset ends all sessions, and does not sign the user in', async () => {
    const key = await signInAs(api, tenant.userId);
    const response = await reset((await askForLink()).token);
    expect([response.status, response.headers.get('set-cookie')]).toEqual([200, null]);
    expect((await api.get('/api/users/@me/', key)).status).toBe(401);
  });

  test('signin-034: builds the link from the configured URL, regardless of the request', async () => {
    const headers = { 'x-forwarded-host': 'evil.example', 'x-forwarded-proto': 'https' };
    expect((await post('/api/reset/', { email: user.email }, headers)).status).toBe(204);
    await api.mailsSent();
    const body = mailsTo(user.email).at(-1)?.body ?? '';
    expect(body).toContain(`https://analytics.example/console/reset/${user.uuid}`);
    expect(body).not.toContain('evil');
  });

  test('signin-048: sends at most six emails a day to one email address, whether or not it has an account', async () => {
    for (const email of [user.email, `${randomUUID()}@example.com`]) {
      const statuses: number[] = [];
      for (let count = 0; count < 7; count += 1) {
        const from = { 'x-forwarded-for': `198.51.100.${count}` };
        statuses.push((await post('/api/reset/', { email }, from)).status);
      }
      expect(statuses).toEqual([204, 204, 204, 204, 204, 204, 429]);
    }
    await api.mailsSent();
  });

  test('signin-048: allows twenty password reset requests per hour from one IP address', async () => {
    const from = { 'x-forwarded-for': '203.0.113.1' };
    const ask = async () => (await post('/api/reset/', { email: `${randomUUID()}@example.com` }, from)).status;
    for (let count = 0; count < 20; count += 1) expect(await ask()).toBe(204);
    expect(await ask()).toBe(429);
  });
});

describe('signing up with an invite', () => {
  async function invite(email = `${randomUUID()}@example.com`) {
    const path = `/api/organizations/${tenant.organizationId}/invites/`;
    const { id } = (await api.send('POST', path, { key: tenant.personalApiKey, body: { target_email: email } })).body;
    const { token, hash } = newInviteSecret();
    const data = { token_hash: hash };
    await api.database.prisma.organization_invite.update({ where: { id }, data });
    return { path: `/api/signup/${id}/`, id, token, email };
  }
  const sessionOf = (headers: Headers) =>
    sessionKey(/millrace_session=([\w-]{43});/.exec(headers.get('set-cookie') ?? '')?.[1] ?? '');

  test('signin-035: an invite with a password signs the new user in without a key, and works only once', async () => {
    const { path, token, email } = await invite();
    const response = await post(path, { token, first_name: 'Grace', password });
    expect(response).toMatchObject({ status: 201, body: { personal_api_key: null, level: 1, user: { email } } });
    const me = await api.get('/api/users/@me/', sessionOf(response.headers));
    expect(me.body).toMatchObject({ email, has_password: true, organization: { id: tenant.organizationId } });
    const [session] = (await api.get('/api/users/@me/login_sessions/', sessionOf(response.headers))).body;
    expect(session).toMatchObject({ login_method: 'invite', is_current: true });
    expect((await post(path, { token, password })).status).toBe(404);
    expect((await post('/api/login/', { email, password })).status).toBe(200);
  });

  test('signin-035: an invite with a passkey signs the new user in with neither a password nor a key', async () => {
    const { path, token, email } = await invite();
    expect((await post(path, { token, with_passkey: true }, { origin: 'https://evil.example' })).status).toBe(403);
    const response = await post(path, { token, with_passkey: true });
    expect(response).toMatchObject({ status: 201, body: { personal_api_key: null, user: { email } } });
    const key = sessionOf(response.headers);
    expect((await api.get('/api/users/@me/', key)).body).toMatchObject({ email, has_password: false });
    expect((await api.send('POST', '/api/webauthn/register/begin/', { key })).status).toBe(200);
    expect((await post(path, { token, with_passkey: true })).status).toBe(404);
  });

  test('signin-035: rejects a weak password or a request from another site without invalidating the invite', async () => {
    const { path, token } = await invite();
    expect(await post(path, { token, password: 'password1' })).toMatchObject({
      status: 400,
      body: { attr: 'password' },
    });
    expect((await post(path, { token, password }, { origin: 'https://evil.example' })).status).toBe(403);
    expect((await post(path, { token: 'x', password })).status).toBe(404);
    expect((await post(path, { token, password })).status).toBe(201);
  });

  test('signin-035: users with an account must sign in before they accept an invite', async () => {
    const email = `${randomUUID()}@example.com`;
    const person = await createUser(api.database.sql, { email, isEmailVerified: true });
    const { path, id, token } = await invite(person.email);
    expect(await post(path, { token, password })).toMatchObject({ status: 400, body: { code: 'account_exists' } });
    const accept = (key: string) => api.send('POST', `/api/invites/${id}/accept/`, { key });
    const stranger = await createUser(api.database.sql, { email: `${randomUUID()}@example.com` });
    expect((await accept(await signInAs(api, stranger.id))).status).toBe(404);
    expect((await accept(await signInAs(api, person.id))).status).toBe(201);
  });

  test('if CONSOLE=off, rejects signing up with a password, and the invite stays valid', async () => {
    const off = await startTestApi({ withSignIn: false });
    try {
      const owner = await createTestTenant(off.database);
      const path = `/api/organizations/${owner.organizationId}/invites/`;
      const body = { target_email: 'grace@example.com' };
      const { id } = (await off.send('POST', path, { key: owner.personalApiKey, body })).body;
      const { token, hash } = newInviteSecret();
      const data = { token_hash: hash };
      await off.database.prisma.organization_invite.update({ where: { id }, data });
      const signUp = (fields: object) => off.send('POST', `/api/signup/${id}/`, { body: { token, ...fields } });
      expect(await signUp({ password })).toMatchObject({ status: 400, body: { attr: 'password' } });
      expect(await signUp({ with_passkey: true })).toMatchObject({ status: 400, body: { attr: 'with_passkey' } });
      expect((await signUp({})).body.personal_api_key).toMatch(/^phx_/);
    } finally {
      await off.stop();
    }
  });
});
