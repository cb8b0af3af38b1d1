import { randomUUID } from 'node:crypto';
import {
  addMember,
  changePassword,
  createPasswords,
  createPersonalApiKey,
  createUser,
  findSignInUser,
  setOrganizationPlan,
  setUserActive,
} from '@millrace/accounts';
import { createLogger, createMetrics } from '@millrace/runtime';
import { createMailer, type Mailer } from '@millrace/runtime/mail';
import { createTestTenant, eventually, type MailServer, startMailServer, type TestTenant } from '@millrace/testing';
import { type OpenIdProvider, type Person, startOpenIdProvider } from '@millrace/testing/openid-provider';
import { createTestKey } from '@millrace/testing/provider-key';
import { softwarePasskey } from '../../testing/software-passkey.ts';
import { noLimits, signInAs, startTestApi, type TestApi, testSecretBox } from '../../testing/start-test-api.ts';
import { createWalkingBrowser } from '../../testing/walking-browser.ts';
import { encode, type SamlResponseParts, samlXml, sign } from '../saml/testing/saml-response.ts';

/** Tests sign-in through a provider over HTTP, with a real OpenID provider and signed SAML messages. */
let mailServer: MailServer;
let mailer: Mailer;
const metrics = createMetrics({ withProcessMetrics: false });
let api: TestApi;
/** One test server that is both the installation's GitLab provider and the domains' own provider. */
let provider: OpenIdProvider;
const redirects: string[] = [];
const key = createTestKey();
const entityId = 'https://idp.example/entity';
let tenant: TestTenant;
let domainId: string;
let domain: string;
let owner: string;
let count = 0;
beforeAll(async () => {
  mailServer = await startMailServer();
  const logger = createLogger('test', 'error');
  mailer = createMailer(
    { url: mailServer.url, from: 'Millrace <no-reply@millrace.test>', timeoutMs: 60_000 },
    { logger, metrics },
  );
  provider = await startOpenIdProvider(() => redirects);
  const { issuer, client } = provider;
  const gitlab = {
    kind: 'gitlab',
    name: 'GitLab',
    issuer,
    clientId: client.id,
    clientSecret: client.secret,
    isConfiguredByOperator: true,
  } as const;
  api = await startTestApi(
    { metrics, installedProviders: new Map([['gitlab', gitlab]]), trustedProxies: 0 },
    { mailer },
  );
  redirects.push(`${api.url}/complete/gitlab/`);
});
beforeEach(async () => {
  tenant = await createTestTenant(api.database);
  count += 1;
  domain = `corp-${count}.example`;
  domainId = randomUUID();
  owner = `owner@${domain}`;
  await sql(`UPDATE "user" SET email = $2, is_email_verified = true WHERE id = $1`, [tenant.userId, owner]);
  await sql(
    `INSERT INTO organization_domain (id, organization_id, domain, verification_challenge, verified_at, jit_provisioning_enabled,
                                      saml_entity_id, saml_acs_url, saml_x509_cert)
     VALUES ($1, $2, $3, 'challenge', now(), true, $4, 'https://idp.example/sso', $5)`,
    [domainId, tenant.organizationId, domain, entityId, key.certificate],
  );
  provider.person = null;
});
afterAll(async () => {
  await api.stop();
  await provider.stop();
  await mailer.stop();
  await mailServer.stop();
});

const sql = <T extends Record<string, unknown>>(text: string, values: unknown[] = []) =>
  api.database.sql.query<T>(text, values);
const newBrowser = () => createWalkingBrowser(/^\/console\//);
const sessionOf = (browser: ReturnType<typeof newBrowser>) =>
  /millrace_session=[\w-]{43}/.exec(browser.cookies(api.url))?.[0];
const me = async (browser: ReturnType<typeof newBrowser>) => {
  const session = sessionOf(browser);
  return session === undefined ? null : (await api.get('/api/users/@me/', session)).body;
};
const path = (url: URL) => url.pathname + url.search.replace(/&?error_id=[^&]*/, '');
const level = async (email: string) =>
  (
    await sql<{ level: number }>(
      'SELECT m.level FROM membership m JOIN "user" u ON u.id = m.user_id WHERE u.email = $1 AND m.organization_id = $2',
      [email, tenant.organizationId],
    )
  )[0]?.level;
const tries = async () =>
  (
    await api.get(
      `/api/organizations/${tenant.organizationId}/domains/${domainId}/sign_in_tries/`,
      await signInAs(api, tenant.userId),
    )
  ).body.results;
const isMailed = (to: string, subject: string) =>
  eventually(
    async () => mailServer.mails.some((mail) => mail.to.includes(to) && mail.headers.subject?.includes(subject)),
    { what: `${subject} to ${to}` },
  );

async function byGitLab(claims: Person, { subject = randomUUID() as string, browser = newBrowser(), query = '' } = {}) {
  provider.person = { subject, claims };
  browser.forget(provider.issuer);
  const end = await browser.walk(`${api.url}/login/gitlab/?next=/console/events${query}`);
  return { browser, end: path(end), subject };
}
const verified = (email: string) => ({ email, email_verified: true, given_name: 'Ada', family_name: 'Lovelace' });

async function beginSaml(browser = newBrowser(), query = `?email=x@${domain}`) {
  const response = await browser.step(`${api.url}/login/saml/${query}`);
  const location = new URL(response.headers.get('location') ?? '');
  const relayState = location.searchParams.get('RelayState') ?? '';
  const step = (
    await sql<{ data: { requestId: string } }>('SELECT data FROM sign_in_step ORDER BY expires_at DESC LIMIT 20')
  )
    .map(({ data }) => data.requestId)
    .filter((requestId) => typeof requestId === 'string');
  return { browser, location, relayState, requestId: step[0] ?? '' };
}
const encodedResponse = (requestId: string | null, parts: Partial<SamlResponseParts> = {}) => {
  const usual: SamlResponseParts = {
    ...{
      issuer: entityId,
      responseIssuer: entityId,
      acsUrl: `${api.url}/complete/saml/`,
      destination: null,
      audiences: [[api.url]],
    },
    ...{
      inResponseTo: requestId,
      responseInResponseTo: requestId,
      nameId: randomUUID(),
      nameIdFormat: 'urn:oasis:names:tc:SAML:2.0:nameid-format:persistent',
    },
    ...{
      attributes: { email: [`ada@${domain}`], first_name: ['Ada'] },
      now: new Date(),
      notBefore: -5,
      notOnOrAfter: 5,
      confirmedUntil: 5,
      sessionUntil: 60,
    },
    ...{ status: 'urn:oasis:names:tc:SAML:2.0:status:Success', id: randomUUID(), more: '' },
  };
  return encode(sign(samlXml({ ...usual, ...parts }), { key }));
};
async function bySaml(
  parts: Partial<SamlResponseParts> = {},
  { browser = newBrowser(), query = `?email=x@${domain}` } = {},
) {
  await sql('DELETE FROM sign_in_step');
  const { relayState, requestId } = await beginSaml(browser, query);
  const form = { SAMLResponse: encodedResponse(requestId, parts), RelayState: relayState };
  const end = await browser.walk(`${api.url}/complete/saml/`, { form });
  return { browser, end: path(end), form };
}
const domainPath = () => `/api/organizations/${tenant.organizationId}/domains/${domainId}/`;
const change = (body: object) => async () =>
  api.send('PATCH', domainPath(), { key: await signInAs(api, tenant.userId), body });
const changeSignOn = async (body: object) =>
  api.send('PATCH', `${domainPath()}sign_on/`, { key: await signInAs(api, tenant.userId), body });
const signOn = async () => (await api.get(`${domainPath()}sign_on/`, await signInAs(api, tenant.userId))).body;
const ownerSignsIn = () => bySaml({ attributes: { email: [owner] } });
async function enforceSaml(): Promise<void> {
  await change({ sso_enforcement: 'saml' })();
  expect((await signOn()).sso_enforcement_state).toBe('waiting');
  await ownerSignsIn();
}
async function setPassword(userId: number): Promise<void> {
  const hash = await createPasswords({ cost: 4 }).hash('correct horse battery staple');
  await api.database.transaction(async (tx) => {
    const user = await findSignInUser(tx, { id: userId });
    if (user) await changePassword(tx, user, { hash, actor: null });
  });
}
const login = (email: string) =>
  api.send('POST', '/api/login/', { body: { email, password: 'correct horse battery staple' } });

describe('an installation-wide OpenID provider', () => {
  test('sso-161: adds a user to the organization if the email address is in a domain that allows automatic joining', async () => {
    const { browser, end } = await byGitLab(verified(`ada@${domain.toUpperCase()}`));
    expect(end).toBe('/console/events');
    expect(await me(browser)).toMatchObject({
      email: `ada@${domain}`,
      first_name: 'Ada',
      last_name: 'Lovelace',
      is_email_verified: true,
      has_password: false,
      has_social_auth: true,
    });
    expect(await level(`ada@${domain}`)).toBe(1);
  });

  const outcomes: [string, Person, string][] = [
    [
      'sso-153: an address that is not verified',
      { email: 'NEW', email_verified: false },
      '/console/sign-in?error_code=email_not_verified',
    ],
    [
      'sso-153: an address without the verified claim',
      { email: 'NEW' },
      '/console/sign-in?error_code=email_not_verified',
    ],
    ['sso-153: no address', {}, '/console/sign-in?error_code=no_email'],
    [
      'sso-161: an address in an unknown domain',
      { email: 'ada@nowhere.example', email_verified: true },
      '/console/sign-in?error_code=no_new_organizations',
    ],
    [
      'sso-103: an address in a subdomain',
      { email: 'SUB', email_verified: true },
      '/console/sign-in?error_code=no_new_organizations',
    ],
  ];
  test.each(outcomes)('does not sign in %s', async (_, { email, ...claims }, ends) => {
    const address = email === 'NEW' ? `ada@${domain}` : email === 'SUB' ? `ada@sub.${domain}` : email;
    const { browser, end } = await byGitLab({ ...(address !== undefined && { email: address }), ...claims });
    expect(end).toBe(ends);
    expect(sessionOf(browser)).toBeUndefined();
    expect(await sql('SELECT FROM "user" WHERE email = $1', [address ?? ''])).toEqual([]);
  });

  const withoutJit: [string, () => Promise<unknown>][] = [
    [
      'turned off',
      () => sql('UPDATE organization_domain SET jit_provisioning_enabled = false WHERE id = $1', [domainId]),
    ],
    [
      'missing in the plan',
      () =>
        api.database.transaction((tx) => setOrganizationPlan(tx, tenant.organizationId, { plan: 'free', actor: null })),
    ],
  ];
  test.each(withoutJit)('sso-161: users do not join automatically if automatic joining is %s', async (_, prepare) => {
    await prepare();
    expect((await byGitLab(verified(`ada@${domain}`))).end).toBe('/console/sign-in?error_code=jit_not_enabled');
  });

  test('sso-168: users do not join through a domain whose DNS record has been missing for more than seven days', async () => {
    await sql(`UPDATE organization_domain SET proof_missing_since = now() - interval '8 days' WHERE id = $1`, [
      domainId,
    ]);
    const { end } = await byGitLab(verified(`ada@${domain}`));
    expect(end).toBe('/console/sign-in?error_code=no_new_organizations');
  });

  test("sso-161: adds a user with an account at the next sign-in, and keeps an existing member's level", async () => {
    const user = await createUser(api.database.sql, { email: `ada@${domain}`, isEmailVerified: true });
    await byGitLab(verified(user.email));
    expect(await level(user.email)).toBe(1);
    await sql('UPDATE membership SET level = 8 WHERE user_id = $1', [user.id]);
    await byGitLab(verified(user.email));
    expect(await level(user.email)).toBe(8);
  });

  test('sso-165: treats an internationalized domain name and its xn-- form as one domain, in any case', async () => {
    await sql('UPDATE organization_domain SET domain = $2 WHERE id = $1', [domainId, `xn--bcher-kva.${domain}`]);
    for (const [at, host] of [`bücher.${domain}`, `BÜCHER.${domain}`, `XN--BCHER-KVA.${domain}`].entries()) {
      const { browser, end } = await byGitLab(verified(`ada${at}@${host}`));
      expect([host, end]).toEqual([host, '/console/events']);
      expect((await me(browser)).organization.id).toBe(tenant.organizationId);
    }
  });

  test('sso-162: creates one user and one membership for concurrent first sign-ins', async () => {
    const claims = verified(`ada@${domain}`);
    provider.person = { subject: 'the same', claims };
    const ends = await Promise.all(
      [1, 2, 3].map(() => newBrowser().walk(`${api.url}/login/gitlab/?next=/console/events`)),
    );
    expect(ends.map(path)).toEqual(Array(3).fill('/console/events'));
    expect(
      await sql('SELECT FROM "user" u JOIN membership m ON m.user_id = u.id WHERE u.email = $1', [claims.email]),
    ).toHaveLength(1);
  });

  test('sso-166: does not sign in a deactivated user', async () => {
    const user = await createUser(api.database.sql, { email: `ada@${domain}`, isEmailVerified: true });
    await setUserActive(api.database.sql, user.id, false);
    expect((await byGitLab(verified(user.email))).end).toBe('/console/sign-in?error_code=account_disabled');
  });

  test('sso-167: adds a removed member again at the next sign-in, unless an administrator has blocked the address', async () => {
    const organization = `/api/organizations/${tenant.organizationId}`;
    const { subject } = await byGitLab(verified(`ada@${domain}`));
    const remove = async (query: string) => {
      const session = await signInAs(api, tenant.userId);
      const [{ uuid } = { uuid: '' }] = await sql<{ uuid: string }>('SELECT uuid FROM "user" WHERE email = $1', [
        `ada@${domain}`,
      ]);
      return (await api.send('DELETE', `${organization}/members/${uuid}/${query}`, { key: session })).status;
    };
    expect(await remove('')).toBe(204);
    await byGitLab(verified(`ada@${domain}`), { subject });
    expect(await level(`ada@${domain}`)).toBe(1);
    expect(await remove('?keep_out=true')).toBe(204);
    const session = await signInAs(api, tenant.userId);
    expect((await api.get(`${organization}/kept_out/`, session)).body.results).toMatchObject([
      { email: `ada@${domain}` },
    ]);
    expect((await byGitLab(verified(`ada@${domain}`), { subject })).end).toBe('/console/events');
    expect(await level(`ada@${domain}`)).toBeUndefined();
    expect((await api.send('DELETE', `${organization}/kept_out/ada@${domain}/`, { key: session })).status).toBe(204);
    expect((await api.send('DELETE', `${organization}/kept_out/ada@${domain}/`, { key: session })).status).toBe(404);
    await byGitLab(verified(`ada@${domain}`), { subject });
    expect(await level(`ada@${domain}`)).toBe(1);
  });

  test('sso-144: removes the credentials of an account with an unverified email address', async () => {
    const user = await createUser(api.database.sql, { email: `ada@${domain}` });
    await setPassword(user.id);
    const prepared = await signInAs(api, user.id);
    const { browser } = await byGitLab(verified(user.email));
    expect(await me(browser)).toMatchObject({ uuid: user.uuid, has_password: false, is_email_verified: true });
    expect((await api.get('/api/users/@me/', prepared)).status).toBe(401);
    await isMailed(user.email, 'Your account was secured');
  });

  test('sso-144: keeps the password of an account with a verified email address, and notifies the user', async () => {
    await setPassword(tenant.userId);
    const { browser } = await byGitLab(verified(owner));
    expect(await me(browser)).toMatchObject({ email: owner, has_password: true, has_social_auth: true });
    await isMailed(owner, 'A sign-in method was added');
  });

  test("requires the account's own second factor after a sign-in through the provider", async () => {
    await sql(`INSERT INTO user_totp (user_id, secret, last_step) VALUES ($1, 'x', 0)`, [tenant.userId]);
    const { browser, end } = await byGitLab(verified(owner));
    expect(end).toBe('/console/sign-in?second_factor=1&next=%2Fconsole%2Fevents');
    expect(sessionOf(browser)).toBeUndefined();
  });

  test('signin-024: signs in without a second factor if only an organization requires one', async () => {
    await sql('UPDATE organization SET enforce_2fa = true WHERE id = $1', [tenant.organizationId]);
    const { browser } = await byGitLab(verified(owner));
    expect((await api.get(`/api/organizations/${tenant.organizationId}/`, sessionOf(browser))).status).toBe(200);
  });

  test('sso-156: returns to the sign-in page if the provider refuses the sign-in, without showing its message', async () => {
    const end = await newBrowser().walk(`${api.url}/login/gitlab/`);
    expect(path(end)).toBe('/console/sign-in?error_code=sso_denied');
    expect(end.searchParams.get('error_id')).toMatch(/^[\w-]{36}$/);
  });

  test('sso-151: accepts a response once, only in the browser that started the sign-in and with its state', async () => {
    provider.person = { subject: 's', claims: verified(owner) };
    const browser = newBrowser();
    let result = '';
    for (let at = `${api.url}/login/gitlab/`; !result; ) {
      const response = await browser.step(at);
      at = new URL(response.headers.get('location') ?? '', at).href;
      if (at.startsWith(`${api.url}/complete/`)) result = at;
    }
    const failed = (code: string) => `/console/sign-in?error_code=${code}`;
    const unknown = result.replace(/state=[^&]*/, 'state=other');
    expect(path(await browser.walk(unknown))).toBe(failed('state_unknown'));
    expect(path(await browser.walk(result.replace(/state=[^&]*&?/, '')))).toBe(failed('state_unknown'));
    expect(path(await newBrowser().walk(result))).toBe(failed('other_browser'));
    // A `state` is valid only once, and the other browser has already sent this one.
    expect(path(await browser.walk(result))).toBe(failed('state_unknown'));
    expect(sessionOf(browser)).toBeUndefined();
  });

  test('sso-155: rejects a response for another redirect URL or from another provider', async () => {
    provider.person = { subject: 's', claims: verified(owner) };
    const go = async (changed: (response: string) => string) => {
      const browser = newBrowser();
      for (let at = `${api.url}/login/gitlab/`; ; ) {
        const response = await browser.step(at);
        at = new URL(response.headers.get('location') ?? '', at).href;
        if (at.startsWith(`${api.url}/complete/`)) return path(await browser.walk(changed(at)));
      }
    };
    expect(await go((at) => at.replace('/gitlab/', '/github/'))).toBe('/console/sign-in?error_code=state_unknown');
    expect(await go((at) => at.replace('/gitlab/', `/oidc/${domainId}/`))).toBe(
      '/console/sign-in?error_code=state_unknown',
    );
    expect(await go((at) => at.replace(/iss=[^&]*/, 'iss=https%3A%2F%2Fother.example'))).toBe(
      '/console/sign-in?error_code=social_login_failure',
    );
    expect(await go((at) => at.replace(/code=[^&]*/, 'code=other'))).toBe(
      '/console/sign-in?error_code=social_login_failure',
    );
    expect(await go((at) => at)).toBe('/console/');
  });

  test.each([
    'https://evil.example/',
    'https:evil.example',
    '//evil.example',
    '/\\evil.example',
    '\\\\evil.example',
    '/\t/evil.example',
    '%2F%2Fevil.example',
    '@evil.example',
    'javascript:alert(1)',
    'console',
    '/a\nb',
    `/${'x'.repeat(3000)}`,
  ])('signin-014, sso-140: does not redirect to %s after the sign-in', async (next) => {
    provider.person = { subject: 's', claims: verified(owner) };
    expect(path(await newBrowser().walk(`${api.url}/login/gitlab/?next=${encodeURIComponent(next)}`))).toBe(
      '/console/',
    );
  });

  test.each([
    ['nothing', 'invalid_sso_provider'],
    ['github', 'improperly_configured_sso'],
    ['oidc', 'improperly_configured_sso'],
    ['saml', 'improperly_configured_sso'],
  ])('shows an error for a provider that is not set up: %s', async (name, code) => {
    expect(path(await newBrowser().walk(`${api.url}/login/${name}/`))).toBe(`/console/sign-in?error_code=${code}`);
  });
});

describe('confirming a session through a provider', () => {
  test("signin-042: a confirmation through a provider succeeds only with the session's own account", async () => {
    const { browser, subject } = await byGitLab(verified(owner));
    const before = sessionOf(browser) ?? '';
    await sql(`UPDATE session SET signed_in_at = now() - interval '3 hours' WHERE user_id = $1`, [tenant.userId]);
    expect((await byGitLab(verified(`eve@${domain}`), { browser, query: '&reauth=true' })).end).toBe(
      '/console/sign-in?error_code=reauth_user_mismatch',
    );
    expect(sessionOf(browser)).toBe(before);
    expect((await byGitLab(verified(owner), { browser, subject, query: '&reauth=true' })).end).toBe('/console/events');
    expect(sessionOf(browser)).not.toBe(before);
    expect((await api.get('/api/users/@me/', before)).status).toBe(401);
    const made = await api.send('POST', '/api/personal_api_keys/', {
      key: sessionOf(browser) ?? '',
      body: { label: 'k', scopes: ['user:read'] },
    });
    expect(made.status).toBe(201);
  });

  test('signin-042: a confirmation through SAML works only if the user authenticated again', async () => {
    const nameId = randomUUID();
    const { browser } = await bySaml({ nameId });
    const before = sessionOf(browser);
    const query = `?email=x@${domain}&reauth=true&next=/console/persons`;
    expect((await bySaml({ nameId, authenticated: 30 }, { browser, query })).end).toContain(
      'error_code=social_login_failure',
    );
    expect((await tries())[0]).toMatchObject({ reason: 'not_recent' });
    expect(sessionOf(browser)).toBe(before);
    expect((await bySaml({ nameId }, { browser, query })).end).toBe('/console/persons');
    expect(sessionOf(browser)).not.toBe(before);
  });

  test('a confirmation through a provider requires a session', async () => {
    expect((await byGitLab(verified(owner), { query: '&reauth=true' })).end).toBe(
      '/console/sign-in?error_code=session_ended',
    );
  });
});

describe("a domain's own OpenID provider", () => {
  beforeEach(async () => {
    await sql('UPDATE organization_domain SET saml_entity_id = NULL WHERE id = $1', [domainId]);
    // The API accepts only HTTPS URLs, so write the URL to the database.
    await sql('UPDATE organization_domain SET oidc_issuer = $2 WHERE id = $1', [domainId, provider.issuer]);
    redirects.push(`${api.url}/complete/oidc/${domainId}/`);
    const { id, secret } = provider.client;
    expect((await changeSignOn({ oidc_client_id: id, oidc_client_secret: secret })).body).toMatchObject({
      has_oidc: true,
      oidc_client_id: id,
    });
  });
  // The provider caches a client's redirect URLs at the client's first request, so each test has its own provider.
  let own: OpenIdProvider;
  beforeEach(async () => {
    own = await startOpenIdProvider(() => [`${api.url}/complete/oidc/${domainId}/`]);
    await sql('UPDATE organization_domain SET oidc_issuer = $2 WHERE id = $1', [domainId, own.issuer]);
  });
  afterEach(() => own.stop());
  const byOwn = async (claims: Person, browser = newBrowser(), query = `email=ada@${domain}`) => {
    own.person = { subject: 'own', claims };
    return { browser, end: path(await browser.walk(`${api.url}/login/oidc/?${query}`)) };
  };

  test("a domain's own provider signs in only users of the domain", async () => {
    expect((await byOwn(verified(`ada@${domain}`))).end).toBe('/console/');
    expect(await level(`ada@${domain}`)).toBe(1);
    await sql('DELETE FROM provider_identity');
    expect((await byOwn(verified('ada@other.example'))).end).toBe('/console/sign-in?error_code=other_domain');
    expect(await tries()).toMatchObject([
      { outcome: 'refused', reason: 'other_domain', provider: 'oidc', is_test: false },
      { outcome: 'signed in', reason: null, email: `ada@${domain}` },
    ]);
  });

  test('sso-157: encrypts the client secret in the database, and never returns it', async () => {
    const [{ oidc_client_secret: stored } = { oidc_client_secret: '' }] = await sql<{ oidc_client_secret: string }>(
      'SELECT oidc_client_secret FROM organization_domain WHERE id = $1',
      [domainId],
    );
    expect(stored.startsWith(testSecretBox.newestPrefix ?? '-')).toBe(true);
    const session = await signInAs(api, tenant.userId);
    const responses = [
      await api.get(`/api/organizations/${tenant.organizationId}/domains/`, session),
      await api.get(`/api/organizations/${tenant.organizationId}/activity/`, session),
    ];
    for (const { body } of responses) expect(JSON.stringify(body)).not.toContain(provider.client.secret);
  });

  test.each(['http://idp.example', 'https://idp.example/?a=b', 'https://a:b@idp.example', 'idp'])(
    'rejects %s as an issuer',
    async (oidc_issuer) => {
      expect(await changeSignOn({ oidc_issuer })).toMatchObject({
        status: 400,
        body: { code: 'invalid_input', attr: 'oidc_issuer' },
      });
    },
  );

  test('testing the provider shows the reported identity, and does not change anything', async () => {
    const browser = newBrowser();
    await browser.step(`${api.url}/login/gitlab/`);
    const session = await signInAs(api, tenant.userId);
    own.person = { subject: 'own', claims: verified(`new@${domain}`) };
    let at = `${api.url}/login/oidc/?test=${domainId}&next=/console/projects/1/settings/domains`;
    for (let steps = 0; steps < 8 && !new URL(at).pathname.startsWith('/console/'); steps += 1) {
      const response = await browser.step(at, {
        headers: { cookie: `${browser.cookies(at)}${at.startsWith(api.url) ? `; ${session}` : ''}` },
      });
      at = new URL(response.headers.get('location') ?? '', at).href;
    }
    expect(new URL(at).pathname).toBe('/console/projects/1/settings/domains');
    expect(await tries()).toMatchObject([
      {
        is_test: true,
        outcome: 'passed',
        email: `new@${domain}`,
        attributes: { email: [`new@${domain}`], given_name: ['Ada'] },
      },
    ]);
    expect(await level(`new@${domain}`)).toBeUndefined();
  });

  test('only administrators can test the provider', async () => {
    const member = await createUser(api.database.sql, { email: `m@${domain}`, isEmailVerified: true });
    await addMember(api.database.sql, { organizationId: tenant.organizationId, userId: member.id });
    const session = await signInAs(api, member.id);
    const response = await fetch(`${api.url}/login/oidc/?test=${domainId}`, {
      redirect: 'manual',
      headers: { cookie: session },
    });
    expect(response.headers.get('location')).toContain('error_code=improperly_configured_sso');
  });
});

describe("a domain's own SAML provider", () => {
  test('sso-111, sso-112: publishes metadata without secrets', async () => {
    const response = await fetch(`${api.url}/api/saml/metadata/`);
    expect(response.headers.get('content-type')).toBe('text/xml; charset=utf-8');
    expect(await response.text()).toContain(`Location="${api.url}/complete/saml/"`);
  });

  test('a sign-in through SAML adds the user to the organization and opens the requested page', async () => {
    const { browser, end } = await bySaml({}, { query: `?email=ada@${domain}&next=/console/persons` });
    expect(end).toBe('/console/persons');
    expect(await me(browser)).toMatchObject({
      email: `ada@${domain}`,
      first_name: 'Ada',
      last_name: '',
      has_social_auth: true,
    });
    expect(await tries()).toMatchObject([{ outcome: 'signed in', provider: 'saml', email: `ada@${domain}` }]);
  });

  test("requires the account's own second factor after SAML, because the account can be in other organizations", async () => {
    await sql(`INSERT INTO user_totp (user_id, secret, last_step) VALUES ($1, 'x', 0)`, [tenant.userId]);
    const { browser, end } = await ownerSignsIn();
    expect(end).toBe('/console/sign-in?second_factor=1&next=%2Fconsole%2F');
    expect(sessionOf(browser)).toBeUndefined();
  });

  test('signin-048: limits the sign-ins per minute from one IP address, and shows the error on the sign-in page', async () => {
    const limited = await startTestApi(
      { limits: { ...noLimits, anonymousRequestsPerMinute: 2 } },
      { databaseUrl: api.databaseUrl },
    );
    const go = async () => path(await newBrowser().walk(`${limited.url}/login/gitlab/`));
    const ends = [await go(), await go(), await go(), await go(), await go()];
    await limited.stop();
    const away = '/console/sign-in?error_code=improperly_configured_sso';
    expect(ends).toEqual([away, away, away, away, '/console/sign-in?error_code=throttled']);
  });

  test('sso-136: accepts a SAML response only once, even in concurrent requests', async () => {
    const [one, two] = [await beginSaml(), await beginSaml()];
    const message = encodedResponse(null, { inResponseTo: null, responseInResponseTo: null });
    await sql('UPDATE organization_domain SET saml_allow_unsolicited = true WHERE id = $1', [domainId]);
    expect(one.relayState).not.toBe(two.relayState);
    const post = () =>
      newBrowser().walk(`${api.url}/complete/saml/`, { form: { SAMLResponse: message, RelayState: domainId } });
    const ends = (await Promise.all([post(), post(), post()]))
      .map(({ search, hash }) => (search + hash).replace(/=.*/, ''))
      .sort();
    expect(ends).toEqual(['#confirm', '?error_code', '?error_code']);
    expect((await tries())[0]).toMatchObject({ outcome: 'refused', reason: 'replayed' });
  });

  test("sso-137: rejects an attacker's valid SAML response when the victim's browser posts it", async () => {
    const { relayState, requestId } = await beginSaml();
    const victim = newBrowser();
    const end = await victim.walk(`${api.url}/complete/saml/`, {
      form: { SAMLResponse: encodedResponse(requestId), RelayState: relayState },
    });
    expect(path(end)).toBe('/console/sign-in?error_code=other_browser');
    expect(sessionOf(victim)).toBeUndefined();
  });

  test('sso-135: rejects a second response to the same request', async () => {
    const { browser, form } = await bySaml();
    expect(path(await browser.walk(`${api.url}/complete/saml/`, { form }))).toBe(
      '/console/sign-in?error_code=state_unknown',
    );
  });

  test('sso-135, sso-139: rejects an unsolicited response, or asks for confirmation if the domain allows it', async () => {
    const parts = { inResponseTo: null, responseInResponseTo: null };
    const go = (browser = newBrowser()) =>
      browser.walk(`${api.url}/complete/saml/`, {
        form: { SAMLResponse: encodedResponse(null, parts), RelayState: domainId },
      });
    expect(path(await go())).toBe('/console/sign-in?error_code=social_login_failure');
    expect((await tries())[0]).toMatchObject({ reason: 'unsolicited' });
    expect((await changeSignOn({ saml_allow_unsolicited: true })).body.saml_allow_unsolicited).toBe(true);
    const end = await go();
    expect(end.pathname).toBe('/console/sign-in');
    const body = { ticket: new URLSearchParams(end.hash.slice(1)).get('confirm') };
    expect((await api.send('POST', '/api/login/sso/look/', { body })).body).toEqual({ email: `ada@${domain}` });
    const foreign = await api.send('POST', '/api/login/sso/', { body, headers: { origin: 'https://evil.example' } });
    expect(foreign.status).toBe(403);
    const done = await api.send('POST', '/api/login/sso/', { body });
    expect(done).toMatchObject({ status: 200, body: { success: true, next: '/console/' } });
    expect(done.headers.getSetCookie().join()).toContain('millrace_session=');
    expect((await api.send('POST', '/api/login/sso/', { body })).status).toBe(400);
  });

  const refusals: [string, Partial<SamlResponseParts>, string, string][] = [
    [
      'sso-141: an address of another domain',
      { attributes: { email: ['ada@other.example'] } },
      'other_domain',
      'other_domain',
    ],
    ['sso-131: for another audience', { audiences: [['urn:other']] }, 'social_login_failure', 'wrong_audience'],
    [
      'sso-138: a failed sign-in at the provider',
      { status: 'urn:oasis:names:tc:SAML:2.0:status:AuthnFailed' },
      'social_login_failure',
      'status_not_success',
    ],
    ['sso-144: a name ID of 257 characters', { nameId: 'x'.repeat(257) }, 'social_login_failure', 'no_subject'],
    [
      'sso-144: a transient name ID',
      { nameIdFormat: 'urn:oasis:names:tc:SAML:2.0:nameid-format:transient' },
      'social_login_failure',
      'no_subject',
    ],
  ];
  test.each(refusals)(
    'sso-146: shows users a code and an ID when sign-in fails, and shows administrators the reason: %s',
    async (_, parts, code, reason) => {
      const { browser, end } = await bySaml(parts);
      expect(end).toBe(`/console/sign-in?error_code=${code}`);
      expect(sessionOf(browser)).toBeUndefined();
      expect((await tries())[0]).toMatchObject({
        outcome: 'refused',
        reason,
        detail: expect.stringMatching(/^[A-Z].+/),
      });
    },
  );

  test.each([
    ['saml_acs_url', 'b'],
    ['saml_x509_cert', 'MIIC'],
  ])('sso-113: does not redirect to a provider with an invalid %s, and rejects its responses', async (field, value) => {
    const { requestId, relayState } = await beginSaml();
    await change({ [field]: value })();
    const away = await fetch(`${api.url}/login/saml/?email=x@${domain}`, { redirect: 'manual' });
    expect(away.headers.get('location')).toContain('error_code=improperly_configured_sso');
    const form = { SAMLResponse: encodedResponse(requestId), RelayState: relayState };
    const back = await newBrowser().walk(`${api.url}/complete/saml/`, { form });
    expect(path(back)).toBe('/console/sign-in?error_code=improperly_configured_sso');
  });

  test('the metric counts each sign-in attempt once, by its outcome', async () => {
    const counted = async (outcome: string) => {
      const { values = [] } = (await metrics.registry.getSingleMetric('millrace_sign_ins_total')?.get()) ?? {};
      return values.find(({ labels }) => labels.way === 'provider' && labels.outcome === outcome)?.value ?? 0;
    };
    const outcomes = ['signed_in', 'refused', 'second_factor_wanted'];
    const before = await Promise.all(outcomes.map(counted));
    await bySaml();
    await bySaml({ audiences: [['urn:other']] });
    await bySaml({ attributes: { email: ['ada@other.example'] } });
    await sql(`INSERT INTO user_totp (user_id, secret, last_step) VALUES ($1, 'x', 0)`, [tenant.userId]);
    await ownerSignsIn();
    const after = await Promise.all(outcomes.map(counted));
    expect(after.map((value, at) => value - (before[at] ?? 0))).toEqual([1, 2, 1]);
    expect((await tries())[0]).toMatchObject({
      outcome: 'signed in',
      detail: expect.stringContaining('second factor'),
    });
  });

  test('sso-126, sso-140: rejects malformed SAML responses', async () => {
    for (const form of [
      {},
      { SAMLResponse: 'x' },
      { SAMLResponse: 'x', RelayState: 'https://evil.example' },
      { SAMLResponse: 'x', RelayState: 'y'.repeat(10_000) },
    ]) {
      expect(path(await newBrowser().walk(`${api.url}/complete/saml/`, { form: form as Record<string, string> }))).toBe(
        '/console/sign-in?error_code=state_unknown',
      );
    }
    expect(
      path(await newBrowser().walk(`${api.url}/complete/saml/`, { form: { SAMLResponse: 'y'.repeat(600_000) } })),
    ).toContain('error_code=');
  });

  test('sso-143: takes over the email address reported for the same name ID, and notifies both addresses', async () => {
    const nameId = randomUUID();
    const { browser } = await bySaml({ nameId });
    const { uuid } = await me(browser);
    const again = await bySaml({ nameId, attributes: { email: [`ada.king@${domain}`] } });
    expect(await me(again.browser)).toMatchObject({ uuid, email: `ada.king@${domain}` });
    await isMailed(`ada@${domain}`, "Your account's email address was changed");
    await isMailed(`ada.king@${domain}`, "Your account's email address was changed");
  });

  test.each([`a b@`, `${'x'.repeat(250)}@`, `ada@${'free.example'},b@`])(
    'sso-143: does not change the email address to the invalid address %s',
    async (text) => {
      const nameId = randomUUID();
      await bySaml({ nameId });
      const { browser } = await bySaml({ nameId, attributes: { email: [text + domain] } });
      expect((await me(browser)).email).toBe(`ada@${domain}`);
    },
  );

  test('sso-143: does not change the email address to that of another account', async () => {
    const nameId = randomUUID();
    await bySaml({ nameId });
    const { browser } = await bySaml({ nameId, attributes: { email: [owner] } });
    expect((await me(browser)).email).toBe(`ada@${domain}`);
  });

  test("sso-391: treats the same name ID as a different user after the provider's entity ID has changed", async () => {
    const nameId = 'u1';
    await bySaml({ nameId });
    const issuer = 'https://new-idp.example/entity';
    await change({ saml_entity_id: issuer })();
    const attributes = { email: [`bea@${domain}`] };
    const { browser } = await bySaml({ nameId, issuer, responseIssuer: issuer, attributes });
    expect((await me(browser)).email).toBe(`bea@${domain}`);
  });

  test('sso-107: deletes linked identities when the domain is renamed', async () => {
    const nameId = randomUUID();
    await bySaml({ nameId });
    expect((await change({ domain: `renamed-${domain}` })()).body).toMatchObject({
      is_verified: false,
      sso_enforcement: '',
    });
    expect(await sql('SELECT FROM provider_identity WHERE domain_id = $1', [domainId])).toEqual([]);
    const response = await fetch(`${api.url}/login/saml/?email=ada@${domain}`, { redirect: 'manual' });
    expect(response.headers.get('location')).toContain('error_code=improperly_configured_sso');
  });

  test("sso-113: reports problems with the provider's settings, and does not redirect users to it", async () => {
    expect((await change({ saml_x509_cert: 'MIIC' })()).body).toMatchObject({ has_saml: true });
    expect(await signOn()).toMatchObject({
      saml_problem: expect.stringContaining('certificate'),
      saml_certificate_expires_at: null,
    });
    const { certificate } = createTestKey({ expiresAt: new Date('2026-11-01T00:00:00Z') });
    await change({ saml_x509_cert: certificate })();
    expect(await signOn()).toMatchObject({
      saml_problem: null,
      saml_certificate_expires_at: '2026-11-01T00:00:00Z',
    });
  });
});

describe('an enforced provider', () => {
  test('sso-105: enforcement begins when an administrator signs in through the provider, and administrators are notified', async () => {
    await setPassword(tenant.userId);
    expect((await change({ sso_enforcement: 'saml' })()).body.sso_enforcement).toBe('saml');
    expect((await signOn()).sso_enforcement_state).toBe('waiting');
    await isMailed(owner, 'An administrator must sign in');
    expect((await login(owner)).status).toBe(200);
    // The sign-in of a member does not activate enforcement.
    await bySaml();
    expect((await login(owner)).status).toBe(200);
    await ownerSignsIn();
    expect(await login(owner)).toMatchObject({ status: 400, body: { code: 'sso_enforced', attr: null } });
    await isMailed(owner, 'now the only sign-in method');
    expect(await signOn()).toMatchObject({ sso_enforcement_state: 'active', sso_enforcement_reason: null });
  });

  test('sso-105: enforcement with a new certificate requires another sign-in by an administrator', async () => {
    await enforceSaml();
    await change({ saml_x509_cert: createTestKey().certificate })();
    expect((await signOn()).sso_enforcement_state).toBe('waiting');
  });

  test('sso-101: returns 400 for an unknown provider, and ignores a stored unknown provider', async () => {
    expect(await change({ sso_enforcement: 'okta' })()).toMatchObject({
      status: 400,
      body: { code: 'invalid_choice', attr: 'sso_enforcement' },
    });
    await sql(`UPDATE organization_domain SET sso_enforcement = 'okta' WHERE id = $1`, [domainId]);
    expect(await signOn()).toMatchObject({
      sso_enforcement_state: 'no effect',
      sso_enforcement_reason: 'unknown_provider',
    });
  });

  const withoutEffect: [string, string, () => Promise<unknown>][] = [
    [
      'verification',
      'verified',
      () => sql('UPDATE organization_domain SET verified_at = NULL WHERE id = $1', [domainId]),
    ],
    [
      'the plan',
      'plan',
      () => sql(`UPDATE organization SET available_product_features = '[]' WHERE id = $1`, [tenant.organizationId]),
    ],
    ['settings', 'settings', () => sql('UPDATE organization_domain SET saml_acs_url = NULL WHERE id = $1', [domainId])],
  ];
  const precheck = async (email: string) => (await api.send('POST', '/api/login/precheck/', { body: { email } })).body;
  test.each(withoutEffect)(
    'signin-011, sso-102: enforcement has no effect without %s, so Millrace accepts passwords',
    async (_, _name, prepare) => {
      await setPassword(tenant.userId);
      await enforceSaml();
      expect((await login(owner)).status).toBe(400);
      expect((await precheck(owner)).sso_enforcement).toBe('saml');
      await prepare();
      expect((await precheck(owner)).sso_enforcement).toBeNull();
      expect((await login(owner)).status).toBe(200);
    },
  );

  test('sso-101: enforcement disables all other sign-in methods, and keeps API keys and existing sessions', async () => {
    await setPassword(tenant.userId);
    const session = await signInAs(api, tenant.userId);
    const { value } = await api.database.transaction((tx) =>
      createPersonalApiKey(tx, { userId: tenant.userId, actor: null, label: 'k', scopes: ['*'] } as never),
    );
    await enforceSaml();
    const enforced = { status: 400, body: { code: 'sso_enforced' } };
    expect(await login(`unknown@${domain}`)).toMatchObject(enforced);
    expect(await api.send('POST', '/api/reset/', { body: { email: owner } })).toMatchObject(enforced);
    expect((await byGitLab(verified(owner))).end).toBe('/console/sign-in?error_code=saml_sso_enforced');
    expect((await api.get('/api/users/@me/', session)).status).toBe(200);
    expect((await api.get('/api/users/@me/', value)).status).toBe(200);
    const moved = (email: string) => api.send('PATCH', '/api/users/@me/', { key: session, body: { email } });
    expect(await moved('x@free.example')).toMatchObject({
      status: 400,
      body: { code: 'sso_enforced_current_email', attr: 'email' },
    });
    const outside = await createTestTenant(api.database);
    const other = await signInAs(api, outside.userId);
    expect(await api.send('PATCH', '/api/users/@me/', { key: other, body: { email: `x@${domain}` } })).toMatchObject({
      status: 400,
      body: { code: 'sso_enforced_new_email' },
    });
    // sso-103: a subdomain is a different domain.
    expect(await login(`x@sub.${domain}`)).toMatchObject({ body: { code: 'invalid_credentials' } });
  });

  test('signin-011: returns the enforced provider as the only sign-in method, whether or not the account exists', async () => {
    expect(await precheck(owner)).toEqual({
      password_login_available: true,
      sso_enforcement: null,
      saml_available: true,
      oidc_available: false,
      social_providers: { gitlab: true },
    });
    await enforceSaml();
    const only = {
      password_login_available: false,
      sso_enforcement: 'saml',
      saml_available: true,
      oidc_available: false,
      social_providers: { gitlab: false },
    };
    expect([await precheck(owner), await precheck(`unknown@${domain}`)]).toEqual([only, only]);
    expect(await precheck('x@free.example')).toMatchObject({ password_login_available: true, saml_available: false });
  });

  test('signin-029: enforcement disables sign-in by passkey', async () => {
    const session = await signInAs(api, tenant.userId);
    const passkey = softwarePasskey(new URL(api.url).origin);
    const { body: options } = await api.send('POST', '/api/webauthn/register/begin/', { key: session });
    const credential = passkey.register(options);
    const registered = { key: session, body: { credential, label: 'Laptop' } };
    expect((await api.send('POST', '/api/webauthn/register/complete/', registered)).status).toBe(201);
    const enter = async () => {
      const begun = await api.send('POST', '/api/webauthn/login/begin/', { body: {} });
      const [cookie = ''] = /millrace_step=[\w-]{43}/.exec(begun.headers.get('set-cookie') ?? '') ?? [];
      const response = passkey.respond(begun.body, { userHandle: options.user.id });
      return api.send('POST', '/api/webauthn/login/complete/', { body: { credential: response }, headers: { cookie } });
    };
    expect((await enter()).status).toBe(200);
    await enforceSaml();
    expect(await enter()).toMatchObject({ status: 400, body: { code: 'sso_enforced' } });
  });

  test("signin-036, sso-164: rejects a password for an invite, and grants the invite's level at sign-in", async () => {
    await enforceSaml();
    const invite = { target_email: `ada@${domain}`, level: 8 };
    const made = await api.send('POST', `/api/organizations/${tenant.organizationId}/invites/`, {
      key: await signInAs(api, tenant.userId),
      body: invite,
    });
    const { id, token } = made.body;
    const body = { token, password: 'correct horse battery staple' };
    expect(await api.send('POST', `/api/signup/${id}/`, { body })).toMatchObject({
      status: 400,
      body: { code: 'sso_enforced' },
    });
    await sql('UPDATE organization_domain SET jit_provisioning_enabled = false WHERE id = $1', [domainId]);
    expect((await bySaml()).end).toBe('/console/');
    expect(await level(`ada@${domain}`)).toBe(8);
    expect(await sql('SELECT FROM organization_invite WHERE id = $1', [id])).toEqual([]);
  });

  test('sso-164: a sign-in through the enforced provider ignores an expired invite', async () => {
    await api.send('POST', `/api/organizations/${tenant.organizationId}/invites/`, {
      key: await signInAs(api, tenant.userId),
      body: { target_email: `ada@${domain}`, level: 15 },
    });
    await sql(`UPDATE organization_invite SET created_at = now() - interval '10 days' WHERE organization_id = $1`, [
      tenant.organizationId,
    ]);
    await bySaml();
    expect(await level(`ada@${domain}`)).toBe(1);
  });

  test('sso-105: enforcement exempts owners with a second factor if the organization allows it, and sends a notice', async () => {
    await setPassword(tenant.userId);
    await enforceSaml();
    await changeSignOn({ sso_owner_exception: true });
    await isMailed(owner, 'Owners can now sign in without');
    expect((await login(owner)).body.code).toBe('sso_enforced');
    await sql(`INSERT INTO user_totp (user_id, secret, last_step) VALUES ($1, 'x', 0)`, [tenant.userId]);
    expect(await login(owner)).toMatchObject({ status: 401, body: { code: '2fa_required' } });
    const wrong = await api.send('POST', '/api/login/', { body: { email: owner, password: 'wrong' } });
    expect(wrong.body.code).toBe('sso_enforced');
  });

  test("sso-105: an operator's link bypasses the enforced provider, with a notice and an activity record", async () => {
    await enforceSaml();
    const { createOneTimeLink } = await import('@millrace/accounts');
    const { secret } = await api.database.transaction((tx) =>
      createOneTimeLink(tx, { kind: 'sign_in', userId: tenant.userId }),
    );
    expect((await api.send('POST', '/api/console_link/', { body: { secret } })).status).toBe(200);
    await isMailed(owner, 'A user signed in without single sign-on');
    const { body } = await api.get(
      `/api/organizations/${tenant.organizationId}/activity/`,
      await signInAs(api, tenant.userId),
    );
    expect(JSON.stringify(body.results[0].detail.changes)).toContain('way_around');
  });
});
