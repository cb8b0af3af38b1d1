import { addMember, createOneTimeLink, createPersonalApiKey, createUser, findSignInUser } from '@millrace/accounts';
import { createLogger, createMetrics } from '@millrace/runtime';
import { createMailer, type Mailer } from '@millrace/runtime/mail';
import { createTestTenant, eventually, type MailServer, startMailServer, type TestTenant } from '@millrace/testing';
import { noLimits, signInAs, startTestApi, type TestApi } from '../../testing/start-test-api.ts';

/** Tests how users change their own email address, read their account's activity, and delete their account. */
let mailServer: MailServer;
let mailer: Mailer;
let api: TestApi;
let tenant: TestTenant;
let email: string;
let session: string;
beforeAll(async () => {
  mailServer = await startMailServer();
  const logger = createLogger('test', 'error');
  const metrics = createMetrics({ withProcessMetrics: false });
  const from = { url: mailServer.url, from: 'Millrace <no-reply@millrace.test>', timeoutMs: 60_000 };
  mailer = createMailer(from, { logger, metrics });
  api = await startTestApi(
    {
      limits: { ...noLimits, resetsPerDay: 6 },
      trustedProxies: 1,
    },
    { mailer },
  );
});
let clients = 0;
beforeEach(async () => {
  clients += 1;
  tenant = await createTestTenant(api.database);
  email = (await findSignInUser(api.database.sql, { id: tenant.userId }))?.email ?? '';
  session = await signInAs(api, tenant.userId);
});
afterAll(async () => {
  await api.stop();
  await mailer.stop();
  await mailServer.stop();
});

const send = (method: 'GET' | 'POST' | 'PATCH' | 'DELETE', path: string, body?: object, key = session) =>
  api.send(method, path, { key, ...(body && { body }), headers: { 'x-forwarded-for': `192.0.2.${clients}` } });
const me = async (key = session) => (await send('GET', '/api/users/@me/', undefined, key)).body;
const wanted = () => `new-${tenant.userId}@example.com`;
const ask = (address: string, key = session) => send('PATCH', '/api/users/@me/', { email: address }, key);
const prove = (code: string) => send('POST', '/api/users/verify_email/', { code });
const mailsTo = (address: string, subject: string) =>
  mailServer.mails.filter(({ to, headers }) => to.includes(address) && headers.subject?.includes(subject));
/** Waits until an email address has received `count` emails, and returns the code in the newest one. */
async function codeFor(address: string, count = 1): Promise<string> {
  await eventually(async () => mailsTo(address, 'is your Millrace').length >= count, { what: `mail ${count}` });
  return mailsTo(address, 'is your Millrace').at(-1)?.headers.subject?.slice(0, 6) ?? '';
}

describe('changing the email address of an account', () => {
  test('signin-037: changes the email address after the code is entered, notifies both addresses, and ends other sessions', async () => {
    const other = await signInAs(api, tenant.userId);
    expect((await ask(`  ${wanted().toUpperCase()}`)).body).toMatchObject({ email, pending_email: wanted() });
    await eventually(async () => mailsTo(email, 'A new email address').length === 1, {
      what: 'a mail to the old address',
    });
    expect(await prove('00000x')).toMatchObject({ status: 400, body: { code: 'invalid_code', attr: 'code' } });
    expect((await me()).email).toBe(email);
    expect(await prove(await codeFor(wanted()))).toMatchObject({ status: 200, body: { success: true } });
    expect(await me()).toMatchObject({ email: wanted(), pending_email: null, is_email_verified: true });
    expect((await send('GET', '/api/users/@me/', undefined, other)).status).toBe(401);
    for (const address of [email, wanted()]) {
      await eventually(async () => mailsTo(address, 'was changed').length === 1, { what: `a mail to ${address}` });
    }
    expect(await prove('123456')).toMatchObject({ status: 400, body: { code: 'no_pending_email' } });
  });

  test('signin-037: allows five wrong codes, even concurrently, and then requires a new code', async () => {
    await ask(wanted());
    const code = await codeFor(wanted());
    const wrong = code === '000000' ? '000001' : '000000';
    const codes = (await Promise.all(Array.from({ length: 5 }, () => prove(wrong)))).map(({ body }) => body.code);
    expect(codes).toEqual(Array(5).fill('invalid_code'));
    expect(await prove(code)).toMatchObject({ status: 400, body: { code: 'too_many_attempts' } });
    expect((await send('POST', '/api/users/request_email_verification/')).status).toBe(200);
    expect((await prove(await codeFor(wanted(), 2))).status).toBe(200);
  });

  test('signin-038: does not reveal that the new address is taken until the code is entered', async () => {
    const other = await createUser(api.database.sql, { email: `taken-${tenant.userId}@example.com` });
    expect(await ask(other.email)).toMatchObject({ status: 200, body: { email, pending_email: other.email } });
    const response = await prove(await codeFor(other.email));
    expect(response).toMatchObject({ status: 400, body: { code: 'email_taken', attr: 'email' } });
    expect((await me()).email).toBe(email);
  });

  test('a pending change of email address can be canceled', async () => {
    await ask(wanted());
    expect((await send('PATCH', '/api/users/cancel_email_change_request/')).status).toBe(200);
    expect((await me()).pending_email).toBeNull();
    expect(await prove(await codeFor(wanted()))).toMatchObject({ status: 400, body: { code: 'no_pending_email' } });
    expect((await send('POST', '/api/users/request_email_verification/')).status).toBe(400);
  });

  test('signin-039: rejects keys, invalid addresses, and sessions more than five minutes after the sign-in', async () => {
    expect((await ask(wanted(), tenant.personalApiKey)).status).toBe(403);
    expect(await ask('unknown')).toMatchObject({ status: 400, body: { attr: 'email' } });
    await api.database.sql.query("UPDATE session SET signed_in_at = now() - interval '6 minutes' WHERE user_id = $1", [
      tenant.userId,
    ]);
    const both = await send('PATCH', '/api/users/@me/', { first_name: 'Other', email: wanted() });
    expect(both).toMatchObject({ status: 403, body: { code: 'sensitive_action_required_reauth' } });
    expect((await me()).first_name).not.toBe('Other');
    expect((await me()).pending_email).toBeNull();
  });

  test('signin-048: sends at most six codes a day per account, regardless of the email address', async () => {
    for (let count = 0; count < 6; count += 1) expect((await ask(`${count}-${wanted()}`)).status).toBe(200);
    expect((await ask(wanted())).status).toBe(429);
    expect((await send('POST', '/api/users/request_email_verification/')).status).toBe(429);
  });

  it("codes do not count toward the password resets of the new address's owner", async () => {
    const victim = await createUser(api.database.sql, { email: `victim-${tenant.userId}@example.com` });
    for (let count = 0; count < 6; count += 1) expect((await ask(victim.email)).status).toBe(200);
    expect((await send('POST', '/api/reset/', { email: victim.email })).status).toBe(204);
    const other = await createTestTenant(api.database);
    expect((await ask(victim.email, await signInAs(api, other.userId))).status).toBe(200);
  });

  test('returns 400 naming the field if no mail server is configured', async () => {
    const silent = await startTestApi();
    const { userId } = await createTestTenant(silent.database);
    const key = await signInAs(silent, userId);
    const response = await silent.send('PATCH', '/api/users/@me/', { key, body: { email: 'other@example.com' } });
    await silent.stop();
    expect(response).toMatchObject({ status: 400, body: { code: 'email_not_available', attr: 'email' } });
  });
});

test("signin-047: the user's own activity lists sign-ins with method, IP address and browser, and sign-outs", async () => {
  const stranger = await createTestTenant(api.database);
  const strange = await signInAs(api, stranger.userId);
  const { secret } = await api.database.transaction((tx) =>
    createOneTimeLink(tx, { kind: 'sign_in', userId: tenant.userId }),
  );
  const entered = await api.send('POST', '/api/console_link/', {
    body: { secret },
    headers: { 'user-agent': 'Firefox/140', 'x-forwarded-for': '198.51.100.7' },
  });
  const [cookie = ''] = /millrace_session=[\w-]{43}/.exec(entered.headers.get('set-cookie') ?? '') ?? [];
  await api.send('POST', '/api/logout/', { key: cookie, body: {} });
  const { body } = await send('GET', '/api/users/@me/activity/');
  expect(body.results.map((one: { activity: string }) => one.activity)).toEqual(['logged_out', 'logged_in']);
  const seen = Object.fromEntries(
    body.results[1].detail.changes.map(({ field, after }: { field: string; after: unknown }) => [field, after]),
  );
  expect(seen).toEqual({
    login_method: 'link',
    second_factor: null,
    address: '198.51.100.7',
    browser: 'Firefox/140',
  });
  expect(JSON.stringify(body)).not.toContain(secret);
  expect((await send('GET', '/api/users/@me/activity/', undefined, strange)).body.total_count).toBe(0);
});

describe('deleting an account', () => {
  test("returns 400 to an owner, deletes a member's account with its keys and sessions, and notifies the member", async () => {
    expect(await send('DELETE', '/api/users/@me/')).toMatchObject({ status: 400, body: { code: 'invalid_input' } });
    const { sql } = api.database;
    const member = await createUser(sql, { email: `leaves-${tenant.userId}@example.com` });
    await addMember(sql, { organizationId: tenant.organizationId, userId: member.id, level: 8 });
    const key = await createPersonalApiKey(sql, { actor: null, userId: member.id, label: 'k', scopes: ['*'] });
    const own = await signInAs(api, member.id);
    expect((await send('DELETE', '/api/users/@me/', undefined, key.value)).status).toBe(405);
    const deletedAccount = await send('DELETE', '/api/users/@me/', undefined, own);
    expect([deletedAccount.status, deletedAccount.headers.get('set-cookie')]).toEqual([
      204,
      expect.stringContaining('Max-Age=0'),
    ]);
    for (const credential of [own, key.value]) {
      expect((await send('GET', '/api/users/@me/', undefined, credential)).status).toBe(401);
    }
    await eventually(async () => mailsTo(member.email, 'was deleted').length === 1, { what: 'a mail' });
    const path = `/api/organizations/${tenant.organizationId}`;
    const { body } = await api.get(`${path}/members/`, tenant.personalApiKey);
    expect(body.results.map(({ user }: { user: { email: string } }) => user.email)).toEqual([email]);
    const history = await api.get(`${path}/activity/?scope=OrganizationMembership`, tenant.personalApiKey);
    expect(history.body.results[0]).toMatchObject({ activity: 'deleted', scope: 'OrganizationMembership' });
  });
});
