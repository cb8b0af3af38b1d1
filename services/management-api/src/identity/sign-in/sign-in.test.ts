import { randomUUID } from 'node:crypto';
import {
  changePassword,
  createOneTimeLink,
  createPasswords,
  createUser,
  findSignInUser,
  setUserActive,
} from '@millrace/accounts';
import { createTestTenant, eventually, type TestTenant } from '@millrace/testing';
import { noLimits, sessionKey, startTestApi, type TestApi, type TestResponse } from '../../testing/start-test-api.ts';

/** Tests sessions, and sign-in by password or link. All tests share one service, and each test has its own users. */
let api: TestApi;
let tenant: TestTenant;
let email: string;
const password = 'correct horse battery staple';
beforeAll(async () => {
  api = await startTestApi();
});
beforeEach(async () => {
  tenant = await createTestTenant(api.database);
  email = (await findSignInUser(api.database.sql, { id: tenant.userId }))?.email ?? '';
  await setPassword(password);
});
afterAll(() => api.stop());

async function setPassword(text: string, cost = 4): Promise<void> {
  const hash = await createPasswords({ cost }).hash(text);
  await api.database.transaction(async (tx) => {
    const user = await findSignInUser(tx, { id: tenant.userId });
    if (user) await changePassword(tx, user, { hash, actor: null });
  });
}

const post = (path: string, body?: unknown, headers: Record<string, string> = {}) =>
  api.send('POST', path, { ...(body !== undefined && { body }), headers });
const login = (body: object = { email, password }, headers = {}) => post('/api/login/', body, headers);

function sessionIn({ headers }: TestResponse): string {
  const [, secret] = /millrace_session=([\w-]{43});/.exec(headers.get('set-cookie') ?? '') ?? [];
  if (secret === undefined) throw new Error('The answer has no session.');
  return sessionKey(secret);
}
const signedIn = async () => sessionIn(await login());
const me = (key: string) => api.get('/api/users/@me/', key);
const shift = (column: string, interval: string) =>
  api.database.sql.query(`UPDATE session SET ${column} = ${column} - interval '${interval}' WHERE user_id = $1`, [
    tenant.userId,
  ]);

const wrong = {
  status: 400,
  body: { type: 'validation_error', code: 'invalid_credentials', detail: 'Invalid email or password.', attr: null },
};
const ended = {
  status: 401,
  body: { code: 'not_authenticated', detail: 'Your session has ended. Sign in again.' },
};

describe('signing in with a password', () => {
  test('signin-001: returns 200 with a cookie that has a new secret each time, and forbids caching', async () => {
    const response = await login();
    expect([response.status, response.body, response.headers.get('cache-control')]).toEqual([
      200,
      { success: true },
      'no-store',
    ]);
    expect(response.headers.getSetCookie()).toEqual([
      expect.stringMatching(/^millrace_session=[\w-]{43}; Path=\/; Max-Age=1209600; HttpOnly; SameSite=Lax$/),
      expect.stringMatching(/^millrace_device=[\w-]{43}; Path=\/; Max-Age=2592000; HttpOnly; SameSite=Lax$/),
    ]);
    const before = sessionIn(response);
    const again = await login({ email, password }, { cookie: before });
    expect(sessionIn(again)).not.toBe(before);
    expect(await me(before)).toMatchObject(ended);
    expect(await me(sessionIn(again))).toMatchObject({ status: 200, body: { email, has_password: true } });
  });

  test("a sign-in updates the user's last_login", async () => {
    const path = `/api/organizations/${tenant.organizationId}/members/`;
    expect((await api.get(path, tenant.personalApiKey)).body.results[0].last_login).toBeNull();
    await login();
    expect((await api.get(path, tenant.personalApiKey)).body.results[0].last_login).toEqual(expect.any(String));
  });

  test('signin-002: returns the same error for every sign-in that fails because of the account or the password', async () => {
    const other = await createUser(api.database.sql, { email: `${randomUUID()}@example.com` });
    expect(await login({ email, password: 'wrong' })).toMatchObject(wrong);
    expect(await login({ email: 'unknown@example.com', password })).toMatchObject(wrong);
    expect(await login({ email: other.email, password })).toMatchObject(wrong);
    await setUserActive(api.database.sql, tenant.userId, false);
    expect(await login()).toMatchObject(wrong);
  });

  test('signin-003: accepts the email address in any case and with spaces, but not with a look-alike character', async () => {
    const kate = await createUser(api.database.sql, { email: `kate-${randomUUID()}@example.com` });
    const hash = await createPasswords({ cost: 4 }).hash(password);
    await api.database.transaction((tx) => changePassword(tx, { ...kate, password_hash: null }, { hash, actor: null }));
    expect((await login({ email: `  ${kate.email.toUpperCase()} `, password })).status).toBe(200);
    expect(await login({ email: kate.email.replace('kate', '\u212Aate'), password })).toMatchObject(wrong);
  });

  test.each([
    ['signin-003', 'email', { password }],
    ['signin-003', 'password', { email: 'a@example.com' }],
  ])('%s: requires %s', async (_case, attr, body) => {
    expect(await login(body)).toMatchObject({ status: 400, body: { code: 'required', attr } });
  });

  test('signin-006: treats a password in NFC and NFD as equal, and does not trim spaces around it', async () => {
    await setPassword(' Gr\u00fc\u00dfe aus K\u00f6ln ');
    expect((await login({ email, password: ' Gr\u00fc\u00dfe aus K\u00f6ln '.normalize('NFD') })).status).toBe(200);
    expect(await login({ email, password: 'Gr\u00fc\u00dfe aus K\u00f6ln' })).toMatchObject(wrong);
  });

  test.each(['password', 'email'])('signin-007: rejects a %s of one megabyte immediately', async (field) => {
    const response = await login({ email, password, [field]: 'x'.repeat(1024 * 1024) });
    expect(response).toMatchObject({ status: 413, body: { code: 'request_too_large' } });
  });

  test('signin-008: replaces a password hash that has a different cost', async () => {
    await setPassword(password, 3);
    const stored = async () => (await findSignInUser(api.database.sql, { id: tenant.userId }))?.password_hash;
    expect(await stored()).toMatch(/^\$scrypt\$ln=3,/);
    expect((await login()).status).toBe(200);
    expect(await stored()).toMatch(/^\$scrypt\$ln=4,/);
    expect((await login()).status).toBe(200);
  });

  test('signin-010: returns the same sign-in methods whether or not an email address has an account', async () => {
    const known = await post('/api/login/precheck/', { email });
    const unknown = await post('/api/login/precheck/', { email: 'unknown@example.com' });
    expect(known).toMatchObject({
      status: 200,
      body: { password_login_available: true, sso_enforcement: null, saml_available: false, social_providers: {} },
    });
    expect(unknown.body).toEqual(known.body);
  });

  test.each([
    ['another origin', { origin: 'https://evil.example' }],
    ['an opaque origin', { origin: 'null' }],
    ['another site according to Sec-Fetch-Site', { 'sec-fetch-site': 'cross-site' }],
  ])('signin-012: rejects a request from a page of %s', async (_what, headers) => {
    expect((await login({ email, password }, headers)).status).toBe(403);
  });
});

describe('the cookie of a session, with and without TLS', () => {
  test.each([
    ['https://analytics.example', /^__Host-millrace_session=[\w-]{43}; .*; Secure$/],
    ['https://example.com/analytics/', /^__Host-millrace_session_analytics=[\w-]{43}; Path=\/; .*; Secure$/],
    ['http://[::1]:8010', /^millrace_session=[^;]+; [^S]*SameSite=Lax$/],
  ])('sets the cookie for %s', async (publicUrl, expected) => {
    const served = await startTestApi({ publicUrl });
    try {
      const { userId } = await createTestTenant(served.database);
      const link = { kind: 'sign_in', userId } as const;
      const { secret } = await served.database.transaction((tx) => createOneTimeLink(tx, link));
      const response = await served.send('POST', '/api/console_link/', { body: { secret } });
      expect(response.headers.getSetCookie()[0]).toMatch(expected);
    } finally {
      await served.stop();
    }
  });

  test('sign-in without TLS on a host other than localhost returns 400 with the reason, and sets no cookie', async () => {
    const served = await startTestApi({ publicUrl: 'http://analytics.example' });
    const response = await served.send('POST', '/api/login/', { body: { email, password } });
    await served.stop();
    expect(response).toMatchObject({ status: 400, body: { code: 'https_required' } });
  });
});

describe('requests with a session from a browser', () => {
  test.each([
    ['without an origin', {}, 403],
    ['from another origin', { origin: 'https://evil.example' }, 403],
    ['from an opaque origin', { origin: 'null' }, 403],
    ['from another site', { 'sec-fetch-site': 'cross-site' }, 403],
    ['from the same site', { 'sec-fetch-site': 'same-site' }, 403],
    ['from its own page', { 'sec-fetch-site': 'same-origin' }, 200],
  ])('signin-012: restricts writes by their origin: a write %s', async (_what, headers, status) => {
    const { secret } = { secret: await signedIn() };
    const send = (method: 'PATCH' | 'GET') =>
      api.send(method, '/api/users/@me/', {
        ...(method === 'PATCH' && { body: { role_at_organization: 'data' } }),
        headers: { cookie: secret, ...headers },
      });
    expect((await send('PATCH')).status).toBe(status);
    expect((await send('GET')).status).toBe(200);
  });

  test.each([
    ['from a link on another site', { 'sec-fetch-site': 'cross-site' }, 403],
    ['entered in the address bar', { 'sec-fetch-site': 'none' }, 403],
    ['from its own page', { 'sec-fetch-site': 'same-origin' }, 404],
    ['of an older browser', {}, 404],
  ])('signin-012: restricts a GET that changes something by its origin: %s', async (_what, headers, status) => {
    const path = `/api/projects/${tenant.projectId}/cohorts/2000000000/duplicate_as_static_cohort/`;
    const cookie = await signedIn();
    expect((await api.send('GET', path, { headers: { cookie, ...headers } })).status).toBe(status);
  });

  test.each(['text/plain', 'application/x-www-form-urlencoded', 'multipart/form-data; boundary=x'])(
    'signin-012: restricts writes by their content type: a write as %s',
    async (type) => {
      const response = await api.send('PATCH', '/api/users/@me/', {
        key: await signedIn(),
        body: { role_at_organization: 'data' },
        headers: { 'content-type': type },
      });
      expect(response.status).toBe(415);
    },
  );

  test("signin-013: if a request contains a key and a session, ignores the session and applies the key's scopes", async () => {
    const cookie = await signedIn();
    const send = (authorization: string) => api.send('GET', '/api/users/@me/', { headers: { cookie, authorization } });
    expect((await send(`Bearer ${tenant.personalApiKey}`)).body.sensitive_session_expires_at).toBeNull();
    expect((await send('Bearer phx_wrong')).status).toBe(401);
  });

  test.each(['/api/logout/', '/api/logout', '/logout'])(
    'signin-015: a session ends on the server when the user signs out at %s',
    async (path) => {
      const key = await signedIn();
      const response = await api.send('POST', path, { key });
      expect([response.status, response.headers.get('set-cookie')]).toEqual([
        204,
        expect.stringContaining('Max-Age=0'),
      ]);
      expect(await me(key)).toMatchObject(ended);
    },
  );

  test('signin-015: a GET of the sign-out path or a sign-out request from another site does not end the session', async () => {
    const key = await signedIn();
    expect((await api.get('/api/logout/', key)).status).toBe(405);
    const foreign = { cookie: key, origin: 'https://evil.example' };
    expect((await post('/api/logout/', undefined, foreign)).status).toBe(403);
    expect((await me(key)).status).toBe(200);
  });

  test('signin-041: sensitive actions require a sign-in or a confirmation within the last two hours', async () => {
    const key = await signedIn();
    const create = (as: string) =>
      api.send('POST', '/api/personal_api_keys/', { key: as, body: { label: 'Mine', scopes: ['*'] } });
    expect((await me(key)).body.sensitive_session_expires_at).toEqual(expect.any(String));
    await shift('signed_in_at', '2 hours');
    expect(await create(key)).toMatchObject({
      status: 403,
      body: { type: 'authentication_error', code: 'sensitive_action_required_reauth' },
    });
    const confirm = (text: string) => api.send('POST', '/api/reauthenticate/', { key, body: { password: text } });
    expect(await confirm('wrong')).toMatchObject({ status: 400, body: { code: 'invalid_credentials' } });
    const renewed = sessionIn(await confirm(password));
    expect(await me(key)).toMatchObject(ended);
    expect((await create(renewed)).status).toBe(201);
  });

  test('signin-041: requires no confirmation for actions that are not sensitive, or for requests with a key', async () => {
    const key = await signedIn();
    await shift('signed_in_at', '3 hours');
    const patch = (as: string, body: object) => api.send('PATCH', '/api/users/@me/', { key: as, body });
    expect((await patch(key, { role_at_organization: 'data' })).status).toBe(200);
    expect((await patch(key, { first_name: 'Eve' })).status).toBe(403);
    expect((await patch(tenant.personalApiKey, { first_name: 'Ada' })).status).toBe(200);
  });

  test('signin-043: a session is listed only for its user, without its secret, and updates its last use every five minutes', async () => {
    const [first, key] = [await signedIn(), await signedIn()];
    await shift('last_seen_at', '10 minutes');
    const stored = () => api.database.prisma.session.findMany({ where: { user_id: tenant.userId } });
    const { body } = await api.get('/api/users/@me/login_sessions/', key);
    expect(body.map((one: { is_current: boolean }) => one.is_current)).toEqual([true, false]);
    expect(Object.keys(body[0])).toEqual([
      ...['id', 'created_at', 'last_activity', 'location', 'device', 'login_method', 'is_current'],
    ]);
    for (const { token_hash } of await stored()) expect(JSON.stringify(body)).not.toContain(token_hash);
    const seenAt = async () => (await stored()).find(({ id }) => id === body[0].id)?.last_seen_at.getTime() ?? 0;
    const before = Date.now() - 9 * 60_000;
    const noted = await eventually(async () => ((await seenAt()) > before ? await seenAt() : false), {
      what: 'noting the use',
    });
    await me(key);
    await me(key);
    expect(await seenAt()).toBe(noted);
    const other = await createTestTenant(api.database);
    const link = { kind: 'sign_in', userId: other.userId } as const;
    const { secret } = await api.database.transaction((tx) => createOneTimeLink(tx, link));
    const stranger = sessionIn(await post('/api/console_link/', { secret }));
    const path = `/api/users/@me/login_sessions/${body[1].id}/`;
    expect((await api.send('DELETE', path, { key: stranger })).status).toBe(404);
    expect((await me(first)).status).toBe(200);
  });

  test('signin-044: rejects a session as soon as the user has ended it, alone or together with all other sessions', async () => {
    const [one, two, three] = [await signedIn(), await signedIn(), await signedIn()];
    const { body } = await api.get('/api/users/@me/login_sessions/', one);
    const current = (await api.get('/api/users/@me/login_sessions/', two)).body[0].id;
    expect(body.some(({ id }: { id: string }) => id === current)).toBe(true);
    expect((await api.send('DELETE', `/api/users/@me/login_sessions/${current}/`, { key: one })).status).toBe(204);
    expect(await me(two)).toMatchObject(ended);
    const others = await api.send('POST', '/api/users/@me/login_sessions/revoke_others/', { key: one });
    expect(others.body).toEqual({ revoked_count: 1 });
    expect(await me(three)).toMatchObject(ended);
    expect((await me(one)).status).toBe(200);
  });

  test('signin-045: a session ends permanently when the user is deactivated, and loses access with the membership', async () => {
    const key = await signedIn();
    await api.database.prisma.membership.deleteMany({ where: { user_id: tenant.userId } });
    expect((await api.get(`/api/projects/${tenant.projectId}/`, key)).status).toBe(404);
    await setUserActive(api.database.sql, tenant.userId, false);
    await setUserActive(api.database.sql, tenant.userId, true);
    expect(await me(key)).toMatchObject(ended);
  });

  test.each([
    ['72 hours without use', 'last_seen_at', '72 hours'],
    ['14 days', 'expires_at', '14 days'],
  ])('signin-046: a session ends after %s', async (_what, column, interval) => {
    const key = await signedIn();
    await shift(column, interval);
    expect(await me(key)).toMatchObject(ended);
  });

  test('signin-049: a session can create a key with the chosen scopes, but has no `@current` key', async () => {
    const key = await signedIn();
    const body = { label: 'Small', scopes: ['event:read'], scoped_teams: [tenant.environmentId] };
    const made = await api.send('POST', '/api/personal_api_keys/', { key, body });
    expect(made).toMatchObject({ status: 201, body: { scopes: ['event:read'], scoped_teams: [tenant.environmentId] } });
    expect((await api.get('/api/personal_api_keys/@current/', key)).status).toBe(404);
    const path = `/api/personal_api_keys/${made.body.id}/`;
    expect((await api.send('PATCH', path, { key, body: { scopes: ['*'] } })).body.scopes).toEqual(['*']);
  });

  test.each(['GET', 'POST'] as const)('an API key cannot list or end sessions: %s', async (method) => {
    const path = `/api/users/@me/login_sessions/${method === 'POST' ? 'revoke_others/' : ''}`;
    expect((await api.send(method, path, { key: tenant.personalApiKey })).status).toBe(403);
  });
});

describe('setting a new password', () => {
  const change = (key: string, body: object) => api.send('PATCH', '/api/users/@me/', { key, body });
  const next = 'four unrelated words here';

  test('signin-039: a key cannot set a new password', async () => {
    const response = await change(tenant.personalApiKey, { current_password: password, password: next });
    expect(response.status).toBe(403);
    expect((await login()).status).toBe(200);
  });

  test('signin-040: setting a new password requires the correct current one', async () => {
    const key = await signedIn();
    const refused = (code: string) => ({ status: 400, body: { code, attr: 'current_password' } });
    expect(await change(key, { password: next })).toMatchObject(refused('required'));
    expect(await change(key, { password: next, current_password: 'wrong' })).toMatchObject(
      refused('incorrect_password'),
    );
  });

  test('a new password ends all other sessions, keeps the current one, and is recorded without the password', async () => {
    const [other, key] = [await signedIn(), await signedIn()];
    expect((await change(key, { password: next, current_password: password })).status).toBe(200);
    expect(await me(other)).toMatchObject(ended);
    expect((await me(key)).status).toBe(200);
    expect(await login()).toMatchObject(wrong);
    expect((await login({ email, password: next })).status).toBe(200);
    const rows = await api.database.sql.query<{ detail: unknown }>(
      "SELECT detail FROM activity_log WHERE user_id = $1 AND scope = 'User' AND activity = 'updated' ORDER BY created_at",
      [tenant.userId],
    );
    const change_ = { type: 'User', action: 'changed', field: 'password', before: null, after: null };
    expect(rows.at(-1)?.detail).toMatchObject({ changes: [change_] });
  });

  test.each([
    ['signin-006', 'seven characters', 'qW3$kz!', 'at least 8'],
    ['signin-006', '257 characters', 'correct horse '.repeat(19).slice(0, 257), 'at most 256'],
    ['signin-006', 'only spaces', ' '.repeat(12), 'only of whitespace'],
    ['signin-009', 'a common password', 'password123', 'easy to guess'],
    ['signin-009', 'a row of keyboard keys', 'qwertyuiop', 'easy to guess'],
    ['signin-009', 'a repeated word', 'abcabcabcabc', 'easy to guess'],
  ])('%s: rejects %s as a password', async (_case, _what, text, reason) => {
    const response = await change(await signedIn(), { current_password: password, password: text });
    expect(response).toMatchObject({ status: 400, body: { code: 'invalid_input', attr: 'password' } });
    expect(response.body.detail).toContain(reason);
  });

  test('signin-006: rejects a password with a null character', async () => {
    const response = await change(await signedIn(), { current_password: password, password: `${next}\0` });
    expect(response).toMatchObject({ status: 400, body: { code: 'null_characters_not_allowed' } });
  });

  test("signin-009: rejects the user's own email address and name as weak passwords", async () => {
    const key = await signedIn();
    for (const own of [email, `${email.split('@')[0]}1`]) {
      const { status, body } = await change(key, { current_password: password, password: own });
      expect([status, body.attr]).toEqual([400, 'password']);
    }
  });

  test.each([
    ['256 characters', `${'correct horse battery staple '.repeat(9)}x`.slice(0, 256).padEnd(256, 'y')],
    ['eight four-byte characters', '\u{1F40E}\u{1F50B}\u{1F4CE}\u{1F9F2}\u{1F9ED}\u{1F991}\u{1F3BB}\u{1F9CA}'],
  ])('signin-006: accepts %s as a password', async (_what, text) => {
    expect((await change(await signedIn(), { current_password: password, password: text })).status).toBe(200);
    expect((await login({ email, password: text })).status).toBe(200);
  });
});

describe('a sign-in link', () => {
  const make = (userId = tenant.userId) =>
    api.database.transaction((tx) => createOneTimeLink(tx, { kind: 'sign_in', userId }));
  const invalid = { status: 400, body: { type: 'validation_error', code: 'invalid_token', attr: 'secret' } };

  test('a sign-in link signs in once, and viewing it does not invalidate it', async () => {
    const { secret } = await make();
    for (let times = 0; times < 2; times += 1) {
      expect(await post('/api/console_link/look/', { secret })).toMatchObject({
        status: 200,
        body: { kind: 'sign_in', email },
      });
    }
    const response = await post('/api/console_link/', { secret });
    expect(response).toMatchObject({ status: 200, body: { success: true } });
    expect((await me(sessionIn(response))).body.email).toBe(email);
    expect(await post('/api/console_link/', { secret })).toMatchObject(invalid);
    expect(await post('/api/console_link/look/', { secret })).toMatchObject(invalid);
  });

  test('a sign-in link signs in only one of several concurrent requests', async () => {
    const { secret } = await make();
    const responses = await Promise.all([1, 2, 3].map(() => post('/api/console_link/', { secret })));
    expect(responses.map(({ status }) => status).sort()).toEqual([200, 400, 400]);
  });

  test('rejects a sign-in link after its expiry, after a newer link was created, or after its user was deactivated', async () => {
    const old = await make();
    const { secret } = await make();
    expect(await post('/api/console_link/', { secret: old.secret })).toMatchObject(invalid);
    await setUserActive(api.database.sql, tenant.userId, false);
    expect(await post('/api/console_link/', { secret })).toMatchObject(invalid);
    await setUserActive(api.database.sql, tenant.userId, true);
    await api.database.sql.query('UPDATE one_time_link SET expires_at = now() WHERE user_id = $1', [tenant.userId]);
    expect(await post('/api/console_link/', { secret })).toMatchObject(invalid);
  });

  test('a sign-in link allows the user to set a new password without the current one', async () => {
    const key = sessionIn(await post('/api/console_link/', { secret: (await make()).secret }));
    const next = 'four unrelated words here';
    const response = await api.send('PATCH', '/api/users/@me/', { key, body: { password: next } });
    expect(response).toMatchObject({ status: 200, body: { has_password: true } });
    expect((await login({ email, password: next })).status).toBe(200);
  });
});

describe('the first owner of an installation', () => {
  const owner = {
    email: 'First@Example.com',
    first_name: 'Ada',
    password: 'four unrelated words here',
    organization_name: 'Acme',
  };

  test('the first owner is created through a link that works once, gets an organization and a project, and is signed in', async () => {
    const fresh = await startTestApi();
    try {
      const { secret } = await fresh.database.transaction((tx) =>
        createOneTimeLink(tx, { kind: 'first_owner', userId: null }),
      );
      const send = (path: string, body: object) => fresh.send('POST', path, { body });
      expect((await send('/api/console_link/look/', { secret })).body).toEqual({ kind: 'first_owner' });
      for (const [attr, value, code] of [
        ['email', undefined, 'required'],
        ['organization_name', undefined, 'required'],
        ['password', 'password', 'invalid_input'],
      ] as const) {
        const response = await send('/api/console_link/', { ...owner, secret, [attr]: value });
        expect(response).toMatchObject({ status: 400, body: { attr, code } });
      }
      const key = sessionIn(await send('/api/console_link/', { ...owner, secret }));
      const { body } = await fresh.get('/api/users/@me/', key);
      expect(body).toMatchObject({ email: 'first@example.com', organization: { name: 'Acme' }, has_password: true });
      expect(body.team.id).toEqual(expect.any(Number));
      expect((await send('/api/console_link/', { ...owner, secret })).status).toBe(400);
    } finally {
      await fresh.stop();
    }
  });

  test('rejects a link for the first owner if an organization was created after the link', async () => {
    const { secret } = await api.database.transaction((tx) =>
      createOneTimeLink(tx, { kind: 'first_owner', userId: null }),
    );
    const response = await post('/api/console_link/', { ...owner, secret });
    expect(response).toMatchObject({ status: 400, body: { code: 'invalid_token' } });
  });
});

describe('limits on failed sign-ins', () => {
  const from = (address: string) => ({ 'x-forwarded-for': address });
  let served: TestApi;
  let person: TestTenant;
  let address: string;
  beforeAll(async () => {
    const limits = { ...noLimits, signInFailures: 3, signInFailuresOfAccount: 5, anonymousRequestsPerMinute: 2 };
    served = await startTestApi({ limits, trustedProxies: 1 });
  });
  beforeEach(async () => {
    person = await createTestTenant(served.database);
    address = (await findSignInUser(served.database.sql, { id: person.userId }))?.email ?? '';
    const hash = await createPasswords({ cost: 4 }).hash(password);
    await served.database.transaction(async (tx) => {
      const user = await findSignInUser(tx, { id: person.userId });
      if (user) await changePassword(tx, user, { hash, actor: null });
    });
  });
  afterAll(() => served.stop());
  const attempt = (text: string, client: string, who = address) =>
    served.send('POST', '/api/login/', { body: { email: who, password: text }, headers: from(client) });

  test('signin-004, signin-048: after too many failures from an IP address, rejects the right password with Retry-After', async () => {
    for (let count = 0; count < 5; count += 1) expect((await attempt(password, '192.0.2.1')).status).toBe(200);
    for (let count = 0; count < 3; count += 1) {
      expect((await attempt('wrong', '192.0.2.1', `${count}@example.com`)).status).toBe(400);
    }
    const refused = await attempt(password, '192.0.2.1');
    expect(refused).toMatchObject({
      status: 403,
      body: { type: 'authentication_error', code: 'too_many_failed_attempts' },
    });
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0);
    expect((await attempt(password, '192.0.2.2')).status).toBe(200);
  });

  test('signin-004: counts all IP addresses of an IPv6 /64 network together', async () => {
    for (let count = 0; count < 3; count += 1) {
      expect((await attempt('wrong', `2001:db8:1:1::${count}`, `v6-${count}@example.com`)).status).toBe(400);
    }
    expect((await attempt(password, '2001:db8:1:1:ffff::1')).status).toBe(403);
    expect((await attempt(password, '2001:db8:1:2::1')).status).toBe(200);
  });

  test('signin-005, signin-048: slows an account down after failures from many IP addresses, whether or not it exists', async () => {
    for (const who of [address, `unknown-${randomUUID()}@example.com`]) {
      for (let count = 0; count < 5; count += 1) {
        expect((await attempt('wrong', `198.51.100.${count}`, who)).status).toBe(400);
      }
      const slowed = await attempt(password, '203.0.113.9', who);
      expect(slowed).toMatchObject({ status: 429, body: { code: 'throttled' } });
      expect(Number(slowed.headers.get('retry-after'))).toBeGreaterThan(0);
    }
  });

  test("signin-005: does not limit the owner's known device until the password changes, but limits other users' devices", async () => {
    const device = (response: TestResponse) =>
      /millrace_device=[\w-]{43}/.exec(response.headers.get('set-cookie') ?? '')?.[0] ?? '';
    const signInWith = (client: string, cookie: string) =>
      served.send('POST', '/api/login/', {
        body: { email: address, password },
        headers: { ...from(client), ...(cookie !== '' && { cookie }) },
      });
    const own = device(await signInWith('203.0.113.20', ''));
    const stranger = await createTestTenant(served.database);
    const link = { kind: 'sign_in', userId: stranger.userId } as const;
    const { secret } = await served.database.transaction((tx) => createOneTimeLink(tx, link));
    const body = { secret };
    const foreign = device(await served.send('POST', '/api/console_link/', { body, headers: from('203.0.113.21') }));
    expect([own, foreign]).not.toContain('');
    for (let count = 0; count < 5; count += 1) await attempt('wrong', `198.51.100.${100 + count}`);
    expect((await signInWith('203.0.113.22', foreign)).status).toBe(429);
    const known = await signInWith('203.0.113.23', own);
    expect([known.status, device(known)]).toEqual([200, own]);
    const user = await findSignInUser(served.database.sql, { id: person.userId });
    const hash = user?.password_hash ?? '';
    await served.database.transaction(async (tx) => user && changePassword(tx, user, { hash, actor: null }));
    expect((await signInWith('203.0.113.24', own)).status).toBe(429);
  });

  test.each([
    ['/api/login/precheck/', { email: 'a@example.com' }],
    ['/api/console_link/look/', { secret: 'x' }],
    ['/api/console_link/', { secret: 'x' }],
  ])('signin-048: limits the number of requests per IP address to %s', async (path, body) => {
    const client = { headers: from(`192.0.2.${100 + path.length}`), body };
    const statuses: number[] = [];
    for (let count = 0; count < 3; count += 1) statuses.push((await served.send('POST', path, client)).status);
    expect(statuses.at(-1)).toBe(429);
    expect(statuses.slice(0, 2)).not.toContain(429);
  });
});

test('signin-007: limits concurrent password hashes, and returns 429 beyond the limit even for unknown accounts', async () => {
  const passwords = createPasswords({ cost: 14, atOnce: 1, waiting: 2 });
  const outcomes = await Promise.allSettled(Array.from({ length: 50 }, () => passwords.compare('x', null)));
  expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(3);
  for (const outcome of outcomes.slice(3)) {
    expect(outcome).toMatchObject({ status: 'rejected', reason: { kind: 'rate_limited', retryAfterSeconds: 5 } });
  }
  expect(await passwords.compare('x', null)).toBe('wrong');
});

test('a flood of sign-ins does not block a user with a known browser, but delays all others', async () => {
  const passwords = createPasswords({ cost: 16, atOnce: 1, waiting: 1 });
  const busy = await startTestApi({ passwords });
  try {
    const attacked = await createTestTenant(busy.database);
    const user = await findSignInUser(busy.database.sql, { id: attacked.userId });
    if (!user) throw new Error('no user');
    const hash = await passwords.hash(password);
    await busy.database.transaction((tx) => changePassword(tx, user, { hash, actor: null }));
    const enter = (account: string, cookie = '') =>
      busy.send('POST', '/api/login/', {
        body: { email: account, password },
        headers: { ...(cookie && { cookie }) },
      });
    const first = await enter(user.email);
    const device = /millrace_device=[\w-]{43}/.exec(first.headers.get('set-cookie') ?? '')?.[0] ?? '';
    const strangers = Promise.all(Array.from({ length: 20 }, (_, n) => enter(`unknown-${n}@example.com`)));
    const [known, unknown] = await Promise.all([enter(user.email, device), enter(user.email)]);
    expect([known.status, unknown.status]).toEqual([200, 429]);
    expect((await strangers).filter(({ status }) => status === 429).length).toBeGreaterThan(10);
  } finally {
    await busy.stop();
  }
});

test('if CONSOLE=off, no route signs users in, and cookies are ignored', async () => {
  const off = await startTestApi({ withSignIn: false });
  const cookie = sessionKey('x'.repeat(43));
  const responses = await Promise.all([
    off.send('POST', '/api/login/', { body: { email, password } }),
    off.send('POST', '/api/console_link/', { body: { secret: 'x' } }),
    off.get('/api/users/@me/', cookie),
  ]);
  await off.stop();
  expect(responses.map(({ status, body }) => [status, body.detail])).toEqual([
    [404, 'Endpoint not found.'],
    [404, 'Endpoint not found.'],
    [401, 'Authentication credentials were not provided.'],
  ]);
});
