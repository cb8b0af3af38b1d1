import { randomUUID } from 'node:crypto';
import { notFound, permissionDenied } from '../../testing/expected-errors.ts';
import { createActors, type OrganizationActors } from '../../testing/organization-actors.ts';
import { signInAs, startTestApi, type TestApi } from '../../testing/start-test-api.ts';

/** Tests roles and their members (docs/api/access.md#roles). */
let api: TestApi;
let acme: OrganizationActors;
beforeAll(async () => {
  api = await startTestApi();
});
beforeEach(async () => {
  acme = await createActors(api.database);
});
afterAll(() => api.stop());

type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
const path = (rest = '') => `/api/organizations/${acme.organizationId}/roles/${rest}`;
const send = (method: Method, rest: string, body?: object, key = acme.A.key) =>
  api.send(method, path(rest), { key, ...(body && { body }) });
const make = async (name: string) => (await send('POST', '', { name })).body as { id: string };
const give = (id: string, user_uuid: string, key?: string) =>
  send('POST', `${id}/role_memberships/`, { user_uuid }, key);
const invalid = (code: string, attr: string, detail: string) => ({
  status: 400,
  body: { type: 'validation_error', code, attr, detail },
});

test('administrators create, rename and delete roles, members see them, and the activity log records the changes', async () => {
  const made = await send('POST', '', { name: '  Support ' });
  expect(made).toMatchObject({
    status: 201,
    body: { name: 'Support', members: [], is_default: false, created_by: acme.A.uuid },
  });
  const { id } = made.body;
  expect((await send('GET', `${id}/`, undefined, acme.M.key)).body).toEqual(made.body);
  for (const method of ['PATCH', 'PUT'] as const) {
    const name = `By ${method}`;
    expect(await send(method, `${id}/`, { name })).toMatchObject({ status: 200, body: { id, name } });
  }
  expect((await send('PATCH', `${id}/`, {})).body.name).toBe('By PUT');
  expect((await send('GET', '', undefined, acme.M.key)).body).toMatchObject({
    count: 1,
    results: [{ id, name: 'By PUT' }],
  });
  expect((await send('DELETE', `${id}/`)).status).toBe(204);
  expect(await send('GET', `${id}/`)).toMatchObject(notFound());
  const history = await api.get(`/api/organizations/${acme.organizationId}/activity/?scope=Role`, acme.A.key);
  const shown = history.body.results.map((one: { activity: string; detail: { name: string } }) => [
    one.activity,
    one.detail.name,
  ]);
  expect(shown).toEqual([
    ['deleted', 'By PUT'],
    ['updated', 'By PUT'],
    ['updated', 'By PATCH'],
    ['created', 'Support'],
  ]);
});

test('a member can have a role only once, and loses it with the membership or the role', async () => {
  const { id } = await make('Support');
  const given = await give(id, acme.M.uuid);
  expect(given).toMatchObject({
    status: 201,
    body: { role_id: id, user: { uuid: acme.M.uuid }, organization_member: { level: 1 } },
  });
  expect(await give(id, acme.M.uuid)).toMatchObject(
    invalid('unique', 'user_uuid', 'User is already part of the role.'),
  );
  const held = `${id}/role_memberships/`;
  expect((await send('GET', `${held}${given.body.id}/`, undefined, acme.M.key)).body).toEqual(given.body);
  expect((await send('GET', held)).body).toMatchObject({ count: 1, results: [{ id: given.body.id }] });
  expect((await send('GET', `${id}/`)).body.members).toEqual([given.body]);
  expect((await send('DELETE', `${held}${given.body.id}/`)).status).toBe(204);
  expect(await send('DELETE', `${held}${given.body.id}/`)).toMatchObject(notFound());

  await give(id, acme.M.uuid);
  await api.send('DELETE', `/api/organizations/${acme.organizationId}/members/${acme.M.uuid}/`, { key: acme.A.key });
  expect((await send('GET', held)).body.count).toBe(0);
  await give(id, acme.W.uuid);
  await send('DELETE', `${id}/`);
  expect((await api.database.sql.query('SELECT FROM role_membership WHERE role_id = $1', [id])).length).toBe(0);
});

test.each([
  ['a name that is taken, in another case', { name: 'sUPPORT' }, 'unique', 'There is already a role with this name.'],
  ['a blank name', { name: '  ' }, 'blank', 'This field may not be blank.'],
  ['no name', {}, 'required', 'This field is required.'],
  ['a long name', { name: 'x'.repeat(201) }, 'max_length', 'Ensure this field has no more than 200 characters.'],
  ['a null character', { name: 'a\0b' }, 'null_characters_not_allowed', 'Null characters are not allowed.'],
])('returns 400 for a role with %s, naming the field', async (_what, body, code, detail) => {
  await make('Support');
  expect(await send('POST', '', body)).toMatchObject(invalid(code, 'name', detail));
  const { id } = await make('Sales');
  if (Object.keys(body).length === 0) return;
  expect(await send('PATCH', `${id}/`, body)).toMatchObject(invalid(code, 'name', detail));
});

test('returns 400 for a role membership of a user outside the organization', async () => {
  const { id } = await make('Support');
  const stranger = await createActors(api.database);
  for (const uuid of [stranger.M.uuid, randomUUID(), 'unknown']) {
    expect(await give(id, uuid)).toMatchObject(invalid('does_not_exist', 'user_uuid', 'User does not exist.'));
  }
});

test("returns 403 to members who change roles, and 404 for another organization's roles", async () => {
  const { id } = await make('Support');
  const low = permissionDenied('Your organization access level is insufficient.');
  expect(await send('POST', '', { name: 'Mine' }, acme.M.key)).toMatchObject(low);
  expect(await send('PATCH', `${id}/`, { name: 'Mine' }, acme.M.key)).toMatchObject(low);
  expect(await send('DELETE', `${id}/`, undefined, acme.M.key)).toMatchObject(low);
  expect(await give(id, acme.M.uuid, acme.M.key)).toMatchObject(low);
  const other = await createActors(api.database);
  const theirs = `/api/organizations/${other.organizationId}/roles/`;
  for (const [method, rest, body] of [
    ['GET', `${id}/`],
    ['PATCH', `${id}/`, { name: 'Mine' }],
    ['DELETE', `${id}/`],
    ['GET', `${id}/role_memberships/`],
    ['POST', `${id}/role_memberships/`, { user_uuid: other.M.uuid }],
    ['DELETE', `${id}/role_memberships/${randomUUID()}/`],
    ['GET', 'nothing/'],
  ] as const) {
    expect(await api.send(method, theirs + rest, { key: other.A.key, ...(body && { body }) })).toMatchObject(
      notFound(),
    );
  }
});

test('concurrent requests create a role and a role membership only once', async () => {
  const made = await Promise.all([send('POST', '', { name: 'Support' }), send('POST', '', { name: 'support' })]);
  expect(made.map(({ status }) => status).sort()).toEqual([201, 400]);
  const { id } = made.find(({ status }) => status === 201)?.body ?? {};
  const given = await Promise.all([give(id, acme.M.uuid), give(id, acme.M.uuid)]);
  expect(given.map(({ status }) => status).sort()).toEqual([201, 400]);
});

test('an organization can have at most two hundred roles', async () => {
  await api.database.sql.query(
    `INSERT INTO role (id, organization_id, name) SELECT gen_random_uuid(), $1, 'Role ' || n FROM generate_series(1, 200) n`,
    [acme.organizationId],
  );
  expect((await send('POST', '', { name: 'One more' })).body).toMatchObject({ code: 'limit_exceeded' });
  expect((await send('GET', '?limit=1000')).body.results).toHaveLength(200);
});

test('changing roles requires reauthentication in a session older than two hours', async () => {
  const cookie = await signInAs(api, acme.A.userId);
  await api.database.sql.query("UPDATE session SET signed_in_at = now() - interval '3 hours' WHERE user_id = $1", [
    acme.A.userId,
  ]);
  const response = await send('POST', '', { name: 'Support' }, cookie);
  expect([response.status, response.body.code]).toEqual([403, 'sensitive_action_required_reauth']);
});
