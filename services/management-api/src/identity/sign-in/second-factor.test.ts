import { changePassword, createOneTimeLink, createPasswords, findSignInUser } from '@millrace/accounts';
import { createLogger, createMetrics } from '@millrace/runtime';
import { createMailer, type Mailer } from '@millrace/runtime/mail';
import {
  createTestTenant,
  eventually,
  type MailServer,
  startMailServer,
  type TestTenant,
  waitOutStepEnd,
} from '@millrace/testing';
import { Secret, TOTP } from 'otpauth';
import { softwarePasskey } from '../../testing/software-passkey.ts';
import {
  noLimits,
  sessionKey,
  signInAs,
  startTestApi,
  type TestApi,
  type TestResponse,
} from '../../testing/start-test-api.ts';

/**
 * Tests second factors (authenticator app codes, backup codes and passkeys), and sign-in with a passkey and no
 * password.
 */
let mailServer: MailServer;
let mailer: Mailer;
let api: TestApi;
let tenant: TestTenant;
let user: { id: number; uuid: string; email: string };
let session: string;
const metrics = createMetrics({ withProcessMetrics: false });
const password = 'correct horse battery staple';
const nextPassword = 'four unrelated words here';
beforeAll(async () => {
  mailServer = await startMailServer();
  const logger = createLogger('test', 'error');
  const from = { url: mailServer.url, from: 'Millrace <no-reply@millrace.test>', timeoutMs: 60_000 };
  mailer = createMailer(from, { logger, metrics });
  api = await startTestApi(
    {
      metrics,
      limits: { ...noLimits, secondFactorFailures: 6 },
    },
    { mailer },
  );
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
  session = cookieOf(await login(), 'session');
});
afterAll(async () => {
  await api.stop();
  await mailer.stop();
  await mailServer.stop();
});

function cookieOf({ headers }: TestResponse, kind: 'session' | 'device' | 'step'): string {
  const [found] = new RegExp(`millrace_${kind}=[\\w-]{43}`).exec(headers.get('set-cookie') ?? '') ?? [];
  if (found === undefined) throw new Error(`The answer has no ${kind}.`);
  return found;
}
const post = (path: string, body: object = {}, cookie?: string) =>
  api.send('POST', path, { body, headers: { ...(cookie && { cookie }) } });
const login = (cookie?: string, entered = password) =>
  post('/api/login/', { email: user.email, password: entered }, cookie);
const own = (method: 'GET' | 'POST' | 'PATCH' | 'DELETE', path: string, body?: object, key = session) =>
  api.send(method, path, { key, ...(body && { body }) });
const status = async (key = session) => (await own('GET', '/api/users/@me/two_factor_status/', undefined, key)).body;

const totp = (secret: string, atMs = Date.now()) =>
  new TOTP({ secret: Secret.fromBase32(secret) }).generate({ timestamp: atMs });
const around = (steps: number) => Date.now() + steps * 30_000;

/**
 * Connects an app with the current code, which is valid for at least 30 more seconds.
 * @param isUsedUp whether the code then counts as used. By default, a test can use the same code again, as if it were a
 *   new code.
 */
async function connectApp({ isUsedUp = false } = {}) {
  const { body } = await own('GET', '/api/users/@me/two_factor_start_setup/');
  const token = totp(body.secret);
  const response = await own('POST', '/api/users/@me/two_factor_validate/', { token });
  expect(response).toMatchObject({ status: 200, body: { success: true } });
  if (!isUsedUp) await api.database.sql.query('UPDATE user_totp SET last_step = 0 WHERE user_id = $1', [user.id]);
  return { secret: body.secret as string, token, codes: response.body.backup_codes as string[] };
}
const half = async () => cookieOf(await login(), 'step');
const mailsTo = (address: string) => mailServer.mails.filter(({ to }) => to.includes(address));
const waitForMail = (subject: string) =>
  eventually(async () => mailsTo(user.email).some((mail) => mail.headers.subject?.includes(subject)), {
    what: subject,
  });

async function changedFields(): Promise<string[]> {
  const { body } = await own('GET', '/api/users/@me/activity/');
  return body.results.flatMap(({ detail }: { detail: { changes: { field: string }[] | null } }) =>
    (detail.changes ?? []).map(({ field }) => field),
  );
}

test('emails the user about a sign-in from an unknown browser, except for the first sign-in and after a wrong password', async () => {
  const subjects = async () => {
    await api.mailsSent();
    return mailsTo(user.email).map(({ headers }) => headers.subject);
  };
  expect(await subjects()).toEqual([]);
  await post('/api/login/', { email: user.email, password: 'wrong' });
  expect(await subjects()).toEqual([]);
  const agent = { 'user-agent': 'Mozilla/5.0 (X11; Linux x86_64) Firefox/140.0' };
  const other = await api.send('POST', '/api/login/', { body: { email: user.email, password }, headers: agent });
  expect(await subjects()).toEqual(['New sign-in from an unknown browser (Millrace)']);
  expect(mailsTo(user.email)[0]?.body.replaceAll(/=\r?\n/g, '')).toMatch(
    /Firefox on Linux, IP address (::ffff:)?127\.0\.0\.1/,
  );
  await login(cookieOf(other, 'device'));
  expect(await subjects()).toHaveLength(1);
});

describe('an authenticator app', () => {
  test('signin-016, signin-023: the password only starts a sign-in, which gives no access until a code is entered', async () => {
    const other = cookieOf(await login(), 'session');
    const { secret } = await connectApp();
    expect((await own('GET', '/api/users/@me/', undefined, other)).status).toBe(401);
    expect((await own('GET', '/api/users/@me/')).body.is_2fa_enabled).toBe(true);
    const members = await own('GET', `/api/organizations/${tenant.organizationId}/members/`);
    expect(members.body.results[0].is_2fa_enabled).toBe(true);
    await waitForMail('A second factor is now required');

    const first = await login();
    expect(first).toMatchObject({ status: 401, body: { code: '2fa_required', attr: null } });
    expect(first.headers.getSetCookie()).toEqual([
      expect.stringMatching(/^millrace_step=[\w-]{43}; Path=\/; Max-Age=600; HttpOnly; SameSite=Lax$/),
    ]);
    const step = cookieOf(first, 'step');
    expect((await api.send('GET', '/api/users/@me/', { headers: { cookie: step } })).status).toBe(401);
    const asSession = sessionKey(step.replace('millrace_step=', ''));
    expect((await own('GET', '/api/users/@me/', undefined, asSession)).status).toBe(401);
    const methods = await api.send('GET', '/api/login/2fa/methods/', { headers: { cookie: step } });
    expect(methods.body).toEqual({ has_totp: true, has_passkeys: false });
    expect(await post('/api/login/token/', {}, step)).toMatchObject({ status: 400, body: { attr: 'token' } });
    const done = await post('/api/login/token/', { token: totp(secret) }, step);
    expect(done).toMatchObject({ status: 200, body: { success: true } });
    const signedIn = cookieOf(done, 'session');
    expect((await own('GET', '/api/users/@me/', undefined, signedIn)).status).toBe(200);
    expect(await post('/api/login/token/', { token: totp(secret, around(1)) }, step)).toMatchObject({
      status: 400,
      body: { code: '2fa_expired' },
    });
  });

  test('signin-016: a sign-in must be completed within ten minutes', async () => {
    const { secret } = await connectApp();
    const step = await half();
    const { sql } = api.database;
    await sql.query("UPDATE sign_in_step SET expires_at = expires_at - interval '9 minutes'");
    expect((await post('/api/login/token/', { token: 'wrong' }, step)).body.code).toBe('2fa_invalid');
    await sql.query("UPDATE sign_in_step SET expires_at = expires_at - interval '1 minute'");
    const late = await post('/api/login/token/', { token: totp(secret) }, step);
    expect(late).toMatchObject({ status: 400, body: { code: '2fa_expired' } });
  });

  test.each([
    ['signin-017: two steps ago', -2, 400],
    ['signin-017: the last step', -1, 200],
    ['signin-017: this step', 0, 200],
    ['signin-017: the next step', 1, 200],
    ['signin-017: two steps ahead', 2, 400],
  ])('%s', async (_case, steps, expected) => {
    const { secret } = await connectApp();
    const step = await half();
    await waitOutStepEnd(30_000);
    const response = await post('/api/login/token/', { token: totp(secret, around(steps)) }, step);
    expect(response.status).toBe(expected);
  });

  test('signin-018: accepts a code only once, even in two concurrent requests', async () => {
    const { secret } = await connectApp();
    const steps = [await half(), await half()];
    const code = totp(secret);
    const responses = await Promise.all(steps.map((step) => post('/api/login/token/', { token: code }, step)));
    expect(responses.map((response) => response.status).sort()).toEqual([200, 400]);
    const used = await post('/api/login/token/', { token: code }, await half());
    expect(used).toMatchObject({ status: 400, body: { code: '2fa_invalid', attr: 'token' } });
  });

  test('signin-018: does not accept the code that connected the app', async () => {
    const { token } = await connectApp({ isUsedUp: true });
    const response = await post('/api/login/token/', { token }, await half());
    expect(response).toMatchObject({ status: 400, body: { code: '2fa_invalid', attr: 'token' } });
  });

  test('signin-019: after six wrong codes, rejects even the right code in a new sign-in', async () => {
    const { secret } = await connectApp();
    const step = await half();
    for (let count = 0; count < 6; count += 1) {
      expect(await post('/api/login/token/', { token: '000000x' }, step)).toMatchObject({
        status: 400,
        body: { code: '2fa_invalid' },
      });
    }
    const refused = await post('/api/login/token/', { token: totp(secret) }, await half());
    expect(refused).toMatchObject({ status: 429, body: { code: '2fa_too_many_attempts' } });
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0);
  });

  test("signin-022: stores the app's secret encrypted, only after a correct code, and never shows it again", async () => {
    const start = await own('GET', '/api/users/@me/two_factor_start_setup/');
    expect(start.body.uri).toContain(`secret=${start.body.secret}`);
    const steps = await api.database.sql.query('SELECT data FROM sign_in_step WHERE user_id = $1', [user.id]);
    expect(JSON.stringify(steps)).toContain('v1:');
    expect(JSON.stringify(steps)).not.toContain(start.body.secret);
    const rows = () =>
      api.database.sql.query<{ secret: string }>('SELECT secret FROM user_totp WHERE user_id = $1', [user.id]);
    const wrong = await own('POST', '/api/users/@me/two_factor_validate/', { token: '000000' });
    expect(wrong).toMatchObject({ status: 400, body: { code: 'token_invalid', attr: 'token' } });
    expect(await rows()).toEqual([]);
    const right = { token: totp(start.body.secret) };
    expect((await own('POST', '/api/users/@me/two_factor_validate/', right)).status).toBe(200);
    expect((await rows())[0]?.secret).toMatch(/^v1:/);
    expect(JSON.stringify(await status())).not.toContain(start.body.secret);
    const again = await own('POST', '/api/users/@me/two_factor_validate/', right);
    expect(again).toMatchObject({ status: 400, body: { code: 'setup_expired' } });
  });

  test('signin-023: the activity log contains no secrets', async () => {
    const { secret, codes } = await connectApp();
    const rows = await api.database.sql.query('SELECT detail FROM activity_log WHERE item_id = $1', [user.uuid]);
    const text = JSON.stringify(rows);
    expect(text).toContain('two_factor');
    for (const hidden of [secret, ...codes]) expect(text).not.toContain(hidden);
  });

  test('signin-022: a session older than two hours must be confirmed to connect an app, and a key cannot connect one', async () => {
    await api.database.sql.query("UPDATE session SET signed_in_at = now() - interval '3 hours' WHERE user_id = $1", [
      user.id,
    ]);
    expect(await own('GET', '/api/users/@me/two_factor_start_setup/')).toMatchObject({
      status: 403,
      body: { code: 'sensitive_action_required_reauth' },
    });
    const key = await own('GET', '/api/users/@me/two_factor_start_setup/', undefined, tenant.personalApiKey);
    expect(key.status).toBe(403);
  });

  test('disconnecting the app notifies the user by email, and keeps other sessions', async () => {
    const { secret } = await connectApp();
    const other = cookieOf(await post('/api/login/token/', { token: totp(secret) }, await half()), 'session');
    expect((await own('POST', '/api/users/@me/two_factor_disable/')).status).toBe(200);
    await waitForMail('An authenticator app was disconnected');
    expect(await status(other)).toMatchObject({ is_enabled: false, method: null, backup_codes_remaining: 0 });
    expect((await login()).status).toBe(200);
    expect(await own('POST', '/api/users/@me/two_factor_disable/')).toMatchObject({
      status: 400,
      body: { code: '2fa_not_enabled' },
    });
  });

  test("a sign-in with an operator's link does not require a code", async () => {
    await connectApp();
    const link = { kind: 'sign_in', userId: user.id } as const;
    const { secret } = await api.database.transaction((tx) => createOneTimeLink(tx, link));
    const linkSession = cookieOf(await post('/api/console_link/', { secret }), 'session');
    expect((await own('POST', '/api/users/@me/two_factor_disable/', undefined, linkSession)).status).toBe(200);
  });
});

test('counts sign-in attempts by method and outcome', async () => {
  const values = (await metrics.registry.getSingleMetric('millrace_sign_ins_total')?.get())?.values ?? [];
  const ended = new Set(values.map(({ labels }) => `${labels.way} ${labels.outcome}`));
  for (const expected of [
    'password signed_in',
    'password second_factor_wanted',
    'second_factor signed_in',
    'second_factor refused',
    'second_factor throttled',
    'link signed_in',
  ]) {
    expect(ended).toContain(expected);
  }
});

describe('backup codes', () => {
  test('signin-020: each backup code signs in once, even in upper case with spaces, and the user is notified', async () => {
    const { codes } = await connectApp();
    expect(codes).toHaveLength(10);
    const [code = ''] = codes;
    const stored = await api.database.sql.query('SELECT * FROM user_backup_code WHERE user_id = $1', [user.id]);
    expect(stored).toHaveLength(10);
    expect(JSON.stringify(stored)).not.toContain(code.replace('-', ''));
    const written = ` ${code.toUpperCase().replace('-', ' ')} `;
    const responses = await Promise.all(
      [await half(), await half()].map((step) => post('/api/login/token/', { token: written }, step)),
    );
    expect(responses.map((response) => response.status).sort()).toEqual([200, 400]);
    expect((await status()).backup_codes_remaining).toBe(9);
    await waitForMail('A backup code was used');
  });

  test('signin-020: users with a second factor can replace their backup codes, which invalidates the old ones', async () => {
    const none = await own('POST', '/api/users/@me/two_factor_backup_codes/');
    expect(none).toMatchObject({ status: 400, body: { code: '2fa_not_enabled' } });
    const { codes } = await connectApp();
    const renewed = await own('POST', '/api/users/@me/two_factor_backup_codes/');
    expect(renewed.body.backup_codes).toHaveLength(10);
    await waitForMail('New backup codes');
    expect(await changedFields()).toContain('backup_codes');
    expect((await post('/api/login/token/', { token: codes[0] }, await half())).status).toBe(400);
    expect((await post('/api/login/token/', { token: renewed.body.backup_codes[0] }, await half())).status).toBe(200);
  });
});

describe('a remembered browser', () => {
  async function remember(): Promise<string> {
    const { codes } = await connectApp();
    return cookieOf(await post('/api/login/token/', { token: codes[0], remember: true }, await half()), 'device');
  }

  test('signin-021: a remembered browser skips the second factor, unlike other browsers and other users', async () => {
    const device = await remember();
    expect((await login(device)).status).toBe(200);
    expect((await login()).status).toBe(401);
    await api.database.sql.query('UPDATE known_device SET second_factor_at = NULL');
    expect((await login(device)).status).toBe(401);
  });

  it('signin-021: remembers a browser for 30 days after a sign-in, but skips the second factor for only 30 days in total', async () => {
    const device = await remember();
    const { sql } = api.database;
    await sql.query(
      `UPDATE known_device SET expires_at = now() + interval '1 day', second_factor_at = now() - interval '29 days'`,
    );
    expect(cookieOf(await login(device), 'device')).toBe(device);
    const [row] = await sql.query(
      'SELECT round(extract(epoch FROM expires_at - now()) / 86400) AS days FROM known_device ORDER BY expires_at DESC',
    );
    expect(Number(row?.days)).toBe(30);
    await sql.query(`UPDATE known_device SET second_factor_at = now() - interval '31 days'`);
    expect((await login(device)).status).toBe(401);
  });

  const changes: [string, () => Promise<unknown>, string?][] = [
    [
      'the user changes the password',
      () => own('PATCH', '/api/users/@me/', { current_password: password, password: nextPassword }),
      nextPassword,
    ],
    [
      'the user resets the password',
      async () => {
        const link = { kind: 'reset_password', userId: user.id } as const;
        const { secret: token } = await api.database.transaction((tx) => createOneTimeLink(tx, link));
        return post(`/api/reset/${user.uuid}/`, { token, password: nextPassword });
      },
      nextPassword,
    ],
    [
      'the user turns the second factor off and on',
      async () => {
        const disabled = await own('POST', '/api/users/@me/two_factor_disable/');
        await connectApp();
        return disabled;
      },
    ],
  ];
  it.each(changes)(
    'signin-021: requires the second factor again in a remembered browser after %s',
    async (_name, change, entered = password) => {
      const device = await remember();
      session = cookieOf(await login(device), 'session');
      expect(await change()).toMatchObject({ status: 200 });
      expect(await login(device, entered)).toMatchObject({ status: 401, body: { code: '2fa_required' } });
    },
  );
});

describe('an organization that requires a second factor', () => {
  const demand = (enforce: boolean) =>
    api.database.sql.query('UPDATE organization SET enforce_2fa = $2 WHERE id = $1', [tenant.organizationId, enforce]);

  test('signin-024: a session without a second factor can only set one up, and keys are not restricted', async () => {
    await demand(true);
    const path = `/api/projects/${tenant.projectId}/`;
    expect(await own('GET', path)).toMatchObject({ status: 403, body: { code: 'two_factor_setup_required' } });
    expect((await own('GET', path, undefined, tenant.personalApiKey)).status).toBe(200);
    expect((await own('GET', '/api/users/@me/')).status).toBe(200);
    expect(await status()).toMatchObject({ is_enabled: false, is_demanded: true });
    await connectApp();
    expect((await own('GET', path)).status).toBe(200);
    // This session starts without a second factor.
    const unshown = await signInAs(api, user.id);
    expect(await own('GET', path, undefined, unshown)).toMatchObject({
      status: 403,
      body: { code: 'two_factor_verification_required' },
    });
    await demand(false);
    expect((await own('GET', path, undefined, unshown)).status).toBe(200);
  });

  test('signin-025: a member cannot remove the last second factor while the organization requires one', async () => {
    await connectApp();
    await demand(true);
    expect(await own('POST', '/api/users/@me/two_factor_disable/')).toMatchObject({
      status: 400,
      body: { code: '2fa_demanded' },
    });
    expect((await status()).has_totp).toBe(true);
  });
});

describe('confirming a session of a user with a second factor', () => {
  test('signin-041: confirming a session requires the second factor in addition to the password', async () => {
    const { secret } = await connectApp();
    const confirm = (body: object) => own('POST', '/api/reauthenticate/', body);
    expect(await confirm({ password })).toMatchObject({ status: 400, body: { code: '2fa_required', attr: 'token' } });
    expect(await confirm({ password, token: '000000' })).toMatchObject({ status: 400, body: { code: '2fa_invalid' } });
    expect(await confirm({})).toMatchObject({ status: 400, body: { code: 'required', attr: 'password' } });
    expect((await confirm({ password, token: totp(secret) })).status).toBe(200);
  });
});

describe('passkeys', () => {
  const place = () => new URL(api.url).origin;
  async function register(odd = {}, passkey = softwarePasskey(place())) {
    const { body: options } = await own('POST', '/api/webauthn/register/begin/');
    const body = { credential: passkey.register(options, odd), label: 'Laptop' };
    return {
      passkey,
      handle: options.user.id as string,
      response: await own('POST', '/api/webauthn/register/complete/', body),
    };
  }
  async function question() {
    const response = await post('/api/webauthn/login/begin/');
    return { options: response.body, step: cookieOf(response, 'step') };
  }
  async function enter(passkey: ReturnType<typeof softwarePasskey>, odd: object) {
    const { options, step } = await question();
    return post('/api/webauthn/login/complete/', { credential: passkey.respond(options, odd) }, step);
  }

  test('signin-026: a session can register, list and rename passkeys, and a passkey signs in without a password', async () => {
    const { passkey, handle, response } = await register();
    expect(response).toMatchObject({
      status: 201,
      body: { label: 'Laptop', verified: true, authenticator_type: 'platform', last_used_at: null },
    });
    await waitForMail('A passkey was added');
    const path = `/api/webauthn/credentials/${response.body.id}/`;
    expect((await own('PATCH', path, { label: 'Desk' })).body.label).toBe('Desk');
    const entered = await enter(passkey, { userHandle: handle });
    expect(entered).toMatchObject({ status: 200, body: { success: true } });
    const { body } = await own('GET', '/api/webauthn/credentials/', undefined, cookieOf(entered, 'session'));
    expect(body).toMatchObject([{ label: 'Desk', last_used_at: expect.any(String) }]);
    expect(await register({}, passkey)).toMatchObject({ response: { status: 400, body: { attr: 'credential' } } });
  });

  const expired = { status: 400, body: { code: '2fa_no_challenge' } };

  test.each([
    ['signin-026: a passkey of another page', { origin: 'https://evil.example' }],
    ['signin-026: a passkey for another installation', { rpId: 'evil.example' }],
  ])('%s: registration and sign-in return 400', async (_case, odd) => {
    expect((await register(odd)).response).toMatchObject({ status: 400, body: { code: '2fa_invalid_passkey' } });
    const { passkey, handle } = await register();
    expect(await enter(passkey, { userHandle: handle, ...odd })).toMatchObject({
      status: 400,
      body: { code: '2fa_invalid_passkey', attr: 'credential' },
    });
  });

  test('signin-026: accepts the response to a challenge only once, and only in the browser that requested it', async () => {
    const { passkey, handle } = await register();
    const { options, step } = await question();
    const credential = passkey.respond(options, { userHandle: handle });
    const other = await question();
    expect(await post('/api/webauthn/login/complete/', { credential }, other.step)).toMatchObject({
      status: 400,
      body: { code: '2fa_invalid_passkey' },
    });
    expect((await post('/api/webauthn/login/complete/', { credential }, step)).status).toBe(200);
    expect(await post('/api/webauthn/login/complete/', { credential }, step)).toMatchObject(expired);
    expect(await post('/api/webauthn/login/complete/', { credential })).toMatchObject(expired);
    expect(await own('POST', '/api/webauthn/register/complete/', { credential })).toMatchObject(expired);
  });

  test('signin-026: rejects a registration that responds to an earlier challenge', async () => {
    const passkey = softwarePasskey(place());
    const { body: earlier } = await own('POST', '/api/webauthn/register/begin/');
    await own('POST', '/api/webauthn/register/begin/');
    const body = { credential: passkey.register(earlier), label: 'Phone' };
    expect(await own('POST', '/api/webauthn/register/complete/', body)).toMatchObject({
      status: 400,
      body: { code: '2fa_invalid_passkey', attr: 'credential' },
    });
  });

  test('signin-026: a challenge for sign-in or registration expires after five minutes', async () => {
    const { sql } = api.database;
    const age = (interval: string) =>
      sql.query('UPDATE sign_in_step SET expires_at = expires_at - $1::interval', [interval]);
    const { passkey, handle } = await register();
    const other = softwarePasskey(place());
    for (const [interval, signIn, registration] of [
      ['4 minutes 30 seconds', { status: 200 }, { status: 201 }],
      ['5 minutes', expired, expired],
    ] as const) {
      const { options, step } = await question();
      const { body: creation } = await own('POST', '/api/webauthn/register/begin/');
      await age(interval);
      const credential = passkey.respond(options, { userHandle: handle });
      expect(await post('/api/webauthn/login/complete/', { credential }, step)).toMatchObject(signIn);
      const added = { credential: other.register(creation), label: 'Phone' };
      expect(await own('POST', '/api/webauthn/register/complete/', added)).toMatchObject(registration);
    }
  });

  test('signin-026: rejects a passkey without a user handle, or with the user handle of another user', async () => {
    const { passkey } = await register();
    for (const userHandle of [Buffer.alloc(16).toString('base64url'), null]) {
      expect((await enter(passkey, { userHandle })).status).toBe(400);
    }
  });

  test('signin-027: requires the second factor if the passkey did not verify the user', async () => {
    const { passkey, handle } = await register();
    const odd = { userHandle: handle, isVerified: false };
    expect((await enter(passkey, odd)).status).toBe(200);
    const { codes } = await connectApp();
    const first = await enter(passkey, odd);
    expect(first).toMatchObject({ status: 401, body: { code: '2fa_required' } });
    const done = await post('/api/login/token/', { token: codes[0] }, cookieOf(first, 'step'));
    const sessions = await own('GET', '/api/users/@me/login_sessions/', undefined, cookieOf(done, 'session'));
    expect(sessions.body[0]).toMatchObject({ login_method: 'passkey', is_current: true });
    expect((await enter(passkey, { userHandle: handle })).status).toBe(200);
  });

  test('signin-028: rejects a passkey whose counter does not increase and emails the user, unless it is always 0', async () => {
    const { passkey, handle } = await register();
    for (const [counter, expected] of [
      [0, 200],
      [0, 200],
      [7, 200],
      [7, 400],
      [3, 400],
      [0, 400],
      [8, 200],
    ] as const) {
      expect((await enter(passkey, { userHandle: handle, counter })).status).toBe(expected);
    }
    await waitForMail('A passkey was rejected');
  });

  test('requires a passkey after the password if the user turns this on', async () => {
    const { passkey } = await register();
    expect((await login()).status).toBe(200);
    const wanted = { passkeys_enabled_for_2fa: true };
    expect((await own('PATCH', '/api/users/@me/', wanted)).body).toMatchObject({ ...wanted, is_2fa_enabled: true });
    await waitForMail('A passkey is now required');
    expect(await changedFields()).toContain('passkeys_enabled_for_2fa');
    const step = await half();
    const { body: options } = await post('/api/login/2fa/passkey/begin/', {}, step);
    expect(options.allowCredentials).toHaveLength(1);
    const credential = passkey.respond(options);
    expect((await post('/api/login/token/', { credential }, step)).status).toBe(200);
    expect(await post('/api/login/token/', { credential }, await half())).toMatchObject({
      status: 400,
      body: { code: '2fa_no_challenge' },
    });
  });

  test('a user needs a passkey to require passkeys, and cannot turn them off if an organization requires a second factor', async () => {
    const wanted = { passkeys_enabled_for_2fa: true };
    expect(await own('PATCH', '/api/users/@me/', wanted)).toMatchObject({
      status: 400,
      body: { code: 'no_passkeys', attr: 'passkeys_enabled_for_2fa' },
    });
    const { response } = await register();
    await own('PATCH', '/api/users/@me/', wanted);
    await api.database.sql.query('UPDATE organization SET enforce_2fa = true WHERE id = $1', [tenant.organizationId]);
    const demanded = { status: 400, body: { code: '2fa_demanded' } };
    expect(await own('PATCH', '/api/users/@me/', { passkeys_enabled_for_2fa: false })).toMatchObject(demanded);
    expect(await own('DELETE', `/api/webauthn/credentials/${response.body.id}/`)).toMatchObject(demanded);
    expect((await status()).has_passkeys).toBe(true);
  });

  test('signin-030: notifies the user about a removed passkey, and keeps the last sign-in method', async () => {
    const [one, two] = [await register(), await register()];
    await api.database.sql.query('DELETE FROM user_password WHERE user_id = $1', [user.id]);
    const remove = ({ response }: typeof one) => own('DELETE', `/api/webauthn/credentials/${response.body.id}/`);
    expect((await remove(one)).status).toBe(204);
    await waitForMail('A passkey was removed');
    expect(await remove(two)).toMatchObject({ status: 400, body: { code: 'last_sign_in_method' } });
    expect((await remove(one)).status).toBe(404);
    expect((await enter(two.passkey, { userHandle: two.handle })).status).toBe(200);
    expect((await enter(one.passkey, { userHandle: one.handle })).status).toBe(400);
  });

  test('signin-042: a passkey confirms a session of its own user, but not of another user', async () => {
    const { passkey, handle } = await register();
    const { options, step } = await question();
    const credential = passkey.respond(options, { userHandle: handle });
    const cookie = `${session}; ${step}`;
    const headers = { cookie, origin: place() };
    expect((await api.send('POST', '/api/reauthenticate/', { body: { credential }, headers })).status).toBe(200);
    const stranger = await createTestTenant(api.database);
    const strange = await signInAs(api, stranger.userId);
    const next = await question();
    const foreign = await api.send('POST', '/api/reauthenticate/', {
      body: { credential: passkey.respond(next.options, { userHandle: handle }) },
      headers: { cookie: `${strange}; ${next.step}`, origin: place() },
    });
    expect(foreign).toMatchObject({ status: 400, body: { code: 'reauth_user_mismatch' } });
    expect((await own('GET', '/api/users/@me/', undefined, strange)).status).toBe(200);
  });
});
