import { randomUUID } from 'node:crypto';
import { createChallengeLookup } from '@millrace/accounts';
import { type DnsServer, startDnsServer } from '@millrace/testing';
import { insufficient, notFound, permissionDenied, validationError } from '../../testing/expected-errors.ts';
import { createActors, type OrganizationActors } from '../../testing/organization-actors.ts';
import { startTestApi, type TestApi, type TestResponse } from '../../testing/start-test-api.ts';

/** Tests cases domain-001 to domain-031 (docs/cases.md#the-rest-api). */
let api: TestApi;
let dns: DnsServer;
let acme: OrganizationActors;
let free: OrganizationActors;
let path: string;
beforeAll(async () => {
  dns = await startDnsServer();
  api = await startTestApi({ lookUpChallenge: createChallengeLookup({ servers: [dns.address], timeoutMs: 2000 }) });
  acme = await createActors(api.database);
  free = await createActors(api.database, { plan: 'free' });
  path = `/api/organizations/${acme.organizationId}/domains/`;
});
afterAll(async () => {
  await api.stop();
  await dns.stop();
});
afterEach(() => dns.fail(null));

let counter = 0;
const freshName = () => {
  counter += 1;
  return `d${counter}.example.com`;
};

async function addDomain(body: Record<string, unknown> = {}, actors = acme): Promise<TestResponse['body']> {
  const response = await api.send('POST', `/api/organizations/${actors.organizationId}/domains/`, {
    key: actors.A.key,
    body: { domain: freshName(), ...body },
  });
  expect(response.status).toBe(201);
  return response.body;
}

const read = async (id: string, actors = acme) =>
  (await api.get(`/api/organizations/${actors.organizationId}/domains/${id}/`, actors.M.key)).body;
const verify = (id: string, key = acme.A.key) =>
  api.send('POST', `${path}${id}/verify/`, { key, body: {}, headers: { prefer: 'return=representation' } });
const prove = ({ domain, verification_challenge }: { domain: string; verification_challenge: string }) =>
  dns.setTxt(`_millrace-challenge.${domain}`, [['v=spf1 -all'], [verification_challenge]]);

async function addVerified(actors = acme): Promise<TestResponse['body']> {
  const domain = await addDomain({}, actors);
  await api.database.prisma.organization_domain.update({ where: { id: domain.id }, data: { verified_at: new Date() } });
  return domain;
}

test('domain-001, domain-002: a member lists the domains, and reads each domain with the same fields as in the list', async () => {
  const actors = await createActors(api.database);
  const created = await addDomain({ domain: 'listed.example.org' }, actors);
  await addDomain({ domain: 'also.example.org' }, actors);
  const { status, body } = await api.get(`/api/organizations/${actors.organizationId}/domains/`, actors.M.key);
  expect(status).toBe(200);
  expect(body).toMatchObject({
    count: 2,
    results: [
      { domain: 'also.example.org' },
      {
        id: created.id,
        domain: 'listed.example.org',
        verified_at: null,
        is_verified: false,
        jit_provisioning_enabled: false,
        sso_enforcement: '',
        verification_challenge: expect.stringMatching(/^[0-9A-Za-z_-]{43}$/),
      },
    ],
  });
  expect(await read(created.id, actors)).toEqual(body.results[1]);
});

test("domain-003, domain-004: returns 404 or 403 for another organization's domains", async () => {
  const other = await createActors(api.database);
  const foreign = await addDomain({}, other);
  expect(await api.get(`/api/organizations/@current/domains/${foreign.id}/`, acme.A.key)).toMatchObject(notFound());
  expect(await api.get(`${path}${foreign.id}/`, acme.A.key)).toMatchObject(notFound());
  expect(await api.get(`/api/organizations/${other.organizationId}/domains/`, acme.A.key)).toMatchObject(
    permissionDenied(),
  );
  expect(await api.get(`${path}not-a-uuid/`, acme.A.key)).toMatchObject(notFound());
  expect(await api.get(`${path}${randomUUID()}/`, acme.A.key)).toMatchObject(notFound());
});

test('domain-005: ignores read-only fields in a new domain', async () => {
  const body = {
    domain: 'the.example.com',
    verified_at: '2020-01-01T00:00:00Z',
    verification_challenge: '123',
    jit_provisioning_enabled: true,
    sso_enforcement: 'saml',
  };
  const response = await api.send('POST', path, { key: acme.A.key, body });
  expect(response).toMatchObject({
    status: 201,
    body: { domain: 'the.example.com', verified_at: null, jit_provisioning_enabled: false, sso_enforcement: '' },
  });
  expect(response.body.verification_challenge).toHaveLength(43);
});

test("domain-006: adds a domain on any plan, unlike PostHog's hosted service", async () => {
  expect((await addDomain({}, free)).is_verified).toBe(false);
});

test('domain-007: returns 400 for a domain name that another organization has verified', async () => {
  const { domain } = await addVerified(free);
  const expected = validationError('unique', 'domain', 'domain with this domain already exists.');
  expect(await api.send('POST', path, { key: acme.A.key, body: { domain } })).toMatchObject(expected);
  const own = await addDomain();
  expect(await api.send('PATCH', `${path}${own.id}/`, { key: acme.A.key, body: { domain } })).toMatchObject(expected);
});

describe('a domain name that no organization has verified', () => {
  const taken = validationError('unique', 'domain', 'domain with this domain already exists.');
  const pathOf = (actors: OrganizationActors) => `/api/organizations/${actors.organizationId}/domains/`;
  const asFree = (method: 'GET' | 'POST' | 'PATCH', rest: string, body?: object) =>
    api.send(method, `${pathOf(free)}${rest}`, { key: free.A.key, ...(body && { body }) });

  test('several organizations can add an unverified name, and the first one that verifies it gets the domain', async () => {
    const first = await addDomain({}, free);
    const { domain } = first;
    const second = await addDomain({ domain });
    expect([second.domain, second.is_verified]).toEqual([domain, false]);
    const { results } = (await api.get(path, acme.M.key)).body;
    expect(results.map((row: { domain: string }) => row.domain)).toContain(domain);
    const renamed = await addDomain({}, free);
    expect((await asFree('PATCH', `${renamed.id}/`, { domain })).body).toEqual(taken.body);
    prove(second);
    expect((await verify(second.id)).body).toMatchObject({ domain, is_verified: true });
    // The first organization's row must be unchanged, because the second organization's TXT record does not verify it.
    expect(await read(first.id, free)).toEqual(first);
    prove(first);
    expect(await asFree('POST', `${first.id}/verify/`)).toMatchObject(taken);
    expect(await api.send('POST', pathOf(free), { key: free.A.key, body: { domain } })).toMatchObject(taken);
    // Once the verified domain is deleted, the other organization can verify its name.
    expect((await api.send('DELETE', `${path}${second.id}/`, { key: acme.A.key })).status).toBe(204);
    expect((await asFree('POST', `${first.id}/verify/`)).status).toBe(200);
    expect(await read(first.id, free)).toMatchObject({ domain, is_verified: true });
  });

  test('an organization can add an unverified name only once, even if others add it at the same time', async () => {
    const domain = freshName();
    const others = await Promise.all([1, 2, 3].map(() => createActors(api.database)));
    const responses = await Promise.all(
      [acme, ...others].map((actors) => api.send('POST', pathOf(actors), { key: actors.A.key, body: { domain } })),
    );
    expect(responses.map(({ status, body }) => [status, body.domain])).toEqual(responses.map(() => [201, domain]));
    expect(await api.send('POST', path, { key: acme.A.key, body: { domain } })).toMatchObject(taken);
    const settings = { saml_entity_id: 'x' };
    for (const { body } of responses.slice(0, 1)) {
      const changed = await api.send('PATCH', `${path}${body.id}/`, { key: acme.A.key, body: settings });
      expect(changed.body).toMatchObject({ domain, saml_entity_id: 'x' });
    }
  });

  test('other organizations can invite email addresses with the unverified domain name', async () => {
    const { domain } = await addVerified(free);
    const unproved = freshName();
    await addDomain({ domain: unproved }, free);
    for (const name of [domain, unproved]) {
      const body = { target_email: `ada@${name}` };
      const response = await api.send('POST', `/api/organizations/${acme.organizationId}/invites/`, {
        key: acme.A.key,
        body,
      });
      expect(response.status).toBe(201);
    }
  });
});

test.each([
  ['domain-008', 'test@x.com'],
  ['domain-009', '🦔.com'],
  ['domain-010', 'one.two.c'],
  ['domain-011', '--alpha.com'],
  ['domain-012', 'javascript: alert(1)'],
  ['capitals', 'Example.com'],
  ['one label', 'localhost'],
  ['a trailing dot', 'example.com.'],
  ['an address', '192.0.2.1'],
])('%s: rejects %s as a domain name', async (_, domain) => {
  const expected = validationError('invalid_input', 'domain', 'Please enter a valid domain or subdomain name.');
  expect(await api.send('POST', path, { key: acme.A.key, body: { domain } })).toMatchObject(expected);
});

test.each(['bücher.example', 'xn--bcher-kva.example', 'a-b.c-d.example', 'example.xn--p1ai'])(
  'accepts internationalized domain names only in ASCII form, unlike PostHog: %s',
  async (domain) => {
    const { status } = await api.send('POST', path, { key: acme.A.key, body: { domain } });
    expect(status).toBe(domain.startsWith('b') ? 400 : 201);
  },
);

test.each([
  [{}, validationError('required', 'domain', 'This field is required.')],
  [{ domain: null }, validationError('null', 'domain', 'This field may not be null.')],
  [{ domain: '' }, validationError('blank', 'domain', 'This field may not be blank.')],
  [
    { domain: 'a'.repeat(129) },
    validationError('max_length', 'domain', 'Ensure this field has no more than 128 characters.'),
  ],
  [
    { domain: 'ok.example.com', sso_enforcement: 'x'.repeat(29) },
    validationError('max_length', 'sso_enforcement', 'Ensure this field has no more than 28 characters.'),
  ],
  [
    { domain: 'ok.example.com', sso_enforcement: null },
    validationError('null', 'sso_enforcement', 'This field may not be null.'),
  ],
  [
    { domain: 'ok.example.com', saml_acs_url: 'x'.repeat(513) },
    validationError('max_length', 'saml_acs_url', 'Ensure this field has no more than 512 characters.'),
  ],
])('domain-013: returns 400 for a new domain with %j', async (body, expected) => {
  expect(await api.send('POST', path, { key: acme.A.key, body })).toMatchObject(expected);
});

test('domain-014: verifies a domain whose TXT record contains the challenge', async () => {
  const domain = await addDomain();
  prove(domain);
  const before = Date.now();
  const { status, body } = await verify(domain.id);
  expect([status, body.is_verified]).toEqual([200, true]);
  expect(Date.parse(body.verified_at)).toBeGreaterThanOrEqual(before - 1000);
  const { check, ...shown } = body;
  expect(await read(domain.id)).toEqual(shown);
  const name = `_millrace-challenge.${domain.domain}`;
  const asked = { name, servers: [dns.address], error: null };
  expect(check).toEqual({ ...asked, outcome: 'shown', found: ['v=spf1 -all', domain.verification_challenge] });
  expect(dns.questions).toContain(`_millrace-challenge.${domain.domain}`);
});

const none = { outcome: 'not shown', found: [] };
const unproved: [string, (domain: { domain: string; verification_challenge: string }) => void, object][] = [
  [
    'domain-015: no TXT record',
    ({ domain }) => dns.setTxt(`_millrace-challenge.${domain}`, []),
    { ...none, error: 'ENODATA' },
  ],
  ['domain-016: NXDOMAIN', () => {}, { ...none, error: 'ENOTFOUND' }],
  [
    'domain-017: another value',
    ({ domain }) => dns.setTxt(`_millrace-challenge.${domain}`, [['another']]),
    { outcome: 'not shown', found: ['another'], error: null },
  ],
  [
    'a part of the value',
    ({ domain, verification_challenge: challenge }) =>
      dns.setTxt(`_millrace-challenge.${domain}`, [[challenge.slice(0, 20), challenge.slice(20)]]),
    { outcome: 'not shown', found: [expect.stringMatching(/^[\w-]{20}" "[\w-]{23}$/)] },
  ],
  [
    'the record at the domain itself',
    ({ domain, verification_challenge }) => dns.setTxt(domain, [[verification_challenge]]),
    none,
  ],
  ['SERVFAIL', () => dns.fail('SERVFAIL'), { outcome: 'no answer', found: [], error: 'ESERVFAIL' }],
  ['no response', () => dns.fail('silence'), { outcome: 'no answer', found: [], error: 'ETIMEOUT' }],
];
test.each(unproved)(
  '%s leaves the domain unverified without an error, and the response contains the DNS result',
  async (_, arrange, check) => {
    const domain = await addDomain();
    arrange(domain);
    const { status, body } = await verify(domain.id);
    expect([status, body.is_verified, body.verified_at]).toEqual([200, false, null]);
    expect(body.check).toMatchObject({ ...check, servers: [dns.address] });
    const row = await api.database.prisma.organization_domain.findUniqueOrThrow({ where: { id: domain.id } });
    expect(row.last_verification_retry).not.toBeNull();
  },
);

test('verification returns no body without a `Prefer` header', async () => {
  const domain = await addDomain();
  prove(domain);
  const response = await api.send('POST', `${path}${domain.id}/verify/`, { key: acme.A.key, body: { domain: 'x' } });
  expect([response.status, response.body]).toEqual([200, undefined]);
  expect(await read(domain.id)).toMatchObject({ is_verified: true });
});

test('domain-018: returns 400 when verifying a domain that is already verified', async () => {
  const { id } = await addVerified();
  expect(await verify(id)).toMatchObject(
    validationError('already_verified', null, 'This domain has already been verified.'),
  );
});

it('shows a domain as not verified once its DNS record has been missing for seven days', async () => {
  const domain = await addVerified();
  const { id } = domain;
  const missingFor = (days: number) =>
    api.database.sql.query(
      'UPDATE organization_domain SET proof_missing_since = now() - make_interval(days => $2) WHERE id = $1',
      [id, days],
    );
  await missingFor(6);
  expect(await read(id)).toMatchObject({ is_verified: true });
  await missingFor(8);
  expect(await read(id)).toMatchObject({ is_verified: false });
  prove(domain);
  expect((await verify(id)).body).toMatchObject({ is_verified: true });
  expect(await read(id)).toMatchObject({ is_verified: true });
});

test('domain-019, domain-020: returns 403 when a member adds or verifies a domain', async () => {
  const domain = await addDomain();
  prove(domain);
  expect(await api.send('POST', path, { key: acme.M.key, body: { domain: freshName() } })).toMatchObject(insufficient);
  expect(await verify(domain.id, acme.M.key)).toMatchObject(insufficient);
  expect(await read(domain.id)).toMatchObject({ is_verified: false });
});

test('domain-021: changes the sign-in settings of a verified domain', async () => {
  const { id } = await addVerified();
  const body = { sso_enforcement: 'google-oauth2', jit_provisioning_enabled: true };
  const response = await api.send('PATCH', `${path}${id}/`, { key: acme.A.key, body });
  expect(response).toMatchObject({ status: 200, body: { ...body, is_verified: true } });
  expect(await read(id)).toEqual(response.body);
});

test.each([
  ['domain-022', { sso_enforcement: 'google-oauth2' }, 'sso_enforcement'],
  ['domain-023', { jit_provisioning_enabled: true }, 'jit_provisioning_enabled'],
  ['also the current value', { jit_provisioning_enabled: false, sso_enforcement: '' }, 'jit_provisioning_enabled'],
])('%s: returns 400 for sign-in settings of an unverified domain: %j', async (_, body, attr) => {
  const { id } = await addDomain();
  const expected = validationError(
    'verification_required',
    attr,
    'This attribute cannot be updated until the domain is verified.',
  );
  expect(await api.send('PATCH', `${path}${id}/`, { key: acme.A.key, body })).toMatchObject(expected);
});

test('domain-024: ignores read-only fields in a changed domain', async () => {
  const domain = await addDomain();
  const body = { verified_at: '2020-01-01T00:00:00Z', verification_challenge: '123', is_verified: true };
  expect(await api.send('PATCH', `${path}${domain.id}/`, { key: acme.A.key, body })).toMatchObject({
    status: 200,
    body: domain,
  });
});

test('domain-025 to domain-029: returns 403 or 404 when a member or a non-member changes or deletes a domain', async () => {
  const { id } = await addDomain();
  const foreign = await addDomain({}, free);
  const foreignPath = `/api/organizations/${free.organizationId}/domains/${foreign.id}/`;
  expect(await api.send('PATCH', `${path}${id}/`, { key: acme.M.key, body: {} })).toMatchObject(insufficient);
  expect(await api.send('PATCH', foreignPath, { key: acme.A.key, body: {} })).toMatchObject(permissionDenied());
  expect(await api.send('DELETE', `${path}${id}/`, { key: acme.M.key })).toMatchObject(insufficient);
  expect(await api.send('DELETE', foreignPath, { key: acme.A.key })).toMatchObject(permissionDenied());
  expect(await api.send('DELETE', `${path}${foreign.id}/`, { key: acme.A.key })).toMatchObject(notFound());
  const removed = await api.send('DELETE', `${path}${id}/`, { key: acme.A.key });
  expect([removed.status, removed.body]).toEqual([204, undefined]);
  expect(await api.send('DELETE', `${path}${id}/`, { key: acme.A.key })).toMatchObject(notFound());
  expect(await read(foreign.id, free)).toMatchObject({ id: foreign.id });
});

test('allows other organizations to add the name of a deleted domain', async () => {
  const { id, domain } = await addDomain();
  await api.send('DELETE', `${path}${id}/`, { key: acme.A.key });
  expect((await addDomain({ domain }, free)).domain).toBe(domain);
});

test('domain-030: requires a plan with automatic provisioning for `jit_provisioning_enabled`', async () => {
  const { id } = await addVerified(free);
  const address = `/api/organizations/${free.organizationId}/domains/${id}/`;
  const expected = validationError(
    'feature_not_available',
    'jit_provisioning_enabled',
    'Automatic provisioning is not enabled for this organization.',
  );
  const body = { jit_provisioning_enabled: true };
  expect(await api.send('PATCH', address, { key: free.A.key, body })).toMatchObject(expected);
});

test('domain-031: accepts SAML settings before verification, and sets `has_saml` once all three fields are set', async () => {
  const { id } = await addDomain();
  const body = { saml_entity_id: 'urn:idp', saml_acs_url: 'https://idp.example/acs', saml_x509_cert: 'MIIC' };
  const patch = (changes: object) => api.send('PATCH', `${path}${id}/`, { key: acme.A.key, body: changes });
  expect(await patch(body)).toMatchObject({ status: 200, body: { ...body, has_saml: true } });
  expect(await patch({ saml_acs_url: '' })).toMatchObject({ status: 200, body: { saml_acs_url: '', has_saml: false } });
  expect(await patch({ saml_entity_id: null })).toMatchObject({ status: 200, body: { saml_entity_id: null } });
});

test('PUT requires the domain name, and leaves absent fields unchanged', async () => {
  const domain = await addDomain({ saml_entity_id: 'a' });
  const put = (body: unknown) => api.send('PUT', `${path}${domain.id}/`, { key: acme.A.key, body });
  expect(await put({})).toMatchObject(validationError('required', 'domain', 'This field is required.'));
  const response = await put({ domain: domain.domain, saml_acs_url: 'b' });
  expect(response).toMatchObject({ status: 200, body: { ...domain, saml_entity_id: 'a', saml_acs_url: 'b' } });
});

test('requires a new verification after a rename, because otherwise an organization could claim any domain', async () => {
  const domain = await addVerified();
  const body = { domain: freshName() };
  const response = await api.send('PATCH', `${path}${domain.id}/`, { key: acme.A.key, body });
  expect(response).toMatchObject({ status: 200, body: { ...body, is_verified: false, verified_at: null } });
  expect(response.body.verification_challenge).not.toBe(domain.verification_challenge);
});

test('keeps concurrent changes to different domain fields', async () => {
  const { id } = await addDomain();
  const bodies = [{ saml_entity_id: 'a' }, { saml_acs_url: 'b' }, { saml_x509_cert: 'c' }];
  await Promise.all(bodies.map((body) => api.send('PATCH', `${path}${id}/`, { key: acme.A.key, body })));
  expect(await read(id)).toMatchObject({ saml_entity_id: 'a', saml_acs_url: 'b', saml_x509_cert: 'c' });
});

test("lets only one of an organization's concurrent requests add the same domain name", async () => {
  const domain = freshName();
  const responses = await Promise.all(
    [acme, free, acme].map((actors) =>
      api.send('POST', `/api/organizations/${actors.organizationId}/domains/`, { key: actors.A.key, body: { domain } }),
    ),
  );
  expect(responses.map(({ status }) => status).sort()).toEqual([201, 201, 400]);
});
