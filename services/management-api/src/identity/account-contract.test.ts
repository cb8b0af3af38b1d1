import { type ContractTable, deviations, userTable } from '../testing/contract-table.ts';
import { createActors, type OrganizationActors } from '../testing/organization-actors.ts';
import { startTestApi, type TestApi } from '../testing/start-test-api.ts';

/**
 * Compares the fields of real responses about users and organizations with PostHog's API
 * (docs/api/README.md#routes-and-fields).
 */
const domainTable: ContractTable = {
  id: 'uuid',
  domain: 'string',
  is_verified: 'boolean',
  verified_at: 'timestamp?',
  verification_challenge: 'string',
  jit_provisioning_enabled: 'boolean',
  sso_enforcement: 'string',
  has_saml: 'boolean',
  saml_entity_id: 'string?',
  saml_acs_url: 'string?',
  saml_x509_cert: 'string?',
};
const inviteTable: ContractTable = {
  id: 'uuid',
  target_email: 'email',
  first_name: 'string',
  emailing_attempt_made: 'boolean',
  level: 'integer',
  is_expired: 'boolean',
  created_by: 'User?',
  created_at: 'timestamp',
  updated_at: 'timestamp',
  message: 'string?',
  private_project_access: 'array?',
  send_email: 'boolean',
  combine_pending_invites: 'boolean',
};
const memberTable: ContractTable = {
  id: 'uuid',
  user: 'User',
  level: 'integer',
  joined_at: 'timestamp',
  updated_at: 'timestamp',
  is_2fa_enabled: 'boolean',
  has_social_auth: 'boolean',
  last_login: 'timestamp?',
};
const envelopeTable: ContractTable = { count: 'integer', next: 'string?', previous: 'string?', results: 'array' };

let api: TestApi;
let acme: OrganizationActors;
let path: string;
beforeAll(async () => {
  api = await startTestApi();
  acme = await createActors(api.database);
  path = `/api/organizations/${acme.organizationId}`;
});
afterAll(() => api.stop());

type Send = 'POST' | 'PATCH' | 'DELETE';
const representation = { prefer: 'return=representation' };
const send = (method: Send, at: string, body?: unknown, headers = {}) =>
  api.send(method, path + at, { key: acme.A.key, body, headers });

/**
 * Reads one page of a list. The page must have at least one record, and each record must have the fields in the table.
 */
async function walkList(at: string, table: ContractTable): Promise<void> {
  const { status, body } = await api.get(`${path}${at}?limit=1`, acme.A.key);
  expect([status, deviations(envelopeTable, body)]).toEqual([200, []]);
  expect(body.results.map((record: Record<string, unknown>) => deviations(table, record))).toEqual([[]]);
}

test("rows 3 to 8: domains have the fields of PostHog's API", async () => {
  const full = { domain: 'contract.example.com', saml_entity_id: 'a', saml_acs_url: 'b', saml_x509_cert: 'c' };
  const created = await send('POST', '/domains/', full);
  expect([created.status, deviations(domainTable, created.body)]).toEqual([201, []]);
  expect(deviations(domainTable, (await send('POST', '/domains/', { domain: 'bare.example.com' })).body)).toEqual([]);
  await walkList('/domains/', domainTable);
  const at = `/domains/${created.body.id}/`;
  const read = await api.get(path + at, acme.A.key);
  expect([read.status, deviations(domainTable, read.body)]).toEqual([200, []]);
  const changed = await send('PATCH', at, { saml_entity_id: null });
  expect([changed.status, deviations(domainTable, changed.body)]).toEqual([200, []]);
  expect(await send('POST', `${at}verify/`, full)).toMatchObject({ status: 200, body: undefined });
  const verified = await send('POST', `${at}verify/`, full, representation);
  // `check` describes the DNS query. PostHog's API does not have this field.
  const checkedTable: ContractTable = { ...domainTable, check: 'object' };
  expect([verified.status, deviations(checkedTable, verified.body)]).toEqual([200, []]);
  await api.database.prisma.organization_domain.update({
    where: { id: created.body.id },
    data: { verified_at: new Date() },
  });
  expect(deviations(domainTable, (await api.get(path + at, acme.A.key)).body)).toEqual([]);
  expect(await send('DELETE', at)).toMatchObject({ status: 204, body: undefined });
});

test("rows 9 to 12: invites have the fields of PostHog's API", async () => {
  const full = {
    target_email: 'full@example.com',
    first_name: 'Grace',
    level: 8,
    message: 'Hello',
    private_project_access: [{ id: acme.projectId, level: 1 }],
    send_email: false,
    combine_pending_invites: true,
  };
  for (const body of [full, { target_email: 'bare@example.com' }]) {
    const created = await send('POST', '/invites/', body);
    expect([created.status, deviations(inviteTable, created.body)]).toEqual([201, []]);
    expect(created.body).toMatchObject(body);
  }
  await walkList('/invites/', inviteTable);
  expect(await send('POST', '/invites/bulk/', [full])).toMatchObject({ status: 200, body: undefined });
  const bulk = await send('POST', '/invites/bulk/', full, representation);
  expect([bulk.status, deviations(inviteTable, bulk.body[0])]).toEqual([200, []]);
  expect(await send('DELETE', `/invites/${bulk.body[0].id}/`)).toMatchObject({ status: 204, body: undefined });
  const { id } = await api.database.prisma.organization_invite.findFirstOrThrow();
  await api.database.prisma.organization_invite.update({ where: { id }, data: { created_by_id: null } });
  await walkList('/invites/', inviteTable);
});

test("rows 13 to 15: members have the fields of PostHog's API, also after a sign-in", async () => {
  await walkList('/members/', memberTable);
  await api.database.prisma.user.update({ where: { id: acme.A.userId }, data: { last_login: new Date() } });
  await walkList('/members/', memberTable);
  const changed = await send('PATCH', `/members/${acme.M.uuid}/`, { level: 8 });
  expect([changed.status, deviations(memberTable, changed.body)]).toEqual([200, []]);
  expect(await send('DELETE', `/members/${acme.M.uuid}/`)).toMatchObject({ status: 204, body: undefined });
});

test("the contract check reports fields that are missing, have the wrong type, or are not in PostHog's API", () => {
  const { id, ...rest } = { id: 1, uuid: 'x', extra: true };
  expect(deviations({ id: 'integer', uuid: 'uuid' }, rest)).toEqual([
    'id is missing',
    'uuid is no uuid: "x"',
    'extra is not in the table',
  ]);
  expect(deviations({ by: 'User' }, { by: { id } })).toContain('by.uuid is missing');
  expect(Object.keys(userTable)).toHaveLength(9);
});
