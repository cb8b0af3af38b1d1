import { randomUUID } from 'node:crypto';
import { get } from 'node:http';
import { inflateRawSync } from 'node:zlib';
import { createTestTenant, type TestTenant } from '@millrace/testing';
import { createTestKey } from '@millrace/testing/provider-key';
import { signInAs, startTestApi, type TestApi } from '../testing/start-test-api.ts';

/** Tests that identity providers and passkeys use the configured URL, never the `Host` header of a request. */
let api: TestApi;
let without: TestApi;
let tenant: TestTenant;
const domainId = randomUUID();
beforeAll(async () => {
  api = await startTestApi();
  const gitlab = { kind: 'gitlab', name: 'GitLab', issuer: 'https://gitlab.example', clientId: 'id' } as const;
  without = await startTestApi(
    {
      publicUrl: undefined,
      installedProviders: new Map([['gitlab', { ...gitlab, clientSecret: 'secret', isConfiguredByOperator: true }]]),
    },
    { databaseUrl: api.databaseUrl },
  );
  tenant = await createTestTenant(api.database, { email: 'owner@corp.example', isEmailVerified: true });
  await api.database.sql.query(
    `INSERT INTO organization_domain (id, organization_id, domain, verification_challenge, verified_at,
                                      saml_entity_id, saml_acs_url, saml_x509_cert)
     VALUES ($1, $2, 'corp.example', 'challenge', now(), 'https://idp.example', 'https://idp.example/sso', $3)`,
    [domainId, tenant.organizationId, createTestKey().certificate],
  );
});
afterAll(async () => {
  await without?.stop();
  await api?.stop();
});

const asHost = (path: string) =>
  new Promise<{ location: string; text: string }>((resolve, reject) => {
    get(api.url + path, { headers: { host: 'evil.example' } }, (response) => {
      let text = '';
      response.on('data', (chunk) => {
        text += chunk;
      });
      response.on('end', () => resolve({ location: response.headers.location ?? '', text }));
    }).on('error', reject);
  });

test('sso-393: SAML uses the configured URL as its own URL, and ignores the Host header', async () => {
  expect((await asHost('/api/saml/metadata/')).text).toContain(`entityID="${api.url}"`);
  const { location } = await asHost('/login/saml/?email=x@corp.example');
  const request = new URL(location).searchParams.get('SAMLRequest') ?? '';
  const xml = inflateRawSync(Buffer.from(request, 'base64')).toString();
  expect(xml).toContain(`AssertionConsumerServiceURL="${api.url}/complete/saml/"`);
  expect(xml).not.toContain('evil.example');
});

describe('sign-in without the setting PUBLIC_API_URL', () => {
  const errorOf = (response: Response) =>
    new URL(response.headers.get('location') ?? '').searchParams.get('error_code');

  test.each([
    ['GET', '/login/gitlab/'],
    ['GET', '/login/saml/?email=x@corp.example'],
    ['GET', '/complete/gitlab/?code=c&state=s'],
    ['POST', '/complete/saml/'],
  ])('sso-394: %s %s redirects to the sign-in page with the error public_url_required', async (method, path) => {
    const form = { body: new URLSearchParams({ SAMLResponse: 'x', RelayState: domainId }) };
    const response = await fetch(without.url + path, { method, redirect: 'manual', ...(method === 'POST' && form) });
    expect(errorOf(response)).toBe('public_url_required');
  });

  test('sso-394: publishes no SAML metadata, and offers no sign-in provider', async () => {
    const metadata = await fetch(`${without.url}/api/saml/metadata/`);
    expect([metadata.status, await metadata.text()]).toEqual([
      503,
      'Single sign-on is not available, because PUBLIC_API_URL is not set.\n',
    ]);
    const asked = (of: TestApi) => of.send('POST', '/api/login/precheck/', { body: { email: 'x@corp.example' } });
    expect((await asked(api)).body).toMatchObject({ saml_available: true });
    expect((await asked(without)).body).toMatchObject({ saml_available: false, social_providers: { gitlab: false } });
  });

  test('sso-394: rejects the registration and the use of passkeys', async () => {
    const refused = { status: 400, body: { code: 'public_url_required' } };
    const key = await signInAs(without, tenant.userId);
    expect(await without.send('POST', '/api/webauthn/register/begin/', { key })).toMatchObject(refused);
    expect(await without.send('POST', '/api/webauthn/login/begin/', { body: {} })).toMatchObject(refused);
  });
});
