import { randomUUID } from 'node:crypto';
import { createTestKey } from '@millrace/testing/provider-key';
import { validationError } from '../../testing/expected-errors.ts';
import { createActors, type OrganizationActors } from '../../testing/organization-actors.ts';
import { startTestApi, type TestApi, type TestResponse } from '../../testing/start-test-api.ts';

/** Tests the validation of the settings of a domain's identity provider. */
let api: TestApi;
let acme: OrganizationActors;
let path: string;
beforeAll(async () => {
  api = await startTestApi();
  acme = await createActors(api.database);
  path = `/api/organizations/${acme.organizationId}/domains/`;
});
afterAll(() => api.stop());

const freshName = () => `${randomUUID()}.example`;
const send = (method: 'POST' | 'PATCH' | 'PUT', address: string, body: object) =>
  api.send(method, address, { key: acme.A.key, body });
async function addDomain(body: object = {}): Promise<TestResponse['body']> {
  const response = await send('POST', path, { domain: freshName(), ...body });
  expect(response.status).toBe(201);
  return response.body;
}
const read = async (id: string) => (await api.get(`${path}${id}/`, acme.A.key)).body;

describe('the certificates of a SAML provider', () => {
  const certificates = Array.from({ length: 6 }, () => createTestKey({ type: 'ec' }).certificate);

  test.each([
    ['six certificates', certificates, 'At most 5 certificates are allowed.'],
    ['the same certificate twice', certificates.slice(0, 2).concat(certificates.slice(0, 1)), 'same certificate'],
  ])('returns 400 for %s in a new or changed domain', async (_, pasted, detail) => {
    const domain = await addDomain();
    const saml_x509_cert = pasted.join('\n');
    const expected = validationError('invalid_certificate', 'saml_x509_cert', expect.stringContaining(detail));
    const requests = [
      ['POST', path, { domain: freshName(), saml_x509_cert }],
      ['PATCH', `${path}${domain.id}/`, { saml_x509_cert }],
      ['PUT', `${path}${domain.id}/`, { domain: domain.domain, saml_x509_cert }],
    ] as const;
    for (const [method, address, body] of requests) {
      expect(await send(method, address, body)).toMatchObject(expected);
    }
    expect(await read(domain.id)).toEqual(domain);
  });

  test('accepts five certificates', async () => {
    const saml_x509_cert = certificates.slice(1).join('\n').trim();
    expect(await addDomain({ saml_x509_cert })).toMatchObject({ saml_x509_cert });
  });
});

describe('the client secret of an OpenID provider', () => {
  const provider = {
    oidc_issuer: 'https://login.example.com',
    oidc_client_id: 'millrace',
    oidc_client_secret: 'a secret for login.example.com',
  };
  const required = validationError('required', 'oidc_client_secret', expect.stringContaining('oidc_issuer'));
  const stored = async (id: string) =>
    (
      await api.database.sql.query('SELECT oidc_issuer, oidc_client_secret FROM organization_domain WHERE id = $1', [
        id,
      ])
    )[0];
  async function addProvider() {
    const { id } = await addDomain();
    const signOn = `${path}${id}/sign_on/`;
    expect(await send('PATCH', signOn, provider)).toMatchObject({ status: 200, body: { has_oidc: true } });
    return { id, signOn };
  }

  test('returns 400 when the issuer changes without a new secret, even if it was cleared before', async () => {
    const { id, signOn } = await addProvider();
    const before = await stored(id);
    const elsewhere = { oidc_issuer: 'https://attacker.example' };
    expect(await send('PATCH', signOn, elsewhere)).toMatchObject(required);
    expect(await send('PATCH', signOn, { ...elsewhere, oidc_client_id: 'another' })).toMatchObject(required);
    expect(await stored(id)).toEqual(before);
    expect((await send('PATCH', signOn, { oidc_issuer: null })).status).toBe(200);
    expect(await send('PATCH', signOn, elsewhere)).toMatchObject(required);
    expect((await send('PATCH', signOn, { oidc_issuer: '' })).status).toBe(200);
    expect(await send('PATCH', signOn, elsewhere)).toMatchObject(required);
  });

  test('keeps the client secret with an unchanged issuer, and replaces or clears both together', async () => {
    const { id, signOn } = await addProvider();
    const before = await stored(id);
    const { oidc_issuer } = provider;
    expect((await send('PATCH', signOn, { oidc_issuer, oidc_client_id: 'another' })).body.has_oidc).toBe(true);
    expect(await stored(id)).toEqual(before);
    const moved = { oidc_issuer: 'https://id.example.com', oidc_client_secret: 'a secret for id.example.com' };
    expect((await send('PATCH', signOn, moved)).body.has_oidc).toBe(true);
    expect(await stored(id)).not.toEqual(before);
    const cleared = { oidc_issuer, oidc_client_secret: null };
    expect((await send('PATCH', signOn, cleared)).body).toMatchObject({ oidc_issuer, has_oidc: false });
  });
});
