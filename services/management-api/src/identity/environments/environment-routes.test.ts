import { createHmac } from 'node:crypto';
import { recordActivity } from '@millrace/accounts';
import { collectAnnouncedKeys, createTestProject, createTestTenant, eventually, keepLogs } from '@millrace/testing';
import { insufficient, notFound, permissionDenied, validationError } from '../../testing/expected-errors.ts';
import { startTestApi, type TestApi } from '../../testing/start-test-api.ts';
import { createTenantWithKeys, pathFamilies, type TenantWithKeys } from '../../testing/tenant-with-keys.ts';

/**
 * Tests cases project-001 to project-022, project-049 to project-073 and environment-001 to environment-007
 * (docs/cases.md#the-rest-api).
 */
let api: TestApi;
let fixture: TenantWithKeys;
let announced: Awaited<ReturnType<typeof collectAnnouncedKeys>>;
beforeAll(async () => {
  api = await startTestApi();
  announced = await collectAnnouncedKeys(api.database);
});
beforeEach(async () => {
  fixture = await createTenantWithKeys(api);
});
afterAll(async () => {
  await announced.stop();
  await api.stop();
});

const makePrivate = () =>
  api.database.sql.query('UPDATE environment SET access_control = true WHERE id = $1', [fixture.tenant.environmentId]);
const admit = (level: 'member' | 'admin') =>
  api.database.sql.query(
    "INSERT INTO access_rule (environment_id, resource, membership_id, level) VALUES ($1, 'project', $2, $3)",
    [fixture.tenant.environmentId, fixture.membershipId, level],
  );
const setFeatures = (features: object[]) =>
  api.database.sql.query('UPDATE organization SET available_product_features = $2 WHERE id = $1', [
    fixture.tenant.organizationId,
    JSON.stringify(features),
  ]);
const upgrade = permissionDenied(
  'You must upgrade your Millrace plan to be able to create and manage multiple projects or environments.',
);

describe.each(pathFamilies)('%s', (family, pathOf) => {
  const path = (rest = '') => pathOf(fixture.tenant) + rest;
  const list = () =>
    family === 'project' ? '/api/projects/' : `/api/projects/${fixture.tenant.projectId}/environments/`;
  const create = (body: object, key = fixture.keys.A) => api.send('POST', list(), { key, body });

  test('project-001: lists environment summaries', async () => {
    const { body } = await api.get(list(), fixture.keys.M);
    expect(body).toMatchObject({ count: 1, next: null, previous: null });
    expect(Object.keys(body.results[0])).toHaveLength(family === 'project' ? 11 : 12);
  });

  test('project-002: resolves `@current` to the current environment', async () => {
    const { status, body } = await api.get(pathOf(fixture.tenant, '@current'), fixture.keys.M);
    expect([status, body.id, body.timezone, body.is_demo, body.has_group_types]).toEqual([
      200,
      fixture.tenant.projectId,
      'UTC',
      false,
      false,
    ]);
  });

  test('project-003, project-053, project-058: returns 404 or 403 for environments of other organizations', async () => {
    const outsider = { key: fixture.keys.stranger };
    const detail = family === 'project' ? 'Not found.' : 'Project not found.';
    for (const response of [
      await api.send('GET', path(), outsider),
      await api.send('PATCH', path(), { ...outsider, body: { name: 'x' } }),
      await api.send('DELETE', path(), outsider),
      await api.send('PATCH', path('reset_token/'), outsider),
      await api.send('GET', path('activity/'), outsider),
    ]) {
      expect(response).toMatchObject(notFound(detail));
    }
    expect((await api.get(path(), fixture.keys.M)).body.name).toBe('Test project');
  });

  // project-004: without a geo database, `week_start_day` is null unless the request sets it.
  test('project-004: creates an environment with default filters and makes it the current one', async () => {
    const { status, body } = await create({ week_start_day: 0 });
    expect([status, body.week_start_day, body.effective_membership_level]).toEqual([201, 0, 8]);
    expect(body.api_token).toMatch(/^phc_[0-9A-Za-z]{43}$/);
    expect(body.test_account_filters).toEqual([
      { key: 'email', operator: 'not_icontains', value: '@example.com', type: 'person' },
      { key: '$host', operator: 'not_regex', value: '^(localhost|127\\.0\\.0\\.1)($|:)', type: 'event' },
    ]);
    expect((await create({})).body.week_start_day).toBeNull();
    const current = (await api.get('/api/environments/@current/', fixture.keys.A)).body;
    expect(current.id).toBeGreaterThan(body.id);
  });

  test('project-005, project-011, project-012: members can create only demo data, and only once', async () => {
    expect(await create({}, fixture.keys.M)).toMatchObject(insufficient);
    expect(await create({ is_demo: true }, fixture.keys.M)).toMatchObject({ status: 201, body: { is_demo: true } });
    expect(await create({ is_demo: true })).toMatchObject(upgrade);
  });

  test('project-006, project-009, project-010, project-072: allows one real environment without the plan feature', async () => {
    await setFeatures([]);
    expect(await create({})).toMatchObject(upgrade);
    expect(await create({ is_demo: false })).toMatchObject(upgrade);
    expect((await create({ is_demo: true })).status).toBe(201);
    expect((await api.send('PATCH', path(), { key: fixture.keys.A, body: { name: 'x' } })).status).toBe(200);
  });

  test("demo data cannot bypass the plan's limit", async () => {
    const patch = (id: number, body: object, key = fixture.keys.A) =>
      api.send('PATCH', pathOf(fixture.tenant, id), { key, body });
    await setFeatures([]);
    const demo = (await create({ is_demo: true })).body.id;
    for (const body of [{ is_demo: false }, { product_type: 'surveys', is_demo: 'no' }]) {
      const at = 'product_type' in body ? 'add_product_intent/' : '';
      expect(
        await api.send('PATCH', `${pathOf(fixture.tenant, demo)}${at}`, { key: fixture.keys.A, body }),
      ).toMatchObject(upgrade);
    }
    expect(await patch(fixture.tenant.projectId, { is_demo: true })).toMatchObject(
      permissionDenied(
        'Your current plan limits the number of projects and environments. You cannot mark a project or environment ' +
          'that counts toward the limit as demo data.',
      ),
    );
    expect((await patch(demo, { is_demo: true, name: 'x' })).status).toBe(200);
    expect(await create({})).toMatchObject(upgrade);
    await setFeatures(['organizations_projects', 'environments'].map((key) => ({ key, name: key, limit: 2 })));
    expect(await patch(demo, { is_demo: false }, fixture.keys.M)).toMatchObject(insufficient);
    expect((await patch(demo, { is_demo: false })).body.is_demo).toBe(false);
    expect((await create({})).status).toBe(403);
    expect((await create({ is_demo: true })).status).toBe(201);
  });

  test("project-007, project-072: enforces the plan's limit, even under concurrent requests", async () => {
    const key = family === 'project' ? 'organizations_projects' : 'environments';
    await setFeatures([{ key, name: key, limit: 3 }]);
    const responses = await Promise.all([create({}), create({}), create({}), create({})]);
    expect(responses.map(({ status }) => status).sort()).toEqual([201, 201, 403, 403]);
  });

  test('project-008, project-072: allows any number of environments if the plan has no limit', async () => {
    for (let count = 0; count < 5; count += 1) expect((await create({})).status).toBe(201);
  });

  test('project-013: creates no dashboard for a new environment', async () => {
    expect(await create({ primary_dashboard: 2 })).toMatchObject(
      validationError('invalid_input', 'primary_dashboard', 'Primary dashboard cannot be set on project creation.'),
    );
  });

  test('project-014: creates a private environment', async () => {
    expect(await create({ name: 'x', access_control: true })).toMatchObject({
      status: 201,
      body: { access_control: true, effective_membership_level: 8 },
    });
  });

  test('project-022, project-061, project-062: returns a private environment only to members with access', async () => {
    await create({ name: 'open' });
    await makePrivate();
    const ids = async (key: string) => (await api.get(list(), key)).body.results.map(({ id }: { id: number }) => id);
    expect(await ids(fixture.keys.M)).not.toContain(fixture.tenant.environmentId);
    expect(await ids(fixture.keys.A)).toContain(fixture.tenant.environmentId);
    expect(await api.get(path(), fixture.keys.M)).toMatchObject(notFound());
    await admit('member');
    expect(await ids(fixture.keys.M)).toContain(fixture.tenant.environmentId);
    expect((await api.get(path(), fixture.keys.M)).body.effective_membership_level).toBe(1);
    await api.database.sql.query("UPDATE access_rule SET level = 'admin' WHERE environment_id = $1", [
      fixture.tenant.environmentId,
    ]);
    expect((await api.get(path(), fixture.keys.M)).body.effective_membership_level).toBe(8);
  });

  test('project-057, project-061: resolves `@current` to a private environment', async () => {
    await makePrivate();
    const current = pathOf(fixture.tenant, '@current');
    const expected = permissionDenied("You don't have sufficient permissions in the project.");
    expect(await api.get(current, fixture.keys.M)).toMatchObject(expected);
    expect(await api.send('PATCH', current, { key: fixture.keys.M, body: { name: 'x' } })).toMatchObject(expected);
    await admit('member');
    expect((await api.send('PATCH', current, { key: fixture.keys.M, body: { name: 'x' } })).status).toBe(200);
  });

  test('project-056: lets a member rename an open environment', async () => {
    const { body } = await api.send('PATCH', path(), { key: fixture.keys.M, body: { name: 'Renamed' } });
    expect(body.name).toBe('Renamed');
  });

  test('project-049, project-050: rolling the API key requires an administrator, notifies gateways and is recorded without keys', async () => {
    expect(await api.send('PATCH', path('reset_token/'), { key: fixture.keys.M })).toMatchObject(insufficient);
    const { status, body } = await api.send('PATCH', path('reset_token'), { key: fixture.keys.A });
    expect(status).toBe(200);
    expect(body.api_token).toMatch(/^phc_[0-9A-Za-z]{43}$/);
    expect(body.api_token).not.toBe(fixture.tenant.token);
    await eventually(async () => announced.keys.includes(fixture.tenant.token), {
      what: 'the announcement of the old key',
    });
    const rows = await api.database.sql.query('SELECT detail FROM activity_log WHERE environment_id = $1', [
      fixture.tenant.environmentId,
    ]);
    expect(rows).toMatchObject([
      { detail: { changes: [{ action: 'changed', field: 'api_token', before: null, after: null }] } },
    ]);
  });

  test('an administrator creates and rolls a secret key, which is shown once and not recorded', async () => {
    const [rotate, deleteBackup] = [path('rotate_secret_token/'), path('delete_secret_token_backup/')];
    for (const route of [rotate, deleteBackup]) {
      expect(await api.send('PATCH', route, { key: fixture.keys.M })).toMatchObject(insufficient);
    }
    const patch = async (route: string) => (await api.send('PATCH', route, { key: fixture.keys.A })).body;
    const masks = async () => (await api.get(path('secret_tokens/'), fixture.keys.M)).body;
    expect(await masks()).toEqual({ secret_api_token: null, secret_api_token_backup: null });
    const first = await patch(rotate);
    expect(first.secret_api_token).toMatch(/^phs_[0-9A-Za-z]{48}$/);
    expect(first).toMatchObject({ id: fixture.tenant.projectId, secret_api_token_backup: null });
    const second = await patch(rotate);
    expect(second.secret_api_token).not.toBe(first.secret_api_token);
    expect(second.secret_api_token_backup).toBe(`phs_...${first.secret_api_token.slice(-4)}`);
    expect(await masks()).toEqual({
      secret_api_token: `phs_...${second.secret_api_token.slice(-4)}`,
      secret_api_token_backup: `phs_...${first.secret_api_token.slice(-4)}`,
    });
    expect(await patch(deleteBackup)).toMatchObject({
      secret_api_token: `phs_...${second.secret_api_token.slice(-4)}`,
      secret_api_token_backup: null,
    });
    expect(await patch(deleteBackup)).toMatchObject({ secret_api_token_backup: null });
    const reads = [await api.get(path(), fixture.keys.A), await api.get(path('activity/'), fixture.keys.A)];
    expect(JSON.stringify(reads)).not.toMatch(/phs_[0-9A-Za-z]/);
    const rows = await api.database.sql.query<{ detail: { changes: [{ action: string; field: string }] } }>(
      'SELECT detail FROM activity_log WHERE environment_id = $1 ORDER BY id',
      [fixture.tenant.environmentId],
    );
    expect(rows.map(({ detail: { changes } }) => changes.map(({ action, field }) => `${action} ${field}`))).toEqual([
      ['created secret_api_token'],
      ['changed secret_api_token'],
      ['deleted secret_api_token_backup'],
    ]);
  });

  test('project-051, project-052, project-054: an administrator deletes an environment immediately and permanently', async () => {
    expect(await api.send('DELETE', path(), { key: fixture.keys.M })).toMatchObject(insufficient);
    const removed = await api.send('DELETE', path(), { key: fixture.keys.A });
    expect([removed.status, removed.body]).toEqual([204, undefined]);
    expect((await api.send('DELETE', path(), { key: fixture.keys.A })).status).toBe(404);
    expect((await api.get(path(), fixture.keys.A)).status).toBe(404);
    expect((await api.get(path('activity/'), fixture.keys.A)).status).toBe(404);
    await eventually(async () => announced.keys.includes(fixture.tenant.token), {
      what: 'the announcement of the key',
    });
    const { sql } = api.database;
    expect(
      await sql.query('SELECT 1 FROM environment_cleanup WHERE environment_id = $1', [fixture.tenant.environmentId]),
    ).toHaveLength(1);
    const activity = await sql.query(
      "SELECT scope FROM activity_log WHERE environment_id = $1 AND activity = 'deleted' ORDER BY scope",
      [fixture.tenant.environmentId],
    );
    expect(activity).toEqual([{ scope: 'Project' }, { scope: 'Team' }]);
  });

  test('project-051: a member with level 8 in the environment can delete it if it is private, but not if it is open', async () => {
    await admit('admin');
    expect(await api.send('DELETE', path(), { key: fixture.keys.M })).toMatchObject(insufficient);
    await makePrivate();
    expect((await api.send('DELETE', path(), { key: fixture.keys.M })).status).toBe(204);
  });

  test('project-063, project-073: returns 404 for IDs that match no environment', async () => {
    for (const id of [2_000_000_000, 99_999_999_999, 0, -1]) {
      expect(await api.get(pathOf(fixture.tenant, id), fixture.keys.A)).toMatchObject(notFound());
    }
    expect(await api.get(pathOf(fixture.tenant, 'abc'), fixture.keys.A)).toMatchObject(
      validationError('invalid_input', null, "Field 'id' expected a number but got 'abc'."),
    );
  });

  test('project-065: never reports that demo data is being generated', async () => {
    const { status, body } = await api.get(path('is_generating_demo_data/'), fixture.keys.M);
    expect([status, body]).toEqual([200, { is_generating_demo_data: false }]);
  });

  test('project-066, project-067: creates a product intent once, and counts repetitions', async () => {
    const add = (body: object) => api.send('PATCH', path('add_product_intent/'), { key: fixture.keys.M, body });
    const first = await add({ product_type: 'surveys', intent_context: 'onboarding', metadata: { a: 1 } });
    expect(first.status).toBe(201);
    const second = await add({ product_type: 'surveys' });
    const [before, after] = [first, second].map(({ body }) => JSON.parse(body.product_intents)[0]);
    expect(after.created_at).toBe(before.created_at);
    expect(after.updated_at > before.updated_at).toBe(true);
    const [row] = await api.database.sql.query('SELECT contexts FROM product_intent WHERE environment_id = $1', [
      fixture.tenant.environmentId,
    ]);
    expect(row).toEqual({ contexts: { onboarding: 1, unknown: 1 } });
    expect(await add({})).toMatchObject(validationError('required', 'product_type', 'This field is required.'));
    const { name } = (await api.get(path(''), fixture.keys.M)).body;
    await api.database.sql.query('ALTER TABLE product_intent RENAME TO product_intent_away');
    const { result: failed, logged } = await keepLogs(api.logger, () =>
      add({ product_type: 'surveys', name: 'Not kept' }),
    );
    await api.database.sql.query('ALTER TABLE product_intent_away RENAME TO product_intent');
    expect(failed.status).toBe(500);
    expect(logged).toMatchObject([{ level: 'error', error: { cause: { code: '42P01' } } }]);
    expect((await api.get(path(''), fixture.keys.M)).body.name).toBe(name);
  });

  test('project-071: the activity log records a new environment without changed fields', async () => {
    const { body } = await create({ name: 'New' });
    const rows = await api.database.sql.query(
      'SELECT scope, activity, detail FROM activity_log WHERE environment_id = $1 ORDER BY scope',
      [body.id],
    );
    expect(rows.map((row) => row.scope)).toEqual(family === 'project' ? ['Project', 'Team'] : ['Team']);
    expect(rows[0]).toMatchObject({ activity: 'created', detail: { name: 'New', changes: null } });
  });

  test('environment-001 to environment-006: stores, shows and applies access rules', async () => {
    const put = (body: object, key = fixture.keys.A) => api.send('PUT', path('access_controls/'), { key, body });
    expect(await put({ access_level: 'admin' }, fixture.keys.M)).toMatchObject(
      permissionDenied('Must be admin to modify project permissions.'),
    );
    for (const key of [fixture.keys.A, fixture.keys.W])
      expect((await put({ access_level: 'none' }, key)).status).toBe(200);
    expect(await api.get(path(), fixture.keys.M)).toMatchObject(notFound());
    expect(await put({ access_level: 'admin', organization_member: fixture.membershipId })).toMatchObject({
      status: 200,
      body: { access_level: 'admin', organization_member: fixture.membershipId },
    });
    expect((await api.get(path(), fixture.keys.M)).body.effective_membership_level).toBe(8);
    // environment-005: an administrator of the environment can lower their own rule, but cannot raise it again.
    expect(
      (await put({ access_level: 'member', organization_member: fixture.membershipId }, fixture.keys.M)).status,
    ).toBe(200);
    expect(
      await put({ access_level: 'admin', organization_member: fixture.membershipId }, fixture.keys.M),
    ).toMatchObject(permissionDenied('Must be admin to modify project permissions.'));
    // environment-003: PostHog returns 204. Millrace returns 200 with the removed rule, because a route can have only
    // one success response.
    expect(await put({ access_level: null, organization_member: fixture.membershipId })).toMatchObject({
      status: 200,
      body: { access_level: null },
    });
    expect(await api.get(path(), fixture.keys.M)).toMatchObject(notFound());
    expect(await put({ access_level: 'bad' })).toMatchObject(
      validationError('invalid_input', null, 'Invalid access level. Must be one of: none, member, admin'),
    );
    expect((await put({ access_level: 'admin', role: 'x', organization_member: fixture.membershipId })).status).toBe(
      400,
    );
    expect((await put({ access_level: 'admin' }, fixture.keys.stranger)).status).toBe(404);
    const foreign = await createTenantWithKeys(api);
    expect(await put({ access_level: 'admin', organization_member: foreign.membershipId })).toMatchObject(
      validationError(
        'does_not_exist',
        'organization_member',
        `Invalid pk "${foreign.membershipId}" - object does not exist.`,
      ),
    );
  });

  test('signs a live events token for this environment, valid for seven days', async () => {
    const { body } = await api.get(path(), fixture.keys.M);
    const [header, claims, signature] = body.live_events_token.split('.');
    expect(signature).toBe(createHmac('sha256', 'secret of a test').update(`${header}.${claims}`).digest('base64url'));
    const { exp, ...rest } = JSON.parse(Buffer.from(claims, 'base64url').toString());
    expect(rest).toEqual({
      team_id: fixture.tenant.projectId,
      api_token: fixture.tenant.token,
      user_id: expect.any(Number),
      iat: expect.any(Number),
      key_id: expect.any(String),
      aud: 'posthog:livestream',
    });
    expect(Math.abs(exp - Date.now() / 1000 - 7 * 24 * 3600)).toBeLessThan(600);
  });

  test('activity pages have page numbers', async () => {
    for (const name of ['a', 'b', 'c'])
      await api.send('PATCH', path(), { key: fixture.keys.A, body: { app_urls: [name] } });
    const read = (query: string) =>
      api.send('GET', path(`activity/?${query}`), {
        key: fixture.keys.M,
        headers: { prefer: 'return=representation' },
      });
    const { body } = await read('limit=2&page=1&format=json');
    expect([body.total_count, body.results.length, body.previous]).toEqual([3, 2, null]);
    expect(body.next).toBe(`${api.url}${path('activity/')}?format=json&limit=2&page=2`);
    expect(
      (await api.send('GET', body.next, { key: fixture.keys.M, headers: { prefer: 'return=representation' } })).body,
    ).toMatchObject({ next: null, previous: expect.stringContaining('page=1') });
    expect((await read('page=9')).status).toBe(404);
    expect((await read('page=x')).status).toBe(400);
    expect((await read('limit=0')).status).toBe(400);
  });

  test('runs the same number of SQL statements for a list of any length', async () => {
    const cost = () => api.statementsOf(() => api.get(list(), fixture.keys.A));
    const one = await cost();
    for (let count = 0; count < 3; count += 1) await create({});
    expect(await cost()).toBe(one);
    expect(one).toBeLessThanOrEqual(4);
  });
});

test('project-015: adds an environment to its project', async () => {
  const path = `/api/projects/${fixture.tenant.projectId}/environments/`;
  const { body } = await api.send('POST', path, { key: fixture.keys.A, body: { name: 'Staging' } });
  expect([body.project_id, body.id === fixture.tenant.projectId, body.name]).toEqual([
    fixture.tenant.projectId,
    false,
    'Staging',
  ]);
  expect((await api.get(path, fixture.keys.A)).body.count).toBe(2);
  expect((await api.get('/api/projects/', fixture.keys.A)).body.count).toBe(1);
  expect((await api.get(`/api/environments/${body.id}/`, fixture.keys.A)).body.name).toBe('Staging');
  expect((await api.send('DELETE', `${path}${fixture.tenant.environmentId}/`, { key: fixture.keys.A })).status).toBe(
    204,
  );
  expect((await api.get(`/api/projects/${fixture.tenant.projectId}/`, fixture.keys.A)).body.api_token).toBe(
    body.api_token,
  );
});

test('project-016: returns 400 for an environment without a project', async () => {
  expect(await api.send('POST', '/api/environments/', { key: fixture.keys.A, body: {} })).toMatchObject(
    validationError(
      'invalid_input',
      null,
      'Environments must be created under a specific project. Send the POST request to /api/projects/<project_id>/environments/ instead.',
    ),
  );
});

test('project-017, project-018: returns 404 for a project that does not exist', async () => {
  const send = (id: number | string, key: string) =>
    api.send('POST', `/api/projects/${id}/environments/`, { key, body: {} });
  expect(await send(2_000_000_000, fixture.keys.A)).toMatchObject(notFound('Project not found.'));
  expect(await send('abc', fixture.keys.A)).toMatchObject(notFound('Project not found.'));
  // project-018: for a user who has left, PostHog returns "Organization not found.", which reveals that the project
  // exists.
  expect(await send(fixture.tenant.projectId, fixture.keys.stranger)).toMatchObject(notFound('Project not found.'));
});

test('project-019, project-020: creates a project in the organization that the path contains', async () => {
  const path = `/api/organizations/${fixture.tenant.organizationId}/projects/`;
  const { status, body } = await api.send('POST', path, { key: fixture.keys.A, body: { name: 'x' } });
  expect([status, body.organization]).toEqual([201, fixture.tenant.organizationId]);
  expect(await api.send('POST', path, { key: fixture.keys.M, body: { name: 'x' } })).toMatchObject(insufficient);
  expect((await api.send('POST', path, { key: fixture.keys.stranger, body: {} })).status).toBe(403);
});

test('project-021: returns 404 to a user without an organization', async () => {
  const lonely = await createTestTenant(api.database);
  await api.database.prisma.membership.deleteMany({ where: { user_id: lonely.userId } });
  expect(await api.send('POST', '/api/projects/', { key: lonely.personalApiKey, body: {} })).toMatchObject(
    notFound('You need to belong to an organization.'),
  );
});

test('returns 404 for a project in another organization of the caller', async () => {
  const other = await createTestTenant(api.database);
  await api.database.sql.query(
    'INSERT INTO membership (id, organization_id, user_id, level) VALUES (gen_random_uuid(), $1, $2, 15)',
    [other.organizationId, fixture.tenant.userId],
  );
  const under = `/api/organizations/${fixture.tenant.organizationId}/projects/${other.projectId}/`;
  expect(await api.get(under, fixture.keys.W)).toMatchObject(notFound());
  expect((await api.get(`/api/projects/${other.projectId}/`, fixture.keys.W)).status).toBe(200);
  const { project } = await createTestProject(api.database, {
    organizationId: fixture.tenant.organizationId,
    name: 'B',
  });
  expect(
    await api.get(`/api/projects/${fixture.tenant.projectId}/environments/${project.id}/`, fixture.keys.W),
  ).toMatchObject(notFound());
});

test('the activity log shows that an operator used the command line', async () => {
  const { sql } = api.database;
  const tenant = await createTestTenant(api.database);
  await recordActivity(sql, {
    actor: { command: 'environment create' },
    organizationId: tenant.organizationId,
    environmentId: tenant.environmentId,
    scope: 'Team',
    itemId: tenant.environmentId,
    activity: 'created',
    name: 'Default project',
  });
  const { status, body } = await api.get(`/api/projects/${tenant.projectId}/activity/`, tenant.personalApiKey);
  expect(status).toBe(200);
  expect(body.results[0]).toMatchObject({
    user: { first_name: 'Command line', email: null, is_system: true },
    detail: { trigger: { job_type: 'command_line', job_id: 'environment create', payload: {} }, changes: null },
  });
  await sql.query('DELETE FROM activity_log WHERE environment_id = $1', [tenant.environmentId]);
});
