import { createPersonalApiKey, hashPersonalApiKey, type NewPersonalApiKey } from '@millrace/accounts';
import { notFound, permissionDenied, validationError } from '../../testing/expected-errors.ts';
import { type Actor, createActor, createActors, type OrganizationActors } from '../../testing/organization-actors.ts';
import { startTestApi, type TestApi } from '../../testing/start-test-api.ts';

/** Tests cases key-025 to key-038 (docs/cases.md#the-rest-api). */
let api: TestApi;
let acme: OrganizationActors;
let me: Actor;
beforeAll(async () => {
  api = await startTestApi();
  acme = await createActors(api.database);
});
afterAll(() => api.stop());
beforeEach(async () => {
  me = await createActor(api.database, acme.organizationId, 1);
});

const path = '/api/personal_api_keys/';
const create = (body: unknown, key = me.key) => api.send('POST', path, { key, body });
const works = async (value: string) => (await api.get('/api/users/@me/', value)).status;
const tooMuch = permissionDenied(
  'An API key cannot be used to manage a key that has more scopes, broader access or a later expiration date.',
);
async function ownKey(options: Partial<NewPersonalApiKey>): Promise<{ id: string; value: string }> {
  const { key, value } = await createPersonalApiKey(api.database.sql, {
    actor: null,
    userId: me.userId,
    label: 'other',
    scopes: ['*'],
    ...options,
  });
  return { id: key.id, value };
}

test('key-025: shows a key once, and stores its hash', async () => {
  const { status, body } = await create({
    label: 'CI',
    scopes: ['project:read'],
    scoped_organizations: [],
    scoped_teams: [],
  });
  expect(status).toBe(201);
  expect(Object.keys(body)).toEqual([
    'id',
    'label',
    'value',
    'mask_value',
    'created_at',
    'last_used_at',
    'last_rolled_at',
    'expires_at',
    'user_id',
    'scopes',
    'scoped_teams',
    'scoped_organizations',
  ]);
  expect(body).toMatchObject({ label: 'CI', last_used_at: null, expires_at: null, user_id: me.userId });
  expect(body.value).toMatch(/^phx_[0-9A-Za-z]{48}$/);
  expect(body.mask_value).toBe(`phx_...${body.value.slice(-4)}`);
  expect((await api.get('/api/projects/', body.value)).status).toBe(200);
  const row = await api.database.prisma.personal_api_key.findUniqueOrThrow({ where: { id: body.id } });
  expect(row.secure_value).toBe(hashPersonalApiKey(body.value));
  expect(JSON.stringify(row)).not.toContain(body.value);
  expect((await api.get(`${path}${body.id}/`, me.key)).body).toEqual({
    ...body,
    value: null,
    last_used_at: expect.anything(),
  });
});

test('key-026: allows at most ten keys, even with concurrent requests', async () => {
  const responses = await Promise.all(
    Array.from({ length: 12 }, (_, index) => create({ label: `key ${index}`, scopes: ['user:read'] })),
  );
  expect(responses.filter(({ status }) => status === 201)).toHaveLength(9);
  expect(responses.find(({ status }) => status === 400)).toMatchObject(
    validationError(
      'invalid_input',
      null,
      'You can only have 10 personal API keys. Remove an existing key before creating a new one.',
    ),
  );
});

test.each([
  ['key-027', { label: '', scopes: ['*'] }, validationError('blank', 'label', 'This field may not be blank.')],
  ['key-028', { label: 'x' }, validationError('required', 'scopes', 'This field is required.')],
  [
    'too long',
    { label: 'x'.repeat(41), scopes: ['*'] },
    validationError('max_length', 'label', 'Ensure this field has no more than 40 characters.'),
  ],
  [
    'key-029',
    { label: 'x', scopes: ['invalid'] },
    validationError('invalid_input', 'scopes', 'Invalid scope: invalid'),
  ],
  [
    'key-030',
    { label: 'x', scopes: ['project:fly'] },
    validationError('invalid_input', 'scopes', 'Invalid scope: project:fly'),
  ],
  [
    'an empty list of scopes',
    { label: 'x', scopes: [] },
    validationError('required', 'scopes', 'A key needs at least one scope.'),
  ],
  [
    'a string as scopes',
    { label: 'x', scopes: '*' },
    validationError('not_a_list', 'scopes', 'Expected a list of items but got type "str". Send a JSON array.'),
  ],
  [
    'an invalid ID',
    { label: 'x', scopes: ['*'], scoped_organizations: ['x'] },
    validationError('invalid_input', 'scoped_organizations', 'Invalid organization UUID'),
  ],
  [
    'an expiry in the past',
    { label: 'x', scopes: ['*'], expires_at: '2020-01-01' },
    validationError('min_value', 'expires_at', 'The expiry time must be in the future.'),
  ],
])('%s: returns 400 for a key with %j', async (_, body, expected) => {
  expect(await create(body)).toMatchObject(expected);
});

test('key-031: creates a key with all scopes', async () => {
  expect(await create({ label: 'all', scopes: ['*'] })).toMatchObject({ status: 201, body: { scopes: ['*'] } });
});

test('accepts a scope that no route requires and that grants no access', async () => {
  const scopes = ['feature_flag:write', 'cohort:write', 'early_access_feature:write', 'insight:write', 'survey:read'];
  const { status, body } = await create({ label: 'script', scopes });
  expect({ status, scopes: body.scopes }).toEqual({ status: 201, scopes });
  expect(await works(body.value)).toBe(403);
});

test('key-032, key-033: changing or revoking a key takes effect with the next request', async () => {
  const { body } = await create({ label: 'CI', scopes: ['user:read'] });
  const at = `${path}${body.id}/`;
  const changed = { label: 'CD', scopes: ['project:read'], expires_at: '2999-01-01T00:00:00Z' };
  expect(await works(body.value)).toBe(200);
  expect(await api.send('PATCH', at, { key: me.key, body: { ...changed, value: 'phx_x', user_id: 1 } })).toMatchObject({
    status: 200,
    body: { ...changed, id: body.id, value: null, user_id: me.userId },
  });
  expect(await works(body.value)).toBe(403);
  expect((await api.send('DELETE', at, { key: me.key })).status).toBe(204);
  expect(await works(body.value)).toBe(401);
  expect(await api.send('DELETE', at, { key: me.key })).toMatchObject(notFound('Personal API key not found.'));
});

test('rejects an expired API key', async () => {
  const { body } = await create({ label: 'short', scopes: ['*'], expires_at: '2999-01-01' });
  expect([body.expires_at, await works(body.value)]).toEqual(['2999-01-01T00:00:00Z', 200]);
  await api.database.prisma.personal_api_key.update({ where: { id: body.id }, data: { expires_at: new Date() } });
  expect(await works(body.value)).toBe(401);
});

test('rolling a key replaces it, and the old key stops working immediately', async () => {
  const { body } = await create({ label: 'CI', scopes: ['user:read'] });
  const rolled = await api.send('POST', `${path}${body.id}/roll/`, { key: me.key });
  expect(rolled).toMatchObject({ status: 200, body: { id: body.id, label: 'CI', scopes: ['user:read'] } });
  expect(rolled.body.last_rolled_at).not.toBeNull();
  expect([await works(body.value), await works(rolled.body.value)]).toEqual([401, 200]);
  const own = await api.send('POST', `${path}@current/roll/`, { key: me.key });
  expect([own.status, await works(me.key), await works(own.body.value)]).toEqual([200, 401, 200]);
});

test("key-034, key-035: returns the caller's own keys as a plain array, without the secret values", async () => {
  await create({ label: 'CI', scopes: ['user:read'] });
  const { status, body } = await api.get(path, me.key);
  expect([status, body.map((key: { label: string }) => key.label)]).toEqual([200, ['CI', 'Test key']]);
  expect(body.every((key: { value: unknown }) => key.value === null)).toBe(true);
  const [foreign] = (await api.get(path, acme.W.key)).body;
  expect(await api.get(`${path}${foreign.id}/`, me.key)).toMatchObject(notFound('Personal API key not found.'));
  expect(await api.send('POST', `${path}${foreign.id}/roll/`, { key: me.key })).toMatchObject(
    notFound('Personal API key not found.'),
  );
  expect(await api.send('DELETE', `${path}${foreign.id}/`, { key: me.key })).toMatchObject(
    notFound('Personal API key not found.'),
  );
});

test('returns the key that authenticates the request for `@current`', async () => {
  const { id, value } = await ownKey({ scopes: ['user:read'] });
  expect((await api.get(`${path}@current/`, value)).body).toMatchObject({ id, scopes: ['user:read'], value: null });
});

test("key-036, key-037: accepts only the user's own organizations and projects as limits of a key", async () => {
  const limited = { label: 'x', scopes: ['*'] };
  expect(await create({ ...limited, scoped_organizations: [acme.off.organizationId] })).toMatchObject(
    validationError(
      'invalid_input',
      'scoped_organizations',
      'You must be a member of all organizations that you are scoping the key to.',
    ),
  );
  expect(await create({ ...limited, scoped_teams: [acme.off.projectId] })).toMatchObject(
    validationError(
      'invalid_input',
      'scoped_teams',
      'You must be a member of all teams that you are scoping the key to.',
    ),
  );
  const body = { scoped_organizations: [acme.organizationId.toUpperCase()], scoped_teams: [acme.projectId] };
  expect(await create({ ...limited, ...body })).toMatchObject({
    status: 201,
    body: { scoped_organizations: [acme.organizationId], scoped_teams: [acme.projectId] },
  });
});

describe('key-038: a key that creates or changes other keys', () => {
  const far = '2999-01-01T00:00:00Z';
  test.each<[string, Partial<NewPersonalApiKey>, (own: OrganizationActors) => object, boolean]>([
    ['the same scope', { scopes: ['user:write', 'project:read'] }, () => ({ scopes: ['project:read'] }), true],
    [
      'the read scope with a key that has the write scope',
      { scopes: ['user:write'] },
      () => ({ scopes: ['user:read'] }),
      true,
    ],
    ['another scope', { scopes: ['user:write'] }, () => ({ scopes: ['project:read'] }), false],
    [
      'the write scope with a key that has the read scope',
      { scopes: ['user:write', 'project:read'] },
      () => ({ scopes: ['project:write'] }),
      false,
    ],
    ['all scopes', { scopes: ['user:write'] }, () => ({ scopes: ['*'] }), false],
    ['a later expiry', { expiresAt: new Date(far) }, () => ({ scopes: ['*'], expires_at: '3000-01-01' }), false],
    ['no expiry', { expiresAt: new Date(far) }, () => ({ scopes: ['*'] }), false],
    ['the same expiry', { expiresAt: new Date(far) }, () => ({ scopes: ['*'], expires_at: far }), true],
  ])('%s', async (_, own, wanted, isAllowed) => {
    const { value } = await ownKey(own);
    const response = await create({ label: 'new', ...wanted(acme) }, value);
    if (isAllowed) expect(response.status).toBe(201);
    else expect(response).toMatchObject(tooMuch);
    expect((await api.get(path, me.key)).body).toHaveLength(isAllowed ? 3 : 2);
  });

  test('a key that is limited to organizations or projects can create only keys with the same limit', async () => {
    const { value: ofOrganization } = await ownKey({ scopedOrganizations: [acme.organizationId] });
    const { value: ofProject } = await ownKey({ scopedEnvironments: [acme.projectId] });
    const wanted = { label: 'new', scopes: ['*'] };
    expect(await create(wanted, ofOrganization)).toMatchObject(tooMuch);
    expect(await create(wanted, ofProject)).toMatchObject(tooMuch);
    const both = { scoped_organizations: [acme.organizationId], scoped_teams: [acme.projectId] };
    expect((await create({ ...wanted, ...both }, ofOrganization)).status).toBe(201);
    expect((await create({ ...wanted, ...both }, ofProject)).status).toBe(201);
  });

  test('a key cannot change, roll or revoke a key with more permissions', async () => {
    const great = await ownKey({});
    const { value: small } = await ownKey({ scopes: ['user:write'] });
    const at = `${path}${great.id}/`;
    expect(await api.send('PATCH', at, { key: small, body: { label: 'x' } })).toMatchObject(tooMuch);
    expect(await api.send('POST', `${at}roll/`, { key: small })).toMatchObject(tooMuch);
    expect(await api.send('DELETE', at, { key: small })).toMatchObject(tooMuch);
    expect(await works(great.value)).toBe(200);
    expect(await api.send('PATCH', `${path}@current/`, { key: small, body: { scopes: ['*'] } })).toMatchObject(tooMuch);
  });
});

test('the activity log records API key changes without the keys', async () => {
  const { body } = await create({ label: 'CI', scopes: ['user:read'] });
  const rolled = await api.send('POST', `${path}${body.id}/roll/`, { key: me.key });
  await api.send('DELETE', `${path}${body.id}/`, { key: me.key });
  const rows = await api.database.sql.query('SELECT * FROM activity_log WHERE item_id = $1 ORDER BY created_at', [
    body.id,
  ]);
  expect(rows.map(({ activity }) => activity)).toEqual(['created', 'updated', 'deleted']);
  for (const value of [body.value, rolled.body.value, hashPersonalApiKey(rolled.body.value)]) {
    expect(JSON.stringify(rows)).not.toContain(value);
  }
});
