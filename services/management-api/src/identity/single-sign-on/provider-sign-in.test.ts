import { randomUUID } from 'node:crypto';
import { createTestTenant, type TestTenant } from '@millrace/testing';
import { type OpenIdProvider, type Person, startOpenIdProvider } from '@millrace/testing/openid-provider';
import { createTestKey } from '@millrace/testing/provider-key';
import { signInAs, startTestApi, type TestApi } from '../../testing/start-test-api.ts';
import { createWalkingBrowser } from '../../testing/walking-browser.ts';

/**
 * Tests which account a sign-in through a provider opens, and which organization the account joins. Both depend on the
 * account's own verified email address. A different address that the provider reports in a later sign-in has no effect.
 */
let api: TestApi;
/** One test server that the installation uses both as its GitLab and as its OpenID provider. */
let gitlab: OpenIdProvider;
/** The first OpenID provider of the domain home.example. In some tests, `replacement` takes its place. */
let own: OpenIdProvider;
let replacement: OpenIdProvider;
let home: TestTenant;
let other: TestTenant;
const homeDomainId = randomUUID();
const otherDomainId = randomUUID();
const { certificate } = createTestKey();

const sql = <T extends Record<string, unknown>>(text: string, values: unknown[] = []) =>
  api.database.sql.query<T>(text, values);

beforeAll(async () => {
  const ownRedirects = () => [`${api.url}/complete/oidc/${homeDomainId}/`];
  gitlab = await startOpenIdProvider(() => [`${api.url}/complete/gitlab/`, `${api.url}/complete/oidc/`]);
  own = await startOpenIdProvider(ownRedirects);
  replacement = await startOpenIdProvider(ownRedirects);
  const { issuer, client } = gitlab;
  const installedProviders = {
    name: 'GitLab',
    issuer,
    clientId: client.id,
    clientSecret: client.secret,
    isConfiguredByOperator: true,
  };
  api = await startTestApi({
    installedProviders: new Map([
      ['gitlab', { ...installedProviders, kind: 'gitlab' }],
      ['oidc', { ...installedProviders, kind: 'oidc' }],
    ]),
  });
  home = await createTestTenant(api.database, { email: 'owner@home.example', isEmailVerified: true });
  other = await createTestTenant(api.database, { email: 'owner@other.example', isEmailVerified: true });
  await sql(
    `INSERT INTO organization_domain (id, organization_id, domain, verification_challenge, verified_at)
     VALUES ($1, $2, 'home.example', 'challenge', now()), ($3, $4, 'other.example', 'challenge', now())`,
    [homeDomainId, home.organizationId, otherDomainId, other.organizationId],
  );
});
beforeEach(async () => {
  await sql(`DELETE FROM "user" WHERE email NOT LIKE 'owner@%'`);
  await sql('DELETE FROM provider_identity');
  await sql('DELETE FROM organization_invite');
  await sql(
    `UPDATE organization_domain
        SET jit_provisioning_enabled = true, sso_enforcement = '', sso_proved = '{}',
            saml_entity_id = 'https://idp.example/entity', saml_acs_url = 'https://idp.example/sso', saml_x509_cert = $1,
            oidc_issuer = NULL, oidc_client_id = NULL, oidc_client_secret = NULL`,
    [certificate],
  );
});
afterAll(async () => {
  await api.stop();
  await Promise.all([gitlab.stop(), own.stop(), replacement.stop()]);
});

const newBrowser = () => createWalkingBrowser(/^\/console\//);
type Browser = ReturnType<typeof newBrowser>;

/** Signs in through a provider. @returns the error code that the sign-in page shows, or null if the sign-in succeeds */
async function signIn(
  provider: OpenIdProvider,
  subject: string,
  claims: Person,
  { path = provider === gitlab ? '/login/gitlab/' : '/login/oidc/?email=x@home.example', browser = newBrowser() } = {},
): Promise<string | null> {
  provider.person = { subject, claims };
  browser.forget(provider.issuer);
  return (await browser.walk(api.url + path)).searchParams.get('error_code');
}
const verified = (email: string): Person => ({ email, email_verified: true });
const unverified = (email: string): Person => ({ email, email_verified: false });
async function me(browser: Browser) {
  const [session = ''] = /millrace_session=[\w-]{43}/.exec(browser.cookies(api.url)) ?? [];
  return (await api.get('/api/users/@me/', session)).body;
}
async function configureOwn({ issuer, client }: OpenIdProvider): Promise<void> {
  await sql('UPDATE organization_domain SET oidc_issuer = $2 WHERE id = $1', [homeDomainId, issuer]);
  await api.send('PATCH', `/api/organizations/${home.organizationId}/domains/${homeDomainId}/sign_on/`, {
    key: await signInAs(api, home.userId),
    body: { oidc_client_id: client.id, oidc_client_secret: client.secret },
  });
}
async function enforceSaml(domain: string): Promise<void> {
  await sql(`UPDATE organization_domain SET sso_enforcement = 'saml', sso_proved = '{saml}' WHERE domain = $1`, [
    domain,
  ]);
}
async function inviteAdministrator({ organizationId, userId }: TestTenant, email: string): Promise<void> {
  const key = await signInAs(api, userId);
  const body = { target_email: email, level: 8 };
  expect((await api.send('POST', `/api/organizations/${organizationId}/invites/`, { key, body })).status).toBe(201);
}
const hasInvite = async (email: string) =>
  (await sql('SELECT FROM organization_invite WHERE email_key = $1', [email])).length > 0;
const accounts = () =>
  sql<{ email: string; home: number | null; other: number | null }>(
    `SELECT u.email, h.level AS home, o.level AS other
       FROM "user" u
       LEFT JOIN membership h ON h.user_id = u.id AND h.organization_id = $1
       LEFT JOIN membership o ON o.user_id = u.id AND o.organization_id = $2
      WHERE u.email NOT LIKE 'owner@%' ORDER BY u.email`,
    [home.organizationId, other.organizationId],
  );
/** Links ada@home.example to the provider's subject `u1`. The account then belongs to no organization. */
async function linkAda(provider: OpenIdProvider): Promise<void> {
  expect(await signIn(provider, 'u1', verified('ada@home.example'))).toBeNull();
  await sql(`DELETE FROM membership WHERE user_id = (SELECT id FROM "user" WHERE email = 'ada@home.example')`);
}

describe('account and organization after a sign-in through a provider', () => {
  /**
   * Email addresses that the provider reports: in the linked account's domain, in another organization's domain, or in
   * a domain without an organization.
   */
  const addresses = { same: 'new@home.example', other: 'new@other.example', free: 'new@free.example', '-': '' };
  type Row = [
    number: string,
    /** `own` is the OpenID provider of home.example. */
    provider: 'GitLab' | 'own',
    /** A `linked` account has the email address ada@home.example and does not belong to an organization yet. */
    account: 'linked' | 'new',
    reported: 'verified' | 'unverified' | 'none',
    place: keyof typeof addresses,
    /**
     * Whether an administrator invite for the reported email address exists. The home organization invites addresses in
     * home.example. The other organization invites all other addresses.
     */
    invite: 'invite' | '-',
    /**
     * Whether a domain enforces SAML: other.example for email addresses in that domain, and home.example for all
     * others.
     */
    enforced: 'enforced' | '-',
    /**
     * Expected outcome: `in` or the error code, followed by the account, with its levels in the organizations of
     * home.example and other.example.
     */
    outcome: string,
  ];
  const table: Row[] = [
    ['sso-301', 'GitLab', 'linked', 'verified', 'same', '-', '-', 'in: ada@home.example 1/-'],
    ['sso-302', 'GitLab', 'linked', 'verified', 'same', '-', 'enforced', 'saml_sso_enforced: ada@home.example -/-'],
    ['sso-303', 'GitLab', 'linked', 'verified', 'same', 'invite', '-', 'in: ada@home.example 1/-'],
    [
      'sso-304',
      'GitLab',
      'linked',
      'verified',
      'same',
      'invite',
      'enforced',
      'saml_sso_enforced: ada@home.example -/-',
    ],
    ['sso-305', 'GitLab', 'linked', 'verified', 'other', '-', '-', 'in: ada@home.example 1/-'],
    ['sso-306', 'GitLab', 'linked', 'verified', 'other', '-', 'enforced', 'saml_sso_enforced: ada@home.example -/-'],
    ['sso-307', 'GitLab', 'linked', 'verified', 'other', 'invite', '-', 'in: ada@home.example 1/-'],
    [
      'sso-308',
      'GitLab',
      'linked',
      'verified',
      'other',
      'invite',
      'enforced',
      'saml_sso_enforced: ada@home.example -/-',
    ],
    ['sso-309', 'GitLab', 'linked', 'verified', 'free', '-', '-', 'in: ada@home.example 1/-'],
    ['sso-310', 'GitLab', 'linked', 'verified', 'free', '-', 'enforced', 'saml_sso_enforced: ada@home.example -/-'],
    ['sso-311', 'GitLab', 'linked', 'verified', 'free', 'invite', '-', 'in: ada@home.example 1/-'],
    [
      'sso-312',
      'GitLab',
      'linked',
      'verified',
      'free',
      'invite',
      'enforced',
      'saml_sso_enforced: ada@home.example -/-',
    ],
    ['sso-313', 'GitLab', 'linked', 'unverified', 'same', '-', '-', 'in: ada@home.example 1/-'],
    ['sso-314', 'GitLab', 'linked', 'unverified', 'same', '-', 'enforced', 'saml_sso_enforced: ada@home.example -/-'],
    ['sso-315', 'GitLab', 'linked', 'unverified', 'same', 'invite', '-', 'in: ada@home.example 1/-'],
    [
      'sso-316',
      'GitLab',
      'linked',
      'unverified',
      'same',
      'invite',
      'enforced',
      'saml_sso_enforced: ada@home.example -/-',
    ],
    ['sso-317', 'GitLab', 'linked', 'unverified', 'other', '-', '-', 'in: ada@home.example 1/-'],
    ['sso-318', 'GitLab', 'linked', 'unverified', 'other', '-', 'enforced', 'saml_sso_enforced: ada@home.example -/-'],
    ['sso-319', 'GitLab', 'linked', 'unverified', 'other', 'invite', '-', 'in: ada@home.example 1/-'],
    [
      'sso-320',
      'GitLab',
      'linked',
      'unverified',
      'other',
      'invite',
      'enforced',
      'saml_sso_enforced: ada@home.example -/-',
    ],
    ['sso-321', 'GitLab', 'linked', 'unverified', 'free', '-', '-', 'in: ada@home.example 1/-'],
    ['sso-322', 'GitLab', 'linked', 'unverified', 'free', '-', 'enforced', 'saml_sso_enforced: ada@home.example -/-'],
    ['sso-323', 'GitLab', 'linked', 'unverified', 'free', 'invite', '-', 'in: ada@home.example 1/-'],
    [
      'sso-324',
      'GitLab',
      'linked',
      'unverified',
      'free',
      'invite',
      'enforced',
      'saml_sso_enforced: ada@home.example -/-',
    ],
    ['sso-325', 'GitLab', 'linked', 'none', '-', '-', '-', 'in: ada@home.example 1/-'],
    ['sso-326', 'GitLab', 'linked', 'none', '-', '-', 'enforced', 'saml_sso_enforced: ada@home.example -/-'],
    ['sso-327', 'GitLab', 'new', 'verified', 'same', '-', '-', 'in: new@home.example 1/-'],
    ['sso-328', 'GitLab', 'new', 'verified', 'same', '-', 'enforced', 'saml_sso_enforced: no account'],
    ['sso-329', 'GitLab', 'new', 'verified', 'same', 'invite', '-', 'in: new@home.example 8/-, invite used'],
    ['sso-330', 'GitLab', 'new', 'verified', 'same', 'invite', 'enforced', 'saml_sso_enforced: no account'],
    ['sso-331', 'GitLab', 'new', 'verified', 'other', '-', '-', 'in: new@other.example -/1'],
    ['sso-332', 'GitLab', 'new', 'verified', 'other', '-', 'enforced', 'saml_sso_enforced: no account'],
    ['sso-333', 'GitLab', 'new', 'verified', 'other', 'invite', '-', 'in: new@other.example -/8, invite used'],
    ['sso-334', 'GitLab', 'new', 'verified', 'other', 'invite', 'enforced', 'saml_sso_enforced: no account'],
    ['sso-335', 'GitLab', 'new', 'verified', 'free', '-', '-', 'no_new_organizations: no account'],
    ['sso-336', 'GitLab', 'new', 'verified', 'free', '-', 'enforced', 'no_new_organizations: no account'],
    ['sso-337', 'GitLab', 'new', 'verified', 'free', 'invite', '-', 'no_new_organizations: no account'],
    ['sso-338', 'GitLab', 'new', 'verified', 'free', 'invite', 'enforced', 'no_new_organizations: no account'],
    ['sso-339', 'GitLab', 'new', 'unverified', 'same', '-', '-', 'email_not_verified: no account'],
    ['sso-340', 'GitLab', 'new', 'unverified', 'same', '-', 'enforced', 'email_not_verified: no account'],
    ['sso-341', 'GitLab', 'new', 'unverified', 'same', 'invite', '-', 'email_not_verified: no account'],
    ['sso-342', 'GitLab', 'new', 'unverified', 'same', 'invite', 'enforced', 'email_not_verified: no account'],
    ['sso-343', 'GitLab', 'new', 'unverified', 'other', '-', '-', 'email_not_verified: no account'],
    ['sso-344', 'GitLab', 'new', 'unverified', 'other', '-', 'enforced', 'email_not_verified: no account'],
    ['sso-345', 'GitLab', 'new', 'unverified', 'other', 'invite', '-', 'email_not_verified: no account'],
    ['sso-346', 'GitLab', 'new', 'unverified', 'other', 'invite', 'enforced', 'email_not_verified: no account'],
    ['sso-347', 'GitLab', 'new', 'unverified', 'free', '-', '-', 'email_not_verified: no account'],
    ['sso-348', 'GitLab', 'new', 'unverified', 'free', '-', 'enforced', 'email_not_verified: no account'],
    ['sso-349', 'GitLab', 'new', 'unverified', 'free', 'invite', '-', 'email_not_verified: no account'],
    ['sso-350', 'GitLab', 'new', 'unverified', 'free', 'invite', 'enforced', 'email_not_verified: no account'],
    ['sso-351', 'GitLab', 'new', 'none', '-', '-', '-', 'no_email: no account'],
    ['sso-352', 'GitLab', 'new', 'none', '-', '-', 'enforced', 'no_email: no account'],
    ['sso-353', 'own', 'linked', 'verified', 'same', '-', '-', 'in: new@home.example 1/-'],
    ['sso-354', 'own', 'linked', 'verified', 'same', 'invite', '-', 'in: new@home.example 8/-, invite used'],
    ['sso-355', 'own', 'linked', 'verified', 'other', '-', '-', 'other_domain: ada@home.example -/-'],
    ['sso-356', 'own', 'linked', 'verified', 'other', 'invite', '-', 'other_domain: ada@home.example -/-'],
    ['sso-357', 'own', 'linked', 'verified', 'free', '-', '-', 'other_domain: ada@home.example -/-'],
    ['sso-358', 'own', 'linked', 'verified', 'free', 'invite', '-', 'other_domain: ada@home.example -/-'],
    ['sso-359', 'own', 'linked', 'unverified', 'same', '-', '-', 'in: ada@home.example 1/-'],
    ['sso-360', 'own', 'linked', 'unverified', 'same', 'invite', '-', 'in: ada@home.example 1/-'],
    ['sso-361', 'own', 'linked', 'unverified', 'other', '-', '-', 'other_domain: ada@home.example -/-'],
    ['sso-362', 'own', 'linked', 'unverified', 'other', 'invite', '-', 'other_domain: ada@home.example -/-'],
    ['sso-363', 'own', 'linked', 'unverified', 'free', '-', '-', 'other_domain: ada@home.example -/-'],
    ['sso-364', 'own', 'linked', 'unverified', 'free', 'invite', '-', 'other_domain: ada@home.example -/-'],
    ['sso-365', 'own', 'linked', 'none', '-', '-', '-', 'in: ada@home.example 1/-'],
    ['sso-366', 'own', 'new', 'verified', 'same', '-', '-', 'in: new@home.example 1/-'],
    ['sso-367', 'own', 'new', 'verified', 'same', 'invite', '-', 'in: new@home.example 8/-, invite used'],
    ['sso-368', 'own', 'new', 'verified', 'other', '-', '-', 'other_domain: no account'],
    ['sso-369', 'own', 'new', 'verified', 'other', 'invite', '-', 'other_domain: no account'],
    ['sso-370', 'own', 'new', 'verified', 'free', '-', '-', 'other_domain: no account'],
    ['sso-371', 'own', 'new', 'verified', 'free', 'invite', '-', 'other_domain: no account'],
    ['sso-372', 'own', 'new', 'unverified', 'same', '-', '-', 'email_not_verified: no account'],
    ['sso-373', 'own', 'new', 'unverified', 'same', 'invite', '-', 'email_not_verified: no account'],
    ['sso-374', 'own', 'new', 'unverified', 'other', '-', '-', 'email_not_verified: no account'],
    ['sso-375', 'own', 'new', 'unverified', 'other', 'invite', '-', 'email_not_verified: no account'],
    ['sso-376', 'own', 'new', 'unverified', 'free', '-', '-', 'email_not_verified: no account'],
    ['sso-377', 'own', 'new', 'unverified', 'free', 'invite', '-', 'email_not_verified: no account'],
    ['sso-378', 'own', 'new', 'none', '-', '-', '-', 'no_email: no account'],
  ];
  test.each(table)(
    '%s: %s, %s account, %s address, %s domain, %s, %s: %s',
    async (_, provider, account, reported, place, invite, enforced, outcome) => {
      const at = provider === 'own' ? own : gitlab;
      const email = addresses[place];
      if (provider === 'own') await configureOwn(own);
      if (account === 'linked') await linkAda(at);
      if (invite === 'invite') await inviteAdministrator(place === 'same' ? home : other, email);
      if (enforced === 'enforced') await enforceSaml(place === 'other' ? 'other.example' : 'home.example');
      const claims = reported === 'none' ? {} : { email, email_verified: reported === 'verified' };
      const error = await signIn(at, 'u1', claims);
      const found = (await accounts()).map((row) => `${row.email} ${row.home ?? '-'}/${row.other ?? '-'}`);
      const used = invite === 'invite' && !(await hasInvite(email)) ? ', invite used' : '';
      expect(`${error ?? 'in'}: ${found.join(', ') || 'no account'}${used}`).toBe(outcome);
    },
  );
});

describe('an account that is linked to a provider', () => {
  test("sso-381: does not accept another organization's invite for an email address that the provider has not verified", async () => {
    await signIn(gitlab, 'eve', verified('eve@home.example'));
    await inviteAdministrator(other, 'boss@other.example');
    expect(await signIn(gitlab, 'eve', unverified('boss@other.example'))).toBeNull();
    expect(await accounts()).toEqual([{ email: 'eve@home.example', home: 1, other: null }]);
    expect(await hasInvite('boss@other.example')).toBe(true);
  });

  test("sso-382: a linked account accepts an invite for its own email address, regardless of the provider's response", async () => {
    await linkAda(gitlab);
    await inviteAdministrator(home, 'ada@home.example');
    expect(await signIn(gitlab, 'u1', verified('ada@free.example'))).toBeNull();
    expect(await accounts()).toEqual([{ email: 'ada@home.example', home: 8, other: null }]);
  });

  test.each([
    ['its own address', {}],
    ['its own address, while the provider reports another', verified('ada@free.example')],
    ['its own address, while the provider reports another unverified one', unverified('ada@free.example')],
  ])('sso-383: a linked account cannot bypass the enforced provider of its domain: %s', async (_, claims) => {
    await linkAda(gitlab);
    await enforceSaml('home.example');
    expect(await signIn(gitlab, 'u1', claims)).toBe('saml_sso_enforced');
  });

  test("sso-384: a linked account keeps its email address if its domain's provider has not verified the new one", async () => {
    await configureOwn(own);
    await linkAda(own);
    const browser = newBrowser();
    expect(await signIn(own, 'u1', unverified('cfo@home.example'), { browser })).toBeNull();
    expect(await me(browser)).toMatchObject({ email: 'ada@home.example', is_email_verified: true });
    expect(await signIn(own, 'u1', verified('ada.king@home.example'), { browser })).toBeNull();
    expect(await me(browser)).toMatchObject({ email: 'ada.king@home.example', is_email_verified: true });
  });

  test('sso-385: a linked account joins an organization through its own email address only after verifying it', async () => {
    await linkAda(gitlab);
    await sql(`UPDATE "user" SET is_email_verified = false WHERE email = 'ada@home.example'`);
    await inviteAdministrator(home, 'ada@home.example');
    expect(await signIn(gitlab, 'u1', unverified('ada@home.example'))).toBeNull();
    expect(await accounts()).toEqual([{ email: 'ada@home.example', home: null, other: null }]);
    expect(await hasInvite('ada@home.example')).toBe(true);
  });

  test("sso-392: null characters in the provider's claims do not prevent sign-in or change the email address", async () => {
    await configureOwn(own);
    await linkAda(own);
    const claims = { email: 'x\0@home.example', email_verified: true, given_name: 'A\0' };
    const browser = newBrowser();
    expect(await signIn(own, 'u1', claims, { browser })).toBeNull();
    expect(await me(browser)).toMatchObject({ email: 'ada@home.example' });
  });

  test('sso-386: an account cannot confirm its session through a provider that its domain no longer accepts', async () => {
    const browser = newBrowser();
    expect(await signIn(gitlab, 'u1', verified('ada@home.example'), { browser })).toBeNull();
    const confirm = () => signIn(gitlab, 'u1', {}, { browser, path: '/login/gitlab/?reauth=true' });
    expect(await confirm()).toBeNull();
    await enforceSaml('home.example');
    expect(await confirm()).toBe('saml_sso_enforced');
  });
});

describe('a provider replaced by one with another issuer', () => {
  test('sso-387: treats the same subject as a different user if the provider belongs to a domain', async () => {
    await configureOwn(own);
    await linkAda(own);
    await configureOwn(replacement);
    const browser = newBrowser();
    expect(await signIn(replacement, 'u1', verified('bea@home.example'), { browser })).toBeNull();
    expect((await me(browser)).email).toBe('bea@home.example');
    // The email address identifies the same user at the new provider. The identities at both providers stay linked.
    expect(await signIn(replacement, 'u2', verified('ada@home.example'), { browser })).toBeNull();
    await configureOwn(own);
    expect(await signIn(own, 'u1', {}, { browser })).toBeNull();
    expect((await me(browser)).email).toBe('ada@home.example');
  });

  test('sso-388: treats the same subject as a different user if the provider belongs to the installation', async () => {
    await linkAda(gitlab);
    const { client } = gitlab;
    let url = '';
    const moved = await startOpenIdProvider(() => [`${url}/complete/gitlab/`]);
    const provider = { kind: 'gitlab', name: 'GitLab', issuer: moved.issuer, isConfiguredByOperator: true } as const;
    const credentials = { clientId: client.id, clientSecret: client.secret };
    const changed = await startTestApi(
      { installedProviders: new Map([['gitlab', { ...provider, ...credentials }]]) },
      { databaseUrl: api.databaseUrl },
    );
    url = changed.url;
    moved.person = { subject: 'u1', claims: verified('bea@home.example') };
    expect((await newBrowser().walk(`${url}/login/gitlab/`)).search).toBe('');
    await Promise.all([changed.stop(), moved.stop()]);
    expect(await accounts()).toMatchObject([{ email: 'ada@home.example' }, { email: 'bea@home.example' }]);
  });
});

describe("a domain's own provider", () => {
  test("sso-389: enforcement begins when an administrator signs in through this provider, not the installation's", async () => {
    await configureOwn(own);
    await sql(`UPDATE organization_domain SET sso_enforcement = 'oidc' WHERE id = $1`, [homeDomainId]);
    const state = async () =>
      (
        await api.get(
          `/api/organizations/${home.organizationId}/domains/${homeDomainId}/sign_on/`,
          await signInAs(api, home.userId),
        )
      ).body.sso_enforcement_state;
    expect(await signIn(gitlab, 'owner', verified('owner@home.example'), { path: '/login/oidc/' })).toBeNull();
    expect(await state()).toBe('waiting');
    expect(await signIn(own, 'owner', verified('owner@home.example'))).toBeNull();
    expect(await state()).toBe('active');
  });

  test('sso-390: testing the provider fails if the provider has not verified the email address', async () => {
    await configureOwn(own);
    const key = await signInAs(api, home.userId);
    own.person = { subject: 'u1', claims: unverified('ada@home.example') };
    const browser = newBrowser();
    let at = `${api.url}/login/oidc/?test=${homeDomainId}&next=/console/`;
    for (let steps = 0; steps < 8 && !new URL(at).pathname.startsWith('/console/'); steps += 1) {
      const session = at.startsWith(api.url) ? `; ${key}` : '';
      const response = await browser.step(at, { headers: { cookie: browser.cookies(at) + session } });
      at = new URL(response.headers.get('location') ?? '', at).href;
    }
    const tries = await api.get(
      `/api/organizations/${home.organizationId}/domains/${homeDomainId}/sign_in_tries/`,
      key,
    );
    expect(tries.body.results[0]).toMatchObject({ is_test: true, reason: 'email_not_verified' });
  });
});
