import { createHmac, createSign, generateKeyPairSync, type KeyObject } from 'node:crypto';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createOidcSignIn } from './oidc-sign-in.ts';
import type { OidcProvider } from './outcome.ts';
import { createProviders } from './providers.ts';

/** A provider whose responses each test can replace, even with responses that no real provider sends. */
let server: Server;
let issuer: string;
const [key, other] = [newKey(), newKey()];
function newKey(): { privateKey: KeyObject; jwk: object } {
  const { privateKey, publicKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
  return { privateKey, jwk: publicKey.export({ format: 'jwk' }) };
}
type Answer = (request: IncomingMessage, response: ServerResponse) => void;
/** Responses that replace the correct ones, by path. */
let answers: Record<string, Answer>;
let asked: string[];
let token: (nonce: string) => string;
const json =
  (body: unknown, status = 200): Answer =>
  (_request, response) => {
    response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
  };
const part = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url');
function jwt(claims: object, { header = {}, signer = key }: { header?: object; signer?: typeof key } = {}): string {
  const text = `${part({ alg: 'RS256', kid: 'k', ...header })}.${part(claims)}`;
  const { alg = 'RS256' } = header as { alg?: string };
  if (alg === 'none') return `${text}.`;
  if (alg === 'HS256') return `${text}.${createHmac('sha256', client.clientSecret).update(text).digest('base64url')}`;
  return `${text}.${createSign('sha256').update(text).sign(signer.privateKey, 'base64url')}`;
}
const now = () => Math.floor(Date.now() / 1000);
const client = { clientId: 'millrace', clientSecret: 'a secret of more than thirty-two characters' };
const claims = (nonce: string, changed: object = {}) => ({
  ...{ iss: issuer, sub: 'ada', aud: client.clientId, exp: now() + 300, iat: now(), nonce },
  ...{ email: 'ada@corp.example', email_verified: true, given_name: 'Ada', family_name: 'Lovelace' },
  ...changed,
});
let nonce: string;
beforeAll(async () => {
  server = createServer((request, response) => {
    const path = request.url?.split('?')[0] ?? '';
    asked.push(path);
    const usual: Record<string, Answer> = {
      '/.well-known/openid-configuration': json(metadata()),
      '/jwks': json({ keys: [{ ...key.jwk, kid: 'k', alg: 'RS256', use: 'sig' }] }),
      '/token': (_request, response) =>
        json({ access_token: 'a', token_type: 'bearer', id_token: token(nonce) })(request, response),
    };
    (answers[path] ?? usual[path] ?? json({}, 404))(request, response);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterAll(() => {
  server.closeAllConnections();
  server.close();
});
beforeEach(() => {
  answers = {};
  asked = [];
  token = (nonce) => jwt(claims(nonce));
});
const metadata = (changed: object = {}) => ({
  ...{
    issuer,
    authorization_endpoint: `${issuer}/authorize`,
    token_endpoint: `${issuer}/token`,
    jwks_uri: `${issuer}/jwks`,
  },
  ...{ response_types_supported: ['code'], subject_types_supported: ['public'] },
  id_token_signing_alg_values_supported: ['RS256', 'HS256', 'none'],
  ...changed,
});
const provider = (changed: Partial<OidcProvider> = {}): OidcProvider => ({
  ...{ kind: 'oidc', name: 'Test', issuer, ...client, isConfiguredByOperator: true, ...changed },
});
const redirectUri = 'https://millrace.example/complete/oidc/';

async function signIn(
  callback: (state: string) => string = (state) => `code=c&state=${state}`,
  reauthenticate = false,
) {
  const oidc = createOidcSignIn({ mayBePrivate: false });
  const begun = await oidc.begin(provider(), { redirectUri, reauthenticate });
  if (!begun.ok) return begun;
  nonce = begun.secrets.nonce;
  const { state, secrets } = begun;
  return oidc.finish(provider(), { callbackUrl: `${redirectUri}?${callback(state)}`, redirectUri, state, secrets });
}

test("identifies the user from an OpenID provider's valid response", async () => {
  expect(await signIn()).toEqual({
    ok: true,
    identity: {
      ...{ subject: 'ada', email: 'ada@corp.example', isEmailVerified: true, firstName: 'Ada', lastName: 'Lovelace' },
      attributes: expect.objectContaining({ email: ['ada@corp.example'], email_verified: ['true'] }),
    },
  });
});

test("accepts an email address as verified if Microsoft's claim says that its domain's owner is verified", async () => {
  token = (nonce) => jwt(claims(nonce, { email_verified: undefined, xms_edov: true }));
  expect(await signIn()).toMatchObject({ ok: true, identity: { isEmailVerified: true } });
});

test('starts a sign-in with an OpenID provider with state, nonce and PKCE', async () => {
  const oidc = createOidcSignIn({ mayBePrivate: false });
  const begun = await oidc.begin(provider(), { redirectUri, loginHint: 'ada@corp.example', reauthenticate: true });
  const query = begun.ok ? Object.fromEntries(new URL(begun.url).searchParams) : {};
  expect(query).toMatchObject({
    ...{ client_id: 'millrace', redirect_uri: redirectUri, response_type: 'code', scope: 'openid email profile' },
    ...{ code_challenge_method: 'S256', login_hint: 'ada@corp.example', prompt: 'login', max_age: '0' },
    ...{ state: expect.stringMatching(/^[\w-]{43}$/), nonce: expect.stringMatching(/^[\w-]{43}$/) },
  });
});

const badTokens: [string, string, (nonce: string) => string][] = [
  ['another issuer', 'wrong_issuer', (nonce) => jwt(claims(nonce, { iss: 'https://other.example' }))],
  ['another audience', 'wrong_audience', (nonce) => jwt(claims(nonce, { aud: 'other' }))],
  [
    'two audiences and another azp',
    'wrong_audience',
    (nonce) => jwt(claims(nonce, { aud: ['millrace', 'other'], azp: 'other' })),
  ],
  ['one audience and another azp', 'wrong_audience', (nonce) => jwt(claims(nonce, { azp: 'other' }))],
  ['an azp that is not a string', 'wrong_audience', (nonce) => jwt(claims(nonce, { azp: 7 }))],
  ['an empty sub', 'no_subject', (nonce) => jwt(claims(nonce, { sub: '' }))],
  ['a blank sub', 'no_subject', (nonce) => jwt(claims(nonce, { sub: ' ' }))],
  ['a sub of 257 characters', 'no_subject', (nonce) => jwt(claims(nonce, { sub: 'x'.repeat(257) }))],
  ['a null character in the sub', 'no_subject', (nonce) => jwt(claims(nonce, { sub: 'a\0' }))],
  ['expired', 'expired', (nonce) => jwt(claims(nonce, { exp: now() - 120 }))],
  ['another nonce', 'wrong_nonce', () => jwt(claims('other'))],
  ['no nonce', 'wrong_nonce', () => jwt(claims('x', { nonce: undefined }))],
  ['no signature', 'weak_algorithm', (nonce) => jwt(claims(nonce), { header: { alg: 'none' } })],
  ['a signature with the shared secret', 'weak_algorithm', (nonce) => jwt(claims(nonce), { header: { alg: 'HS256' } })],
  ['another key', 'bad_signature', (nonce) => jwt(claims(nonce), { signer: other })],
  ['an unknown key', 'bad_signature', (nonce) => jwt(claims(nonce), { header: { kid: 'unknown' } })],
];
test.each(badTokens)('sso-152: rejects an ID token with %s: %s', async (_, reason, made) => {
  token = made;
  const outcome = await signIn();
  expect(outcome).toMatchObject({ ok: false, reason });
  expect((outcome as { detail: string }).detail).toMatch(/^The .+\.$/);
});

test('sso-152: rejects a provider that has two signing keys with the same ID', async () => {
  const shown = { ...key.jwk, kid: 'k', alg: 'RS256', use: 'sig' };
  answers['/jwks'] = json({ keys: [shown, { ...other.jwk, kid: 'k', alg: 'RS256', use: 'sig' }] });
  expect(await signIn()).toMatchObject({ ok: false, reason: 'bad_signature' });
});

test('rejects an OpenID response without the required reauthentication', async () => {
  expect(await signIn(undefined, true)).toMatchObject({ ok: false, reason: 'not_recent' });
  token = (nonce) => jwt(claims(nonce, { auth_time: now() - 4000 }));
  expect(await signIn(undefined, true)).toMatchObject({ ok: false, reason: 'not_recent' });
  token = (nonce) => jwt(claims(nonce, { auth_time: now() }));
  expect(await signIn(undefined, true)).toMatchObject({ ok: true });
});

const badCallbacks: [string, string, (state: string) => string][] = [
  ['sso-156: refused by the user', 'denied', (state) => `error=access_denied&state=${state}`],
  [
    'sso-156: with another error, whose text is not shown',
    'provider_refused',
    (state) => `error=%3Cscript%3E&state=${state}`,
  ],
  ['sso-151: with a wrong state', 'wrong_state', () => 'code=c&state=other'],
  ['sso-151: without a state', 'wrong_state', () => 'code=c'],
  ['sso-155: from another issuer', 'wrong_issuer', (state) => `code=c&state=${state}&iss=https%3A%2F%2Fother.example`],
];
test.each(badCallbacks)('%s: rejects an OpenID response with the reason %s', async (_, reason, callback) => {
  const outcome = await signIn(callback);
  expect(outcome).toMatchObject({ ok: false, reason });
  expect(JSON.stringify(outcome)).not.toContain('<');
});

test('sso-151: reports that an OpenID provider rejected the code', async () => {
  answers['/token'] = json({ error: 'invalid_grant' }, 400);
  expect(await signIn()).toMatchObject({
    ok: false,
    reason: 'provider_refused',
    detail: expect.stringContaining('invalid_grant'),
  });
});

const badProviders: [string, string, Answer][] = [
  ['an issuer that differs from its URL', 'wrong_issuer', json(metadata({ issuer: 'https://other.example' }))],
  ['a redirect', 'provider_refused', (_request, response) => response.writeHead(302, { location: '/elsewhere' }).end()],
  [
    'a body that is not JSON',
    'provider_refused',
    (_request, response) => response.writeHead(200, { 'content-type': 'text/html' }).end('<html>'),
  ],
  [
    '5 MiB',
    'provider_unreachable',
    (_request, response) =>
      response.writeHead(200, { 'content-type': 'application/json' }).end(Buffer.alloc(5 * 1024 * 1024)),
  ],
  [
    'a truncated body',
    'provider_unreachable',
    (_request, response) => response.writeHead(200, { 'content-length': '100' }).write('{', () => response.destroy()),
  ],
];
test.each(badProviders)('sso-154: rejects an OpenID provider that returns %s: %s', async (_, reason, answer) => {
  answers['/.well-known/openid-configuration'] = answer;
  expect(await signIn()).toMatchObject({ ok: false, reason });
  expect(asked).not.toContain('/elsewhere');
});

test("sso-154: sends no request to an organization's provider in a private network or without TLS", async () => {
  const oidc = createOidcSignIn({ mayBePrivate: false });
  const begin = (issuer: string) => oidc.begin(provider({ isConfiguredByOperator: false, issuer }), { redirectUri });
  expect(await begin(issuer)).toMatchObject({ ok: false, reason: 'provider_unreachable' });
  expect(await begin(issuer.replace('http:', 'https:'))).toMatchObject({
    ok: false,
    detail: expect.stringContaining('EPRIVATEADDRESS'),
  });
  expect(await begin('https://localhost:1')).toMatchObject({
    ok: false,
    detail: expect.stringContaining('EPRIVATEADDRESS'),
  });
  expect(asked).toEqual([]);
});

describe('sign-in with GitHub', () => {
  const github = () => provider({ kind: 'github' });
  async function byGitHub(emails: object[], callback = (state: string) => `code=c&state=${state}`) {
    answers['/login/oauth/access_token'] = json({ access_token: 'gho_x', token_type: 'bearer' });
    answers['/api/v3/user'] = json({ id: 583231, login: 'ada', name: 'Ada King Lovelace' });
    answers['/api/v3/user/emails'] = json(emails);
    const oidc = createOidcSignIn({ mayBePrivate: false });
    const begun = await oidc.begin(github(), { redirectUri });
    if (!begun.ok) return begun;
    const { state, secrets } = begun;
    return oidc.finish(github(), { callbackUrl: `${redirectUri}?${callback(state)}`, redirectUri, state, secrets });
  }
  const primary = { email: 'ada@corp.example', primary: true, verified: true };

  test('sso-153: identifies the account by its numeric ID, and uses the primary email address', async () => {
    const identity = {
      subject: '583231',
      email: 'ada@corp.example',
      isEmailVerified: true,
      firstName: 'Ada',
      lastName: 'King Lovelace',
    };
    expect(await byGitHub([{ email: 'b@b.example', primary: false, verified: true }, primary])).toMatchObject({
      ok: true,
      identity,
    });
  });

  test.each([
    ['the primary address is not verified', [{ ...primary, verified: false }], { isEmailVerified: false }],
    ['no address is primary', [{ ...primary, primary: false }], { email: null, isEmailVerified: false }],
  ])('sso-153: returns no verified email address when %s', async (_, emails, identity) => {
    expect(await byGitHub(emails)).toMatchObject({ ok: true, identity });
  });

  test('GitHub sign-in reports a wrong state and a refusal by the user, and cannot require reauthentication', async () => {
    expect(await byGitHub([primary], () => 'code=c&state=other')).toMatchObject({ ok: false, reason: 'wrong_state' });
    expect(await byGitHub([primary], (state) => `error=access_denied&state=${state}`)).toMatchObject({
      ok: false,
      reason: 'denied',
    });
    const oidc = createOidcSignIn({ mayBePrivate: false });
    expect(await oidc.begin(github(), { redirectUri, reauthenticate: true })).toMatchObject({
      ok: false,
      reason: 'not_recent',
    });
  });
});

test('rejects a provider with missing settings', () => {
  const config = {
    oidcName: 'Example',
    googleClientId: 'id',
    googleClientSecret: 'secret',
    publicApiUrl: 'https://a.example',
  };
  expect([...createProviders(config)]).toMatchObject([
    ['google-oauth2', { name: 'Google', clientId: 'id', clientSecret: 'secret' }],
  ]);
  expect(() => createProviders({ ...config, publicApiUrl: undefined })).toThrow(
    'PUBLIC_API_URL is required with GOOGLE_CLIENT_ID',
  );
  expect(createProviders({ oidcName: 'Example' }).size).toBe(0);
  for (const part of [{ googleClientId: 'id' }, { githubClientSecret: 's' }, { oidcIssuer: 'https://a.example' }]) {
    expect(() => createProviders({ oidcName: 'Example', ...part })).toThrow(
      /Set all of .*CLIENT_ID, .*CLIENT_SECRET, or none of them/,
    );
  }
});
