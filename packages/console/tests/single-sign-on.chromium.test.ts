import { randomUUID } from 'node:crypto';
import { type OpenIdProvider, startOpenIdProvider } from '@millrace/testing/openid-provider';
import { type SamlProvider, startSamlProvider } from '@millrace/testing/saml-provider';
import type { Page } from 'playwright-core';
import { checkPage, openAsMember } from './people.ts';
import { type RunningConsole, startConsole } from './start-console.ts';

/** Tests single sign-on in a real browser with real OpenID Connect and SAML providers. */
let console: RunningConsole;
let provider: OpenIdProvider;
let samlProvider: SamlProvider;
const redirects: string[] = [];
let domainId: string;
let organizationId: string;
const owner = 'owner@corp.example';
beforeAll(async () => {
  provider = await startOpenIdProvider(() => redirects);
  samlProvider = await startSamlProvider(() => new URL('/api/saml/metadata/', console.address('')).href);
  const { id, secret } = provider.client;
  console = await startConsole({
    publicHost: '127.0.0.1',
    settings: {
      ...{ GITLAB_URL: provider.issuer, GITLAB_CLIENT_ID: id, GITLAB_CLIENT_SECRET: secret },
      ...{ ALLOW_PRIVATE_DESTINATIONS: 'true' },
    },
  });
  const { origin } = new URL(console.address(''));
  domainId = randomUUID();
  redirects.push(`${origin}/complete/gitlab/`, `${origin}/complete/oidc/${domainId}/`);
  const { rows } = await console.query(
    'SELECT m.organization_id AS id, m.user_id FROM membership m JOIN project p ON p.organization_id = m.organization_id JOIN environment e ON e.project_id = p.id WHERE e.id = $1',
    [console.tenant.environmentId],
  );
  const [first] = rows as { id: string; user_id: number }[];
  organizationId = first?.id ?? '';
  await console.query('UPDATE "user" SET email = $2, is_email_verified = true WHERE id = $1', [first?.user_id, owner]);
  await console.query(
    `INSERT INTO organization_domain (id, organization_id, domain, verification_challenge, verified_at)
     VALUES ($1, $2, 'corp.example', 'c', now())`,
    [domainId, organizationId],
  );
});
afterAll(async () => {
  await console?.stop();
  await provider?.stop();
  await samlProvider?.stop();
});

const ada = { email: 'ada@corp.example', email_verified: true, given_name: 'Ada' };
const openSignIn = (page: string) =>
  console.open('live', { prepare: async () => {} }).then(async (opened: Page) => {
    await opened.context().clearCookies();
    await opened.goto(new URL(`/console/sign-in${page}`, console.address('')).href);
    return opened;
  });

it("signs in with the installation's identity provider, and returns to the requested page", async () => {
  provider.person = { subject: 'owner', claims: { ...ada, email: owner } };
  const wanted = new URL(console.address('events')).pathname;
  const page = await openSignIn(`?next=${wanted}`);
  await page.getByRole('button', { name: 'Continue with GitLab' }).waitFor();
  await checkPage(page);
  await page.getByRole('button', { name: 'Continue with GitLab' }).click();
  await page.getByRole('heading', { name: 'Events', level: 1 }).waitFor();
  expect(new URL(page.url()).pathname).toBe(wanted);
  await page.context().close();
});

it('explains a failed sign-in, and shows an ID for the administrator', async () => {
  provider.person = { subject: 'eve', claims: { email: 'eve@nowhere.example', email_verified: true } };
  const page = await openSignIn('');
  await page.getByRole('button', { name: 'Continue with GitLab' }).click();
  await page.getByText(/No account exists for your email address\. Ask for an invite\. \([\w-]{36}\)/).waitFor();
  await checkPage(page);
  await page.goto(new URL('/console/sign-in?error_code=%3Cb%3ECall%20me%3C/b%3E', console.address('')).href);
  await page.getByText('The sign-in with your identity provider failed.').waitFor();
  expect(await page.getByText('Call me').count()).toBe(0);
  const link = '/console/sign-in?error_code=no_email&error_id=Your%20account%20is%20locked.%20Call%20me.';
  await page.goto(new URL(link, console.address('')).href);
  await page.getByText('Your identity provider did not share an email address.', { exact: true }).waitFor();
  expect(await page.getByText('Call me').count()).toBe(0);
  await page.context().close();
});

it("enforces a domain's identity provider after an administrator has set it up and tested it", async () => {
  const page = await openAsMember(console, 15, 'domains');
  await page.getByRole('button', { name: 'Single sign-on for corp.example' }).click();
  const region = page.getByRole('region', { name: 'Single sign-on for corp.example' });
  await region.getByText('Not enforced').waitFor();
  await region.getByText('/complete/saml/').waitFor();
  await checkPage(page);
  await region.getByRole('button', { name: 'OpenID Connect' }).click();
  await region.getByText(`/complete/oidc/${domainId}/`).waitFor();
  await region.getByLabel('Issuer').fill('https://idp.corp.example');
  await region.getByLabel('Client ID').fill(provider.client.id);
  await region.getByLabel('Client secret').fill(provider.client.secret);
  await region.getByRole('button', { name: 'Save' }).click();
  await region.getByText('Saved.').waitFor();
  // Set the URL in the database, because the form accepts only HTTPS URLs.
  await console.query(
    'UPDATE organization_domain SET oidc_issuer = $2, jit_provisioning_enabled = true WHERE id = $1',
    [domainId, provider.issuer],
  );

  provider.person = { subject: 'owner-at-corp', claims: { ...ada, email: owner } };
  await page.reload();
  await region.getByRole('button', { name: 'Test sign-in' }).click();
  await region.getByText('Test: Test passed').waitFor();
  await region.getByText(/The response is valid. It identifies the user owner@corp.example/).waitFor();
  await region.getByText('Attributes from the provider').click();
  await region.getByText('given_name').waitFor();

  await region.getByLabel('Enforce single sign-on').selectOption('oidc');
  await region.getByText('Waiting', { exact: true }).waitFor();
  await checkPage(page);
  const other = await openSignIn('');
  await other.getByLabel('Email').fill(owner);
  await other.getByRole('button', { name: 'Single sign-on' }).click();
  await other.waitForURL(/\/console\/projects\//);
  await other.context().close();
  await page.reload();
  await region.getByText('Enforced', { exact: true }).waitFor();
  await region.getByText('Signed in', { exact: true }).waitFor();
  await checkPage(page);
  await page.context().close();

  provider.person = { subject: 'ada', claims: ada };
  const member = await openSignIn('');
  await member.getByLabel('Email').fill('ada@corp.example');
  await member.getByLabel('Password').fill('whatever it is');
  await member.getByRole('button', { name: 'Sign in', exact: true }).click();
  await member.waitForURL(/\/console\/projects\//);
  await member.context().close();
});

it("sso-121: signs in with a domain's SAML provider, which sends the response from another site", async () => {
  const { entityId, signOnUrl, certificate } = samlProvider;
  await console.query(
    `UPDATE organization_domain SET oidc_issuer = NULL, saml_entity_id = $2, saml_acs_url = $3, saml_x509_cert = $4, sso_enforcement = '',
            jit_provisioning_enabled = true WHERE id = $1`,
    [domainId, entityId, signOnUrl, certificate],
  );
  samlProvider.person = { nameId: 'grace', email: 'grace@corp.example', firstName: 'Grace <b>' };
  const wanted = new URL(console.address('events')).pathname;
  const page = await openSignIn(`?next=${wanted}`);
  await page.getByLabel('Email').fill('grace@corp.example');
  await page.getByRole('button', { name: 'Single sign-on' }).click();
  await page.getByRole('heading', { name: 'Events', level: 1 }).waitFor();
  expect(new URL(page.url()).pathname).toBe(wanted);
  const { rows } = await console.query('SELECT first_name FROM "user" WHERE email = $1', ['grace@corp.example']);
  expect(rows).toEqual([{ first_name: 'Grace <b>' }]);
  await page.context().close();
});

it("requires the account's second factor after sign-in with the installation's identity provider", async () => {
  await console.query("UPDATE organization_domain SET sso_enforcement = '' WHERE id = $1", [domainId]);
  await console.query(
    'INSERT INTO user_totp (user_id, secret, last_step) SELECT id, \'JBSWY3DPEHPK3PXP\', 0 FROM "user" WHERE email = $1',
    [owner],
  );
  provider.person = { subject: 'owner', claims: { ...ada, email: owner } };
  const page = await openSignIn('');
  await page.getByRole('button', { name: 'Continue with GitLab' }).click();
  await page.getByLabel('Code').waitFor();
  await checkPage(page);
  await console.query('DELETE FROM user_totp', []);
  await page.context().close();
});
