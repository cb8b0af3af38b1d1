import { randomUUID } from 'node:crypto';
import { createChallengeLookup } from '@millrace/accounts';
import { type DnsServer, startDnsServer } from '@millrace/testing';
import { permissionDenied } from '../../testing/expected-errors.ts';
import { createActors, type OrganizationActors } from '../../testing/organization-actors.ts';
import { startTestApi, type TestApi } from '../../testing/start-test-api.ts';

/** Tests which roles can configure sign-in for a domain that an owner's email address is in (docs/api/domains.md). */
let api: TestApi;
let dns: DnsServer;
let acme: OrganizationActors;
let path: string;
let name: string;
beforeAll(async () => {
  dns = await startDnsServer();
  api = await startTestApi({ lookUpChallenge: createChallengeLookup({ servers: [dns.address], timeoutMs: 2000 }) });
});
afterAll(async () => {
  await api.stop();
  await dns.stop();
});
beforeEach(async () => {
  acme = await createActors(api.database);
  path = `/api/organizations/${acme.organizationId}/domains/`;
  name = `${randomUUID()}.example`;
});

const refused = permissionDenied(expect.stringContaining('Only an owner'));
type Method = 'GET' | 'POST' | 'PATCH' | 'DELETE';
const as = (who: 'A' | 'W', method: Method, address: string, body: object = {}) =>
  api.send(method, `${path}${address}`, { key: acme[who].key, ...(method !== 'GET' && { body }) });
const moveOwner = (email: string) =>
  api.database.sql.query('UPDATE "user" SET email = $2 WHERE id = $1', [acme.W.userId, email]);
const saml = { saml_entity_id: 'urn:idp', saml_acs_url: 'https://idp.example/sso', saml_x509_cert: 'MIIC' };

/**
 * Adds a verified domain with providers, SCIM and settings. An administrator set it up before any owner had an email
 * address in the domain.
 */
async function setUpDomain(): Promise<string> {
  const { body } = await as('A', 'POST', '', { domain: name, ...saml });
  const { id } = body;
  await api.database.sql.query('UPDATE organization_domain SET verified_at = now() WHERE id = $1', [id]);
  const oidc = { oidc_issuer: 'https://a.example', oidc_client_id: 'a', oidc_client_secret: 'a' };
  expect((await as('A', 'PATCH', `${id}/sign_on/`, oidc)).status).toBe(200);
  expect((await as('A', 'POST', `${id}/scim/`)).status).toBe(200);
  return id;
}

const changes: [Method, string, object?][] = [
  ['PATCH', '/', { saml_entity_id: 'urn:other' }],
  ['PATCH', '/', { saml_acs_url: 'https://other.example/sso' }],
  ['PATCH', '/', { saml_x509_cert: 'MIID' }],
  ['PATCH', '/', { sso_enforcement: 'saml' }],
  ['PATCH', '/', { domain: `${randomUUID()}.example` }],
  ['PATCH', '/sign_on/', { saml_allow_unsolicited: true }],
  ['PATCH', '/sign_on/', { oidc_client_id: 'b' }],
  ['PATCH', '/sign_on/', { oidc_client_secret: 'b' }],
  ['PATCH', '/sign_on/', { oidc_issuer: 'https://b.example', oidc_client_secret: 'b' }],
  ['PATCH', '/sign_on/', { sso_owner_exception: true }],
  ['POST', '/scim/regenerate/'],
  ['DELETE', '/'],
];

test.each(changes)(
  "returns 403 when an administrator calls %s %s with %j and an owner's email address is in the domain",
  async (...change) => {
    const [method, rest, body] = change;
    const id = await setUpDomain();
    await moveOwner(`owner@${name}`);
    const before = (await as('A', 'GET', `${id}/sign_on/`)).body;
    expect(await as('A', method, id + rest, body)).toMatchObject(refused);
    expect((await as('A', 'GET', `${id}/sign_on/`)).body).toEqual(before);
    expect((await as('W', method, id + rest, body)).status).toBeLessThan(300);
  },
);

test('lets an administrator turn SCIM off, and change settings unrelated to sign-in', async () => {
  const id = await setUpDomain();
  await moveOwner(`owner@${name}`);
  const same = { ...saml, jit_provisioning_enabled: true };
  expect((await as('A', 'PATCH', `${id}/`, same)).status).toBe(200);
  expect((await as('A', 'POST', `${id}/scim/disable/`)).status).toBe(200);
  expect(await as('A', 'POST', `${id}/scim/`)).toMatchObject(refused);
});

test('returns 403 when an administrator, instead of an owner, adds or verifies a domain with an identity provider', async () => {
  const prove = ({ verification_challenge: challenge }: { verification_challenge: string }) =>
    dns.setTxt(`_millrace-challenge.${name}`, [[challenge]]);
  const early = await as('A', 'POST', '', { domain: name, ...saml });
  await moveOwner(`owner@${name}`);
  prove(early.body);
  expect(await as('A', 'POST', `${early.body.id}/verify/`)).toMatchObject(refused);
  expect((await as('A', 'DELETE', `${early.body.id}/`)).status).toBe(204);
  expect(await as('A', 'POST', '', { domain: name, ...saml })).toMatchObject(refused);
  // An administrator can add and verify a domain with an owner's email address only while it has no provider.
  const late = await as('A', 'POST', '', { domain: name });
  prove(late.body);
  expect((await as('A', 'POST', `${late.body.id}/verify/`)).status).toBe(200);
  expect(await as('A', 'PATCH', `${late.body.id}/`, { saml_entity_id: 'urn:idp' })).toMatchObject(refused);
});

test('compares email addresses with the normalized domain name, and includes pending invites with the owner role', async () => {
  name = `xn--bcher-kva.${name}`;
  const id = await setUpDomain();
  const change = { saml_entity_id: 'urn:other' };
  await moveOwner(`owner@${name.replace('xn--bcher-kva', 'bücher')}`);
  expect(await as('A', 'PATCH', `${id}/`, change)).toMatchObject(refused);
  await moveOwner(`owner@sub.${name}`);
  const invite = { target_email: `next@${name}`, level: 15 };
  const invited = await api.send('POST', `/api/organizations/${acme.organizationId}/invites/`, {
    key: acme.W.key,
    body: invite,
  });
  expect(invited.status).toBe(201);
  expect(await as('A', 'PATCH', `${id}/`, change)).toMatchObject(refused);
  await api.database.sql.query('DELETE FROM organization_invite WHERE organization_id = $1', [acme.organizationId]);
  expect((await as('A', 'PATCH', `${id}/`, change)).status).toBe(200);
});
