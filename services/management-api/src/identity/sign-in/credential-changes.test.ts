import { changePassword, createOneTimeLink, createPasswords, findSignInUser, setUserActive } from '@millrace/accounts';
import { createTestTenant, type TestTenant } from '@millrace/testing';
import { Secret, TOTP } from 'otpauth';
import { softwarePasskey } from '../../testing/software-passkey.ts';
import { signInAs, startTestApi, type TestApi, type TestResponse } from '../../testing/start-test-api.ts';

/**
 * Tests how changed credentials affect unfinished sign-ins and trusted browsers, and how passkeys count as a second
 * factor.
 */
let api: TestApi;
let tenant: TestTenant;
let user: { id: number; uuid: string; email: string };
let session: string;
const password = 'correct horse battery staple';
const nextPassword = 'four unrelated words here';
beforeAll(async () => {
  api = await startTestApi();
});
beforeEach(async () => {
  tenant = await createTestTenant(api.database);
  const hash = await createPasswords({ cost: 4 }).hash(password);
  await api.database.transaction(async (tx) => {
    const found = await findSignInUser(tx, { id: tenant.userId });
    if (!found) throw new Error('no user');
    user = found;
    await changePassword(tx, found, { hash, actor: null });
  });
  session = await signInAs(api, user.id);
});
afterAll(() => api.stop());

function cookieOf({ headers }: TestResponse, kind: 'session' | 'device' | 'step'): string {
  const [found] = new RegExp(`millrace_${kind}=[\\w-]{43}`).exec(headers.get('set-cookie') ?? '') ?? [];
  if (found === undefined) throw new Error(`The answer has no ${kind}.`);
  return found;
}
const post = (path: string, body: object = {}, cookie?: string) =>
  api.send('POST', path, { body, headers: { ...(cookie && { cookie }) } });
const own = (method: 'GET' | 'POST' | 'PATCH' | 'DELETE', path: string, body?: object, key = session) =>
  api.send(method, path, { key, ...(body && { body }) });
const login = (cookie?: string) => post('/api/login/', { email: user.email, password }, cookie);
const half = async () => cookieOf(await login(), 'step');
const place = () => new URL(api.url).origin;

async function connectApp(): Promise<string[]> {
  const { body } = await own('GET', '/api/users/@me/two_factor_start_setup/');
  const token = new TOTP({ secret: Secret.fromBase32(body.secret) }).generate();
  const connected = await own('POST', '/api/users/@me/two_factor_validate/', { token });
  expect(connected.status).toBe(200);
  return connected.body.backup_codes;
}
async function addPasskey(odd = {}) {
  const passkey = softwarePasskey(place());
  const { body: options } = await own('POST', '/api/webauthn/register/begin/');
  const credential = passkey.register(options, odd);
  const { status, body } = await own('POST', '/api/webauthn/register/complete/', { credential });
  return { passkey, status, body, userHandle: options.user.id as string };
}
const askForPasskeys = (wanted: boolean) => own('PATCH', '/api/users/@me/', { passkeys_enabled_for_2fa: wanted });
async function enterBy({ passkey, userHandle }: Awaited<ReturnType<typeof addPasskey>>, odd: object = {}) {
  const begun = await post('/api/webauthn/login/begin/');
  const credential = passkey.respond(begun.body, { userHandle, ...odd });
  return post('/api/webauthn/login/complete/', { credential }, cookieOf(begun, 'step'));
}
async function showPasskey(passkey: ReturnType<typeof softwarePasskey>, step: string, odd: object = {}) {
  const { body: options } = await post('/api/login/2fa/passkey/begin/', {}, step);
  const response = await post('/api/login/token/', { credential: passkey.respond(options, odd) }, step);
  return { options, response };
}

describe('an unfinished sign-in', () => {
  const changes: [string, () => Promise<unknown>][] = [
    [
      'the password was reset',
      async () => {
        const link = { kind: 'reset_password', userId: user.id } as const;
        const { secret: token } = await api.database.transaction((tx) => createOneTimeLink(tx, link));
        return post(`/api/reset/${user.uuid}/`, { token, password: nextPassword });
      },
    ],
    [
      'the password was changed',
      () => own('PATCH', '/api/users/@me/', { current_password: password, password: nextPassword }),
    ],
    ['all other sessions were ended', () => own('POST', '/api/users/@me/login_sessions/revoke_others/')],
    [
      'the user was deactivated and activated again',
      async () => {
        await setUserActive(api.database.sql, user.id, false);
        await setUserActive(api.database.sql, user.id, true);
        return { status: 200 };
      },
    ],
    [
      'a passkey was removed',
      async () => {
        const { body } = await addPasskey();
        await own('DELETE', `/api/webauthn/credentials/${body.id}/`);
        return { status: 200 };
      },
    ],
  ];
  it.each(changes)('an unfinished sign-in ends after %s', async (_name, change) => {
    const codes = await connectApp();
    const step = await half();
    expect(await change()).toMatchObject({ status: 200 });
    const late = await post('/api/login/token/', { token: codes[0] }, step);
    expect(late).toMatchObject({ status: 400, body: { code: '2fa_expired' } });
  });

  it('a password change invalidates a pending email address and an emailed link', async () => {
    const link = { kind: 'reset_password', userId: user.id } as const;
    const { secret: token } = await api.database.transaction((tx) => createOneTimeLink(tx, link));
    await api.database.sql.query(
      `INSERT INTO sign_in_step (token_hash, kind, user_id, data, expires_at)
       VALUES ('x', 'email_change', $1, '{"email": "mallory@example.com"}', now() + interval '1 day')`,
      [user.id],
    );
    await own('PATCH', '/api/users/@me/', { current_password: password, password: nextPassword });
    expect(await api.database.sql.query('SELECT FROM sign_in_step WHERE user_id = $1', [user.id])).toEqual([]);
    const reset = await post(`/api/reset/${user.uuid}/`, { token, password });
    expect(reset).toMatchObject({ status: 400, body: { code: 'invalid_token' } });
  });
});

describe('a trusted browser', () => {
  const changes: [string, (id: string) => Promise<unknown>][] = [
    ['a passkey was removed', (id) => own('DELETE', `/api/webauthn/credentials/${id}/`)],
    [
      'passkeys were switched off as a second factor and on again',
      async () => {
        await askForPasskeys(false);
        return askForPasskeys(true);
      },
    ],
    ['backup codes were renewed', () => own('POST', '/api/users/@me/two_factor_backup_codes/')],
  ];
  it.each(changes)('a trusted browser requires the second factor again after %s', async (_name, change) => {
    const [one] = [await addPasskey(), await addPasskey()];
    expect((await askForPasskeys(true)).status).toBe(200);
    const step = await half();
    const { body: options } = await post('/api/login/2fa/passkey/begin/', {}, step);
    const shown = { credential: one.passkey.respond(options), remember: true };
    const device = cookieOf(await post('/api/login/token/', shown, step), 'device');
    expect((await login(device)).status).toBe(200);
    expect(await change(one.body.id)).toMatchObject({ status: expect.any(Number) });
    expect(await login(device)).toMatchObject({ status: 401, body: { code: '2fa_required' } });
  });
});

describe('a passkey without user verification', () => {
  it('a passkey without user verification does not count as both factors, unlike one with user verification', async () => {
    const [one, two] = [await addPasskey(), await addPasskey()];
    await askForPasskeys(true);
    for (const { passkey } of [one, two]) {
      const first = await enterBy(one, { isVerified: false });
      expect(first).toMatchObject({ status: 401, body: { code: '2fa_required' } });
      const step = cookieOf(first, 'step');
      const again = await showPasskey(passkey, step, { isVerified: false });
      expect(again.options.userVerification).toBe('required');
      expect(again.response).toMatchObject({ status: 400, body: { code: '2fa_invalid_passkey' } });
      expect((await showPasskey(passkey, step)).response.status).toBe(200);
    }
  });

  it('a passkey without user verification counts as the second factor after a password', async () => {
    const { passkey } = await addPasskey();
    await askForPasskeys(true);
    const { options, response } = await showPasskey(passkey, await half(), { isVerified: false });
    expect([options.userVerification, response.status]).toEqual(['preferred', 200]);
  });

  it('a passkey does not become the second factor of the session that it started', async () => {
    const added = await addPasskey();
    session = cookieOf(await enterBy(added, { isVerified: false }), 'session');
    await api.database.sql.query('UPDATE organization SET enforce_2fa = true WHERE id = $1', [tenant.organizationId]);
    expect((await askForPasskeys(true)).status).toBe(200);
    expect(await own('GET', `/api/projects/${tenant.projectId}/`)).toMatchObject({
      status: 403,
      body: { code: 'two_factor_verification_required' },
    });
  });
});

describe("a passkey used in another site's frame", () => {
  it.each([
    ['crossOrigin is true', { crossOrigin: true }],
    ['topOrigin is another site', { topOrigin: 'https://evil.example' }],
    ['both are set', { crossOrigin: true, topOrigin: 'https://evil.example' }],
  ])('rejects registration and sign-in when %s', async (_name, odd) => {
    expect(await addPasskey(odd)).toMatchObject({ status: 400, body: { code: '2fa_invalid_passkey' } });
    const added = await addPasskey();
    expect(await enterBy(added, odd)).toMatchObject({ status: 400, body: { code: '2fa_invalid_passkey' } });
    expect((await enterBy(added)).status).toBe(200);
  });
});
