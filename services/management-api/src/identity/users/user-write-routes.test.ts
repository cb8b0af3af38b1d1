import { randomUUID } from 'node:crypto';
import { addMember } from '@millrace/accounts';
import { createTestEnvironment, createTestOrganization, createTestProject } from '@millrace/testing';
import { permissionDenied, validationError } from '../../testing/expected-errors.ts';
import { createActors, type OrganizationActors } from '../../testing/organization-actors.ts';
import { startTestApi, type TestApi } from '../../testing/start-test-api.ts';

/** Tests cases user-006 to user-010 (docs/cases.md#the-rest-api). All other user cases are in user-routes.test.ts. */
let api: TestApi;
let acme: OrganizationActors;
let second: { organizationId: string; projectId: number };
beforeAll(async () => {
  api = await startTestApi();
  acme = await createActors(api.database);
  const organization = await createTestOrganization(api.database, { name: 'Second' });
  await addMember(api.database.sql, { organizationId: organization.id, userId: acme.A.userId, level: 1 });
  const { project } = await createTestProject(api.database, { organizationId: organization.id });
  second = { organizationId: organization.id, projectId: project.id };
});
afterAll(() => api.stop());

const me = () => api.get('/api/users/@me/', acme.A.key);
const patch = (body: unknown) => api.send('PATCH', '/api/users/@me/', { key: acme.A.key, body });

test('user-002: returns 401 for the current user without credentials', async () => {
  expect((await api.get('/api/users/@me/')).status).toBe(401);
});

test("user-003, user-004: the list of users contains only the caller, and other users' paths return 403", async () => {
  const own = (await me()).body;
  expect((await api.get('/api/users/', acme.A.key)).body).toEqual({
    count: 1,
    next: null,
    previous: null,
    results: [own],
  });
  expect((await api.get(`/api/users/${acme.A.uuid}/`, acme.A.key)).body).toEqual(own);
  const expected = permissionDenied("As a non-staff user you're only allowed to access the `@me` user instance.");
  for (const uuid of [acme.M.uuid, randomUUID(), 'x']) {
    expect(await api.get(`/api/users/${uuid}/`, acme.A.key)).toMatchObject(expected);
  }
});

test('user-005: returns 405 for creating a user, or for deleting one with a key', async () => {
  for (const [method, path] of [
    ['POST', '/api/users/'],
    ['DELETE', '/api/users/@me/'],
  ] as const) {
    const { status, body } = await api.send(method, path, { key: acme.A.key });
    expect([status, body.detail]).toEqual([405, `Method "${method}" not allowed.`]);
  }
});

test('user-006, user-007: changes what `@current` refers to, by organization or by environment', async () => {
  expect((await patch({ set_current_organization: second.organizationId })).body).toMatchObject({
    organization: { id: second.organizationId },
    team: { id: second.projectId },
  });
  expect((await api.get('/api/organizations/@current/', acme.A.key)).body.id).toBe(second.organizationId);
  const { id } = await createTestEnvironment(api.database, { projectId: acme.projectId });
  expect((await patch({ set_current_team: id })).body).toMatchObject({
    organization: { id: acme.organizationId },
    team: { id },
  });
  expect((await api.get('/api/organizations/@current/', acme.A.key)).body.id).toBe(acme.organizationId);
  expect((await me()).body.team.id).toBe(id);
  expect((await patch({ set_current_organization: acme.organizationId })).body.team.id).toBe(acme.projectId);
});

test('user-008: returns 400 for a current environment in another organization', async () => {
  const body = { set_current_organization: acme.organizationId, set_current_team: second.projectId };
  expect(await patch(body)).toMatchObject(
    validationError(
      'invalid_input',
      'set_current_team',
      'Team must belong to the same organization in set_current_organization.',
    ),
  );
});

test('user-009: returns 400 for a current organization or environment that the user cannot access', async () => {
  const missing = (attr: string, id: string | number) =>
    validationError('does_not_exist', attr, `Object with id=${id} does not exist.`);
  for (const id of [acme.off.organizationId, randomUUID(), 'x']) {
    expect(await patch({ first_name: 'Not kept', set_current_organization: id })).toMatchObject(
      missing('set_current_organization', id),
    );
  }
  for (const id of [acme.off.projectId, 2_000_000_000, -1, 9_000_000_000_000]) {
    expect(await patch({ set_current_team: id })).toMatchObject(missing('set_current_team', id));
  }
  expect((await me()).body.first_name).toBe('Ada');
});

test("user-010: ignores a user's read-only fields", async () => {
  const before = (await me()).body;
  const body = {
    uuid: randomUUID(),
    distinct_id: 'x',
    email: before.email,
    is_email_verified: true,
  };
  expect(await patch(body)).toMatchObject({ status: 200, body: before });
});

test.each([
  ['is_staff', true, false],
  ['anonymize_data', true, null],
  ['notification_settings', { plugin_disabled: false }, {}],
])('returns 400 for %s, unless its value has no effect', async (name, value, harmless) => {
  expect(await patch({ [name]: value })).toMatchObject({
    status: 400,
    body: { code: 'unsupported_field', attr: name },
  });
  expect((await patch({ [name]: harmless })).status).toBe(200);
});

test("changes a user's names and role independently", async () => {
  await Promise.all([patch({ first_name: 'Grace' }), patch({ last_name: 'Hopper' })]);
  const changed = { role_at_organization: 'engineering', hedgehog_config: { color: 'green' } };
  expect((await patch(changed)).body).toMatchObject({ first_name: 'Grace', last_name: 'Hopper', ...changed });
  expect((await patch({ hedgehog_config: null, role_at_organization: '' })).body).toMatchObject({
    first_name: 'Grace',
    hedgehog_config: {},
    role_at_organization: '',
  });
});

test('the activity log records changes to the user', async () => {
  for (const last_name of ['Byron', 'Lovelace', 'Lovelace']) await patch({ last_name });
  const rows = await api.database.sql.query(
    "SELECT user_id, detail FROM activity_log WHERE scope = 'User' AND item_id = $1 ORDER BY created_at DESC",
    [acme.A.uuid],
  );
  expect(rows[0]).toMatchObject({
    user_id: acme.A.userId,
    detail: { changes: [{ field: 'last_name', before: 'Byron', after: 'Lovelace' }] },
  });
});

test.each([
  [
    { first_name: 'x'.repeat(151) },
    validationError('max_length', 'first_name', 'Ensure this field has no more than 150 characters.'),
  ],
  [
    { role_at_organization: 'king' },
    validationError(
      'invalid_choice',
      'role_at_organization',
      '"king" is not a valid choice. Choose one of: engineering, data, product, founder, leadership, marketing, sales, other.',
    ),
  ],
  [{ set_current_team: 'x' }, validationError('invalid_input', 'set_current_team', 'A valid integer is required.')],
])('returns 400 for a user with %j', async (body, expected) => {
  expect(await patch(body)).toMatchObject(expected);
});

test('changes the current organization to another one when the user leaves it', async () => {
  await patch({ set_current_organization: second.organizationId });
  await api.send('DELETE', `/api/organizations/${second.organizationId}/members/@me/`, { key: acme.A.key });
  expect((await me()).body).toMatchObject({ organization: { id: acme.organizationId }, team: { id: acme.projectId } });
});
