import { randomUUID } from 'node:crypto';
import { createPersonalApiKey, createUser } from '@millrace/accounts';
import { collectAnnouncedKeys, eventually } from '@millrace/testing';
import { insufficient, notFound, permissionDenied, validationError } from '../../testing/expected-errors.ts';
import { createActors, type OrganizationActors } from '../../testing/organization-actors.ts';
import { startTestApi, type TestApi } from '../../testing/start-test-api.ts';

/** Tests cases organization-001 to organization-013 (docs/cases.md#the-rest-api). */
let api: TestApi;
let acme: OrganizationActors;
let path: string;
let announced: Awaited<ReturnType<typeof collectAnnouncedKeys>>;
beforeAll(async () => {
  api = await startTestApi();
  announced = await collectAnnouncedKeys(api.database);
  acme = await createActors(api.database);
  path = `/api/organizations/${acme.organizationId}/`;
});
afterAll(async () => {
  await announced.stop();
  await api.stop();
});

const create = (key: string, body: unknown = { name: 'Second' }) =>
  api.send('POST', '/api/organizations/', { key, body });
const patch = (key: string, body: unknown, at = path) => api.send('PATCH', at, { key, body });

test("organization-001: returns all fields of the caller's organization for `@current`", async () => {
  const { status, body } = await api.get('/api/organizations/@current/', acme.M.key);
  expect([status, Object.keys(body)]).toEqual([
    200,
    [
      'id',
      'name',
      'slug',
      'logo_media_id',
      'created_at',
      'updated_at',
      'membership_level',
      'plugins_access_level',
      'teams',
      'projects',
      'available_product_features',
      'is_member_join_email_enabled',
      'metadata',
      'customer_id',
      'enforce_2fa',
      'members_can_invite',
      'members_can_use_personal_api_keys',
      'allow_publicly_shared_resources',
      'default_anonymize_ips',
      'member_count',
    ],
  ]);
  expect(body).toMatchObject({
    id: acme.organizationId,
    name: 'Acme',
    slug: expect.stringMatching(/^acme(-[a-z]{4})?$/),
    membership_level: 1,
    teams: [{ id: acme.projectId, project_id: acme.projectId, organization: acme.organizationId, timezone: 'UTC' }],
    projects: [{ id: acme.projectId }],
    is_member_join_email_enabled: true,
    enforce_2fa: null,
    member_count: 3,
  });
});

test('organization-002: a second organization requires a plan that allows several organizations', async () => {
  const free = await createActors(api.database, { plan: 'free' });
  expect(await create(free.W.key)).toMatchObject(
    permissionDenied('You must upgrade your Millrace plan to be able to create and manage multiple organizations.'),
  );
});

test('organization-003, organization-004: creates an owned organization with a project, and makes it current', async () => {
  const { A } = await createActors(api.database);
  const { status, body } = await create(A.key, { name: ' Second ', plugins_access_level: 6, id: randomUUID() });
  expect(status).toBe(201);
  expect(body).toMatchObject({
    name: 'Second',
    membership_level: 15,
    plugins_access_level: 3,
    member_count: 1,
    teams: [{ name: 'Default project', organization: body.id }],
    projects: [{ name: 'Default project', organization_id: body.id }],
  });
  expect(body.available_product_features.length).toBeGreaterThan(5);
  expect((await api.get('/api/organizations/@current/', A.key)).body).toEqual(body);
  expect((await api.get('/api/users/@me/', A.key)).body.team.id).toBe(body.teams[0].id);
  await eventually(() => announced.keys.includes(body.teams[0].api_token), { what: 'the announcement of the key' });
});

test("a new organization's project has the same filters and activity as any other project", async () => {
  const { W } = await createActors(api.database);
  const { body } = await create(W.key, { name: 'Alike' });
  const [{ id }] = body.teams;
  const [first, further] = await Promise.all([
    api.get(`/api/projects/${id}/`, W.key),
    api.send('POST', `/api/organizations/${body.id}/projects/`, { key: W.key, body: {} }),
  ]);
  const settings = ({ test_account_filters, timezone, name, is_demo }: Record<string, unknown>) => ({
    ...{ test_account_filters, timezone, name, is_demo },
  });
  expect(further.status).toBe(201);
  expect(settings(first.body)).toEqual(settings(further.body));
  const records = async (project: number) => {
    const { body: page } = await api.get(`/api/projects/${project}/activity/`, W.key);
    return page.results.map(({ scope, activity }: Record<string, unknown>) => [scope, activity]);
  };
  expect(await records(id)).toEqual([
    ['Team', 'created'],
    ['Project', 'created'],
  ]);
  expect(await records(further.body.id)).toEqual(await records(id));
});

test('a user without an organization can create one', async () => {
  const user = await createUser(api.database.sql, { email: `${randomUUID()}@example.com` });
  const { value } = await createPersonalApiKey(api.database.sql, {
    actor: null,
    userId: user.id,
    label: 'key',
    scopes: ['*'],
  });
  expect(await api.get('/api/organizations/@current/', value)).toMatchObject(
    notFound('Current organization not found.'),
  );
  expect(await create(value, { name: 'First' })).toMatchObject({
    status: 201,
    body: { name: 'First', member_count: 1 },
  });
});

test('organization-005: gives two organizations with similar names different slugs', async () => {
  const name = `${'x'.repeat(30)} ${randomUUID().slice(0, 17)}`;
  const slug = name.replaceAll(' ', '-').toLowerCase();
  const first = await create(acme.W.key, { name });
  const second = await create(acme.W.key, { name: name.toUpperCase() });
  expect(first.body.slug).toBe(slug);
  expect(second.body.slug).toMatch(new RegExp(`^${slug.slice(0, 43)}-[a-z]{4}$`));
});

test.each([
  [{}, validationError('required', 'name', 'This field is required.')],
  [{ name: ' ' }, validationError('blank', 'name', 'This field may not be blank.')],
  [
    { name: 'x'.repeat(65) },
    validationError('max_length', 'name', 'Ensure this field has no more than 64 characters.'),
  ],
  [
    { name: 'x', logo_media_id: 'y' },
    validationError('does_not_exist', 'logo_media_id', 'Invalid pk "y" - object does not exist.'),
  ],
  [{ name: 'x', enforce_2fa: 'maybe' }, validationError('invalid_input', 'enforce_2fa', 'Must be a valid boolean.')],
])('returns 400 for a new organization with %j', async (body, expected) => {
  expect(await create(acme.W.key, body)).toMatchObject(expected);
});

test('returns 403 to a key limited to some organizations, because it could not access the new organization', async () => {
  const { value } = await createPersonalApiKey(api.database.sql, {
    actor: null,
    userId: acme.W.userId,
    label: 'small',
    scopes: ['*'],
    scopedOrganizations: [acme.organizationId],
  });
  expect((await create(value)).status).toBe(403);
});

test('organization-006, organization-007: administrators and owners can change an organization, but members cannot', async () => {
  for (const { key } of [acme.A, acme.W]) {
    const body = { name: `Acme ${randomUUID().slice(0, 4)}`, is_member_join_email_enabled: false };
    expect(await patch(key, body)).toMatchObject({ status: 200, body });
    expect((await api.get(path, acme.M.key)).body).toMatchObject(body);
  }
  expect(await patch(acme.M.key, { name: 'x' })).toMatchObject(insufficient);
});

test('organization-008, organization-009: ignores read-only fields, and lets only administrators enforce 2FA', async () => {
  const before = (await api.get(path, acme.A.key)).body;
  const body = { plugins_access_level: 9, slug: 'mine', available_product_features: [], customer_id: 'x' };
  expect((await patch(acme.A.key, body)).body).toMatchObject({
    plugins_access_level: 3,
    slug: before.slug,
    available_product_features: before.available_product_features,
    customer_id: null,
  });
  expect(await patch(acme.M.key, { enforce_2fa: true })).toMatchObject(insufficient);
  expect(await patch(acme.A.key, { enforce_2fa: true })).toMatchObject({ status: 200, body: { enforce_2fa: true } });
  expect(await patch(acme.A.key, { enforce_2fa: null })).toMatchObject({ status: 200, body: { enforce_2fa: null } });
});

test("PUT requires the organization's name", async () => {
  const put = (body: unknown) => api.send('PUT', path, { key: acme.A.key, body });
  expect(await put({})).toMatchObject(validationError('required', 'name', 'This field is required.'));
  expect(await put({ name: 'Acme' })).toMatchObject({ status: 200, body: { name: 'Acme' } });
});

test('keeps concurrent changes to different organization fields', async () => {
  const name = `Acme ${randomUUID().slice(0, 4)}`;
  await Promise.all([patch(acme.A.key, { name }), patch(acme.W.key, { is_member_join_email_enabled: true })]);
  expect((await api.get(path, acme.A.key)).body).toMatchObject({ name, is_member_join_email_enabled: true });
});

test('organization-010, organization-011: only an owner can delete an organization, once, with everything in it', async () => {
  const actors = await createActors(api.database);
  const at = `/api/organizations/${actors.organizationId}/`;
  await api.send('POST', `${at}domains/`, { key: actors.A.key, body: { domain: `${randomUUID()}.example.com` } });
  await api.send('POST', `${at}invites/`, { key: actors.A.key, body: { target_email: 'guest@guest.example' } });
  const token = (await api.get(at, actors.W.key)).body.teams[0].api_token;
  for (const { key } of [actors.M, actors.A]) expect(await api.send('DELETE', at, { key })).toMatchObject(insufficient);
  const deleted = await api.send('DELETE', at, { key: actors.W.key });
  expect([deleted.status, deleted.body]).toEqual([204, undefined]);
  expect(await api.send('DELETE', at, { key: actors.W.key })).toMatchObject(notFound('Organization not found.'));
  expect(await api.get(`/api/projects/${actors.projectId}/events/`, actors.W.key)).toMatchObject(
    notFound('Project not found.'),
  );
  await eventually(() => announced.keys.includes(token), { what: 'the announcement of the key' });
  const { sql } = api.database;
  expect(
    await sql.query('SELECT 1 FROM organization_domain WHERE organization_id = $1', [actors.organizationId]),
  ).toEqual([]);
  await eventually(
    async () =>
      (await sql.query('SELECT 1 FROM environment_cleanup WHERE environment_id = $1', [actors.projectId])).length === 1,
    { what: 'The request to remove the data' },
  );
});

test('organization-012: returns 403 for other organizations and all paths under them, unlike PostHog', async () => {
  const foreign = `/api/organizations/${acme.off.organizationId}/`;
  expect(await patch(acme.W.key, { name: 'x' }, foreign)).toMatchObject(permissionDenied());
  expect(await api.send('DELETE', foreign, { key: acme.W.key })).toMatchObject(permissionDenied());
  expect(await patch(acme.W.key, { name: 'x' }, `/api/organizations/${randomUUID()}/`)).toMatchObject(
    notFound('Organization not found.'),
  );
});

test('organization-013: shows members only the projects that they can access', async () => {
  const { prisma } = api.database;
  const actors = await createActors(api.database);
  const at = `/api/organizations/${actors.organizationId}/`;
  await prisma.environment.update({ where: { id: actors.projectId }, data: { access_control: true } });
  const seenBy = async (key: string) => {
    const { body } = await api.get(at, key);
    return [body.teams.length, body.projects.length];
  };
  expect([await seenBy(actors.M.key), await seenBy(actors.A.key)]).toEqual([
    [0, 0],
    [1, 1],
  ]);
  const membership = await prisma.membership.findFirstOrThrow({ where: { user_id: actors.M.userId } });
  await prisma.access_rule.create({
    data: {
      environment_id: actors.projectId,
      resource: 'project',
      membership_id: membership.id,
      level: 'member',
    },
  });
  expect(await seenBy(actors.M.key)).toEqual([1, 1]);
});

describe('organization settings that limit members', () => {
  test('stores and returns the settings that limit members, and records changes to them in the activity log', async () => {
    const others = await createActors(api.database);
    const at = `/api/organizations/${others.organizationId}/`;
    const settings = {
      ...{ members_can_invite: false, allow_publicly_shared_resources: false },
      default_anonymize_ips: true,
    };
    expect((await patch(others.A.key, settings, at)).body).toMatchObject({
      ...settings,
      members_can_use_personal_api_keys: true,
    });
    expect((await patch(others.A.key, { name: 'Renamed' }, at)).body).toMatchObject(settings);
    for (const name of [...Object.keys(settings), 'members_can_use_personal_api_keys']) {
      expect(await patch(others.A.key, { [name]: 'maybe' }, at)).toMatchObject({ status: 400, body: { attr: name } });
    }
  });

  test('only administrators and owners can invite users if members_can_invite is false', async () => {
    const others = await createActors(api.database);
    const at = `/api/organizations/${others.organizationId}/`;
    await patch(others.A.key, { members_can_invite: false }, at);
    const invite = (key: string) =>
      api.send('POST', `${at}invites/`, { key, body: { target_email: `${randomUUID()}@example.com` } });
    expect(await invite(others.M.key)).toMatchObject({ status: 403 });
    expect((await invite(others.A.key)).status).toBe(201);
    await patch(others.A.key, { members_can_invite: true }, at);
    expect((await invite(others.M.key)).status).toBe(201);
  });

  test("rejects members' keys if members_can_use_personal_api_keys is false", async () => {
    const others = await createActors(api.database);
    const at = `/api/organizations/${others.organizationId}/`;
    await patch(others.A.key, { members_can_use_personal_api_keys: false }, at);
    for (const where of [
      at,
      `/api/projects/${others.projectId}/`,
      `/api/projects/${others.projectId}/feature_flags/`,
    ]) {
      expect([where, (await api.get(where, others.M.key)).status >= 403]).toEqual([where, true]);
      expect([where, (await api.get(where, others.A.key)).status]).toEqual([where, 200]);
    }
    await patch(others.A.key, { members_can_use_personal_api_keys: true }, at);
    expect((await api.get(`/api/projects/${others.projectId}/`, others.M.key)).status).toBe(200);
  });

  test('new projects and environments use default_anonymize_ips as their default', async () => {
    const others = await createActors(api.database);
    const at = `/api/organizations/${others.organizationId}/`;
    await patch(others.A.key, { default_anonymize_ips: true }, at);
    const add = (body: object) => api.send('POST', `${at}projects/`, { key: others.A.key, body });
    expect((await add({ name: 'One' })).body).toMatchObject({ anonymize_ips: true });
    expect((await add({ name: 'Two', anonymize_ips: false })).body).toMatchObject({ anonymize_ips: false });
  });
});
