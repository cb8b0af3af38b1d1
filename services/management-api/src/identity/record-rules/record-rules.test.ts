import type { GovernedKind } from '../../access/record-rights.ts';
import { notFound, permissionDenied, validationError } from '../../testing/expected-errors.ts';
import { createActors, type OrganizationActors } from '../../testing/organization-actors.ts';
import { startTestApi, type TestApi } from '../../testing/start-test-api.ts';

/** Tests access rules for kinds of records and for single records (docs/api/access.md#access-to-records). */
let api: TestApi;
let acme: OrganizationActors;
let role: string;
let member: string;
beforeAll(async () => {
  api = await startTestApi();
});
beforeEach(async () => {
  acme = await createActors(api.database);
  const roles = `/api/organizations/${acme.organizationId}/roles/`;
  role = (await api.send('POST', roles, { key: acme.A.key, body: { name: 'Support' } })).body.id;
  const given = await api.send('POST', `${roles}${role}/role_memberships/`, {
    key: acme.A.key,
    body: { user_uuid: acme.M.uuid },
  });
  member = given.body.organization_member.id;
});
afterAll(() => api.stop());

type Method = 'GET' | 'POST' | 'PUT' | 'PATCH';
const send = (method: Method, rest: string, { key = acme.M.key, body }: { key?: string; body?: object } = {}) =>
  api.send(method, `/api/projects/${acme.projectId}/${rest}`, { key, ...(body && { body }) });

type Level = 'none' | 'viewer' | 'editor' | 'manager' | null;
type Whom = 'everybody' | 'role' | 'own';
const whomOf = (whom: Whom) => (whom === 'role' ? { role } : whom === 'own' ? { organization_member: member } : {});
/** Sets a rule as an administrator, either for a record kind or, with an ID, for one record. */
const rule = (kind: GovernedKind, whom: Whom, access_level: Level, id?: string | number) => {
  const body = { access_level, ...whomOf(whom), ...(id === undefined && { resource: kind }) };
  const rest = id === undefined ? 'resource_access_controls/' : `${pathOf[kind]}/${id}/access_controls/`;
  return send('PUT', rest, { key: acme.A.key, body });
};

const pathOf: Record<GovernedKind, string> = {
  cohort: 'cohorts',
  dashboard: 'dashboards',
  early_access_feature: 'early_access_feature',
  feature_flag: 'feature_flags',
  insight: 'insights',
};
const bodies: Record<GovernedKind, (name: string) => object> = {
  cohort: (name) => ({ name, is_static: true }),
  dashboard: (name) => ({ name }),
  early_access_feature: (name) => ({ name, stage: 'beta' }),
  feature_flag: (key) => ({ key }),
  insight: (name) => ({ name, saved: true, query: trend }),
};
const trend = { kind: 'InsightVizNode', source: { kind: 'TrendsQuery', series: [{ kind: 'EventsNode', event: 'a' }] } };
const kinds = Object.keys(pathOf) as GovernedKind[];
const make = async (kind: GovernedKind, name = 'one', key = acme.A.key) => {
  const made = await send('POST', `${pathOf[kind]}/`, { key, body: bodies[kind](name) });
  expect([made.status, made.body.detail]).toEqual([201, undefined]);
  return made.body.id as number;
};
const listed = async (kind: GovernedKind, key = acme.M.key) => {
  const { status, body } = await send('GET', `${pathOf[kind]}/`, { key });
  return status === 200 ? [body.count, ...body.results.map(({ id }: { id: number }) => id)] : status;
};
const refused = (needed: string) => permissionDenied(`You do not have ${needed} access to this resource.`);

describe.each(kinds)('%s', (kind) => {
  const path = pathOf[kind];
  const change = (id: number, key?: string) =>
    send('PATCH', `${path}/${id}/`, { ...(key && { key }), body: { name: 'other' } });

  test('a rule for all records of a kind can forbid access, allow viewing, or allow changes only to a role', async () => {
    const id = await make(kind);
    const seen: unknown[] = [];
    for (const level of ['none', 'viewer', 'editor', 'manager', null] as const) {
      await rule(kind, 'role', level);
      const responses = [await send('GET', `${path}/${id}/`), await change(id)];
      seen.push([level, await listed(kind), ...responses.map(({ status }) => status)]);
    }
    expect(seen).toEqual([
      ['none', 403, 403, 403],
      ['viewer', [1, id], 200, 403],
      ['editor', [1, id], 200, 200],
      ['manager', [1, id], 200, 200],
      [null, [1, id], 200, 200],
    ]);
    if (kind === 'dashboard' || kind === 'feature_flag' || kind === 'insight') {
      await rule(kind, 'role', 'viewer');
      expect((await send('GET', `${path}/${id}/`)).body.user_access_level).toBe('viewer');
      expect((await send('GET', `${path}/`)).body.results[0].user_access_level).toBe('viewer');
      expect((await send('GET', `${path}/${id}/`, { key: acme.A.key })).body.user_access_level).toBe('editor');
    }
    await rule(kind, 'role', 'none');
    expect(await send('GET', `${path}/${id}/`)).toMatchObject(refused('viewer'));
    expect(await change(id)).toMatchObject(refused('editor'));
    expect(await send('POST', `${path}/`, { body: bodies[kind]('new') })).toMatchObject(refused('editor'));
    expect([await listed(kind, acme.A.key), (await change(id, acme.A.key)).status]).toEqual([[1, id], 200]);
  });

  test('a rule for a record takes precedence over rules for its kind', async () => {
    const [open, closed] = [await make(kind, 'one'), await make(kind, 'two')];
    await rule(kind, 'role', 'none', closed);
    expect(await listed(kind)).toEqual([1, open]);
    expect(await send('GET', `${path}/${closed}/`)).toMatchObject(refused('viewer'));
    expect((await change(open)).status).toBe(200);
    await rule(kind, 'everybody', 'none');
    await rule(kind, 'role', 'viewer', closed);
    expect(await listed(kind)).toEqual([1, closed]);
    expect([(await send('GET', `${path}/${closed}/`)).status, (await change(closed)).status]).toEqual([200, 403]);
    expect(await send('GET', `${path}/${open}/`)).toMatchObject(refused('viewer'));
  });

  test('returns the access rules as they were set, and removes them', async () => {
    const id = await make(kind);
    const own = await rule(kind, 'own', 'viewer', id);
    const ofRole = await rule(kind, 'role', 'manager', id);
    const forAll = await rule(kind, 'everybody', 'none', id);
    const common = { resource: kind, resource_id: String(id), created_by: acme.A.uuid };
    expect([own, ofRole, forAll].map(({ status }) => status)).toEqual([200, 200, 200]);
    expect([own.body, ofRole.body, forAll.body]).toEqual([
      expect.objectContaining({ ...common, access_level: 'viewer', organization_member: member, role: null }),
      expect.objectContaining({ ...common, access_level: 'manager', organization_member: null, role }),
      expect.objectContaining({ ...common, access_level: 'none', organization_member: null, role: null }),
    ]);
    const shown = await send('GET', `${path}/${id}/access_controls/`, { key: acme.A.key });
    expect(shown.body).toEqual({
      access_controls: [forAll.body, own.body, ofRole.body],
      available_access_levels: ['none', 'viewer', 'editor', 'manager'],
      default_access_level: 'editor',
      user_access_level: 'manager',
      user_can_edit_access_levels: true,
    });
    expect(await rule(kind, 'own', null, id)).toMatchObject({ status: 200, body: { access_level: null } });
    expect((await send('GET', `${path}/${id}/access_controls/`)).body).toMatchObject({
      access_controls: [forAll.body, ofRole.body],
      user_access_level: 'manager',
    });
  });

  test("only a record's managers and project administrators can set rules for the record", async () => {
    const id = await make(kind);
    const body = { access_level: 'manager', organization_member: member };
    const put = () => send('PUT', `${path}/${id}/access_controls/`, { body });
    expect(await put()).toMatchObject(refused('manager'));
    await rule(kind, 'role', 'manager', id);
    expect((await put()).status).toBe(200);
    expect(await send('PUT', `${path}/999999/access_controls/`, { body })).toMatchObject(notFound());
  });
});

test.each<[Whom, Level, Whom, Level, Level]>([
  ['everybody', 'none', 'role', 'viewer', 'viewer'],
  ['everybody', 'editor', 'role', 'viewer', 'editor'],
  ['everybody', 'editor', 'role', 'none', 'none'],
  ['everybody', 'manager', 'own', 'none', 'none'],
  ['everybody', 'viewer', 'own', 'editor', 'editor'],
  ['role', 'none', 'own', 'viewer', 'viewer'],
  ['role', 'manager', 'own', 'none', 'none'],
  ['role', 'viewer', 'own', 'manager', 'manager'],
])('the rules %s %s and %s %s result in %s', async (whom, level, other, otherLevel, expected) => {
  const id = await make('dashboard');
  for (const on of [undefined, id]) {
    await rule('dashboard', whom, level, on);
    await rule('dashboard', other, otherLevel, on);
    const { status, body } = await send('GET', `dashboards/${id}/access_controls/`);
    expect(status === 403 ? 'none' : body.user_access_level).toBe(expected);
    await rule('dashboard', whom, null, on);
    await rule('dashboard', other, null, on);
  }
});

test("applies the access rules of all of a member's roles", async () => {
  const id = await make('dashboard');
  const roles = `/api/organizations/${acme.organizationId}/roles/`;
  const second = (await api.send('POST', roles, { key: acme.A.key, body: { name: 'Sales' } })).body.id;
  const body = { user_uuid: acme.M.uuid };
  await api.send('POST', `${roles}${second}/role_memberships/`, { key: acme.A.key, body });
  await rule('dashboard', 'role', 'none');
  expect((await send('GET', `dashboards/${id}/`)).status).toBe(403);
  const given = { resource: 'dashboard', access_level: 'viewer', role: second };
  await send('PUT', 'resource_access_controls/', { key: acme.A.key, body: given });
  expect((await send('GET', `dashboards/${id}/`)).status).toBe(200);
  await api.send('DELETE', `${roles}${second}/`, { key: acme.A.key });
  expect((await send('GET', `dashboards/${id}/`)).status).toBe(403);
});

test("a record's creator keeps access to it, and can set its access rules", async () => {
  for (const kind of ['cohort', 'dashboard', 'feature_flag', 'insight'] as const) {
    const own = await make(kind, 'own', acme.M.key);
    const other = await make(kind, 'other');
    await rule(kind, 'everybody', 'none');
    await rule(kind, 'everybody', 'none', own);
    expect([kind, await listed(kind)]).toEqual([kind, 403]);
    await rule(kind, 'role', 'viewer', other);
    expect([kind, (await listed(kind)).toString()]).toEqual([kind, [2, other, own].toString()]);
    expect((await send('PATCH', `${pathOf[kind]}/${own}/`, { body: { name: 'new' } })).status).toBe(200);
    const body = { access_level: 'viewer', role };
    expect((await send('PUT', `${pathOf[kind]}/${own}/access_controls/`, { body })).status).toBe(200);
  }
});

test('all responses that list flags include a restricted flag for its creator', async () => {
  const base = await make('feature_flag', 'base');
  const groups = [{ properties: [{ key: String(base), type: 'flag', operator: 'flag_evaluates_to', value: true }] }];
  const made: number[] = [];
  for (const [key, who] of [
    ['own', acme.M.key],
    ['theirs', acme.A.key],
  ] as const) {
    const { body } = await send('POST', 'feature_flags/', { key: who, body: { key, filters: { groups } } });
    await rule('feature_flag', 'everybody', 'none', body.id);
    made.push(body.id);
  }
  const [own = 0, theirs = 0] = made;
  const asked = async (rest: string) => (await send('GET', `feature_flags/${rest}`)).body;
  expect((await send('POST', 'feature_flags/bulk_keys/', { body: { ids: [own, theirs] } })).body).toEqual({
    keys: { [own]: 'own' },
  });
  expect(await asked(`${base}/dependent_flags/`)).toMatchObject([{ key: 'own' }]);
  expect(Object.keys(await asked('evaluation_reasons/?distinct_id=a')).sort()).toEqual(['base', 'own']);
  const named = (await asked('activity/')).results.map(({ item_id }: { item_id: string }) => Number(item_id));
  expect([named.includes(own), named.includes(theirs)]).toEqual([true, false]);
});

test('only administrators can set access rules for record kinds, and all members can see them', async () => {
  const body = { resource: 'dashboard', access_level: 'manager' };
  const denied = permissionDenied('Must be admin to modify project permissions.');
  expect(await send('PUT', 'resource_access_controls/', { body })).toMatchObject(denied);
  const set = [await rule('insight', 'role', 'viewer'), await rule('dashboard', 'everybody', 'none')];
  const shown = (await send('GET', 'resource_access_controls/')).body;
  expect(shown).toMatchObject({
    access_controls: [set[1]?.body, set[0]?.body],
    user_access_level: null,
    user_can_edit_access_levels: false,
  });
});

test.each([
  ['an unknown level', { resource: 'dashboard', access_level: 'owner' }, null, 'invalid_input'],
  ['a level of projects', { resource: 'dashboard', access_level: 'member' }, null, 'invalid_input'],
  ['no level', { resource: 'dashboard' }, 'access_level', 'required'],
  ['an unknown kind', { resource: 'person', access_level: 'none' }, 'resource', 'invalid_choice'],
  ['no kind', { access_level: 'none' }, 'resource', 'required'],
  ['a record', { resource: 'dashboard', resource_id: '1', access_level: 'none' }, 'resource_id', 'invalid_input'],
  ['a role that is not a UUID', { resource: 'dashboard', access_level: 'none', role: 'x' }, 'role', 'invalid_input'],
])('returns 400 for an access rule with %s', async (_what, body, attr, code) => {
  const response = await send('PUT', 'resource_access_controls/', { key: acme.A.key, body });
  expect([response.status, response.body.attr, response.body.code]).toEqual([400, attr, code]);
});

test("returns 400 naming the field for an access rule with another organization's role or member, or with both", async () => {
  const other = await createActors(api.database);
  const roles = `/api/organizations/${other.organizationId}/roles/`;
  const theirs = (await api.send('POST', roles, { key: other.A.key, body: { name: 'Theirs' } })).body.id;
  const put = (body: object) =>
    send('PUT', 'resource_access_controls/', { key: acme.A.key, body: { resource: 'dashboard', ...body } });
  const missing = (attr: string) =>
    validationError('does_not_exist', attr, `Invalid pk "${theirs}" - object does not exist.`);
  expect(await put({ access_level: 'none', role: theirs })).toMatchObject(missing('role'));
  expect(await put({ access_level: 'none', organization_member: theirs })).toMatchObject(
    missing('organization_member'),
  );
  expect(await put({ access_level: 'none', role, organization_member: member })).toMatchObject({
    status: 400,
    body: { detail: 'You can not scope an access control to both a member and a role.' },
  });
  const project = `/api/projects/${acme.projectId}/access_controls/`;
  const response = await api.send('PUT', project, { key: acme.A.key, body: { access_level: 'admin', role: theirs } });
  expect(response).toMatchObject(missing('role'));
});

test('access rules apply only if the plan includes project permissions', async () => {
  await make('dashboard');
  await rule('dashboard', 'everybody', 'none');
  expect(await listed('dashboard')).toBe(403);
  await api.database.sql.query("UPDATE organization SET available_product_features = '[]' WHERE id = $1", [
    acme.organizationId,
  ]);
  expect(await listed('dashboard')).toHaveLength(2);
});

test('a rule that makes a member a project administrator grants access to all records', async () => {
  await make('dashboard');
  await rule('dashboard', 'own', 'none');
  const project = `/api/projects/${acme.projectId}/access_controls/`;
  await api.send('PUT', project, { key: acme.A.key, body: { access_level: 'member' } });
  await api.send('PUT', project, { key: acme.A.key, body: { access_level: 'admin', role } });
  expect(await listed('dashboard')).toHaveLength(2);
});

test('a restricted record cannot be read or deleted through routes of other records or through lists', async () => {
  const [insight, flag, cohort] = [await make('insight'), await make('feature_flag', 'closed'), await make('cohort')];
  const dashboard = await make('dashboard');
  const asAdministrator = { key: acme.A.key };
  await send('PATCH', `insights/${insight}/`, { ...asAdministrator, body: { dashboards: [dashboard] } });
  const short = (await send('GET', `insights/${insight}/`, asAdministrator)).body.short_id;
  await send('POST', `insights/${insight}/viewed/`);
  await rule('insight', 'role', 'none', insight);
  await rule('feature_flag', 'role', 'none', flag);
  await rule('cohort', 'role', 'viewer', cohort);

  const responseOf = async (method: Method, rest: string, body?: object) => {
    const response = await send(method, rest, body && { body });
    return [response.status, response.body];
  };
  expect(await responseOf('GET', `insights/${short}/`)).toEqual([403, refused('viewer').body]);
  expect(await responseOf('GET', 'insights/my_last_viewed/')).toEqual([200, []]);
  expect(await responseOf('GET', 'insights/trending/')).toEqual([200, []]);
  expect((await send('GET', `dashboards/${dashboard}/`)).body.tiles).toMatchObject([{ insight: null }]);
  expect((await send('GET', `dashboards/${dashboard}/`, asAdministrator)).body.tiles[0].insight.id).toBe(insight);
  expect((await send('GET', 'insights/activity/')).body.total_count).toBe(0);
  expect(await responseOf('GET', `insights/${insight}/activity/`)).toEqual([403, refused('viewer').body]);
  // The member cannot delete the restricted insight through its dashboard, and a copy of the dashboard omits the
  // insight.
  const removal = { deleted: true, delete_insights: true };
  expect(await responseOf('PATCH', `dashboards/${dashboard}/`, removal)).toEqual([403, refused('editor').body]);
  const copy = await send('POST', 'dashboards/', { body: { use_dashboard: dashboard, duplicate_tiles: true } });
  expect(copy.body.tiles).toMatchObject([{ insight: null }]);

  const report = { target_type: 'email', target_value: 'a@example.com', frequency: 'daily', title: 'x' };
  const start = { ...report, interval: 1, start_date: '2026-01-01T00:00:00Z' };
  for (const about of [{ insight }, { dashboard }]) {
    expect(await responseOf('POST', 'subscriptions/', { ...start, ...about })).toEqual([403, refused('viewer').body]);
    const query = new URLSearchParams(Object.entries(about).map(([name, id]): [string, string] => [name, String(id)]));
    expect(await responseOf('GET', `subscriptions/preview/?${query}`)).toEqual([403, refused('viewer').body]);
  }

  expect(await responseOf('POST', 'feature_flags/bulk_keys/', { ids: [flag] })).toEqual([200, { keys: {} }]);
  expect(await responseOf('GET', 'feature_flags/matching_ids/')).toEqual([200, { ids: [], total: 0 }]);
  expect(await responseOf('GET', 'feature_flags/my_flags/')).toEqual([200, []]);
  expect(await responseOf('GET', 'feature_flags/evaluation_reasons/?distinct_id=a')).toEqual([200, {}]);
  expect((await send('GET', 'feature_flags/activity/')).body.total_count).toBe(0);
  expect((await send('POST', 'feature_flags/bulk_delete/', { body: { ids: [flag] } })).body).toEqual({
    deleted: [],
    errors: [{ id: flag, reason: 'You do not have editor access to this resource.' }],
  });
  const ofOrganization = `/api/organizations/${acme.organizationId}/feature_flags/`;
  expect((await api.get(`${ofOrganization}closed/`, acme.M.key)).body).toEqual([]);
  const copying = { feature_flag_key: 'closed', from_project: acme.projectId, target_project_ids: [acme.projectId] };
  expect(await api.send('POST', `${ofOrganization}copy_flags/`, { key: acme.M.key, body: copying })).toMatchObject({
    status: 400,
    body: { detail: 'Feature flag to copy does not exist.' },
  });
  const feature = { name: 'Beta', stage: 'beta', feature_flag_id: flag };
  expect(await responseOf('POST', 'early_access_feature/', feature)).toEqual([403, refused('editor').body]);
  expect(await responseOf('POST', `feature_flags/${flag}/create_static_cohort_for_flag/`)).toEqual([
    ...[403, refused('viewer').body],
  ]);

  expect(await responseOf('GET', `cohorts/${cohort}/persons/`)).toMatchObject([200, {}]);
  const persons = { person_ids: ['0193f0c5-7a4e-7000-8000-0000000000cc'] };
  expect(await responseOf('PATCH', `cohorts/${cohort}/add_persons_to_static_cohort/`, persons)).toEqual([
    ...[403, refused('editor').body],
  ]);
});

test('a member who cannot change a flag cannot turn it on through its early access feature', async () => {
  const feature = await make('early_access_feature', 'Beta');
  const shown = await send('GET', `early_access_feature/${feature}/`);
  const flag = shown.body.feature_flag.id;
  const enrolment = async () =>
    (await send('GET', `feature_flags/${flag}/`, { key: acme.A.key })).body.filters.feature_enrollment;
  const change = async (body: object, key?: string) => {
    const { status } = await send('PATCH', `early_access_feature/${feature}/`, { ...(key && { key }), body });
    return [status, await enrolment()];
  };
  await rule('feature_flag', 'role', 'viewer');
  expect(await change({ stage: 'draft' })).toEqual([403, true]);
  expect(
    await api.send('DELETE', `/api/projects/${acme.projectId}/early_access_feature/${feature}/`, { key: acme.M.key }),
  ).toMatchObject(refused('editor'));
  expect((await send('GET', `early_access_feature/${feature}/`)).body.stage).toBe('beta');
  expect(await change({ description: 'soon', stage: 'alpha' })).toEqual([200, true]);
  expect(await change({ stage: 'draft' }, acme.A.key)).toEqual([200, null]);
  expect(await change({ stage: 'beta' })).toEqual([403, null]);
  expect(await send('POST', 'early_access_feature/', { body: { name: 'Another', stage: 'draft' } })).toMatchObject(
    refused('editor'),
  );
  await rule('feature_flag', 'role', 'editor', flag);
  expect(await change({ stage: 'beta' })).toEqual([200, true]);
});

test("returns 403 for queries that would reveal a restricted cohort's members, now or later", async () => {
  const cohort = await make('cohort');
  const [insight, flag, dashboard] = [
    await make('insight', 'own', acme.M.key),
    await make('feature_flag', 'own', acme.M.key),
    await make('dashboard', 'own', acme.M.key),
  ];
  const filter = { key: 'id', type: 'cohort', value: cohort };
  const query = { ...trend.source, properties: [filter] };
  const groups = [{ properties: [{ ...filter, operator: 'in' }], rollout_percentage: 100 }];
  const override = encodeURIComponent(JSON.stringify({ properties: [filter] }));
  const asks: [Method, string, object?][] = [
    ['POST', 'query/', { query }],
    ['POST', 'query/', { query: trend.source, filters_override: { properties: [filter] } }],
    ['POST', 'insights/', { query: { kind: 'InsightVizNode', source: query } }],
    ['PATCH', `insights/${insight}/`, { query: { kind: 'InsightVizNode', source: query } }],
    ['GET', `insights/${insight}/?filters_override=${override}`],
    ['POST', 'dashboards/', { name: 'new', filters: { properties: [filter] } }],
    ['PATCH', `dashboards/${dashboard}/`, { filters: { properties: [filter] } }],
    ['GET', `dashboards/${dashboard}/?filters_override=${override}`],
    ['POST', 'cohorts/', { name: 'new', filters: { properties: { type: 'OR', values: [filter] } } }],
    ['POST', 'feature_flags/', { key: 'new', filters: { groups } }],
    ['PATCH', `feature_flags/${flag}/`, { filters: { groups } }],
    ['POST', 'feature_flags/user_blast_radius/', { condition: groups[0] }],
  ];
  const sendAll = async () => {
    const results: string[] = [];
    for (const [method, rest, body] of asks) {
      const response = await send(method, rest, body && { body });
      results.push(`${method} ${rest.split('?')[0]} ${response.status < 300 ? 'good' : response.status}`);
    }
    return results;
  };
  await rule('cohort', 'role', 'none', cohort);
  expect(await sendAll()).toEqual(asks.map(([method, rest]) => `${method} ${rest.split('?')[0]} 403`));
  await rule('cohort', 'role', 'viewer', cohort);
  expect(await sendAll()).toEqual(asks.map(([method, rest]) => `${method} ${rest.split('?')[0]} good`));
});

test('returns 403 for adding an insight to an unchangeable dashboard, or copying one from an invisible dashboard', async () => {
  const [insight, dashboard, open] = [await make('insight'), await make('dashboard'), await make('dashboard', 'two')];
  await rule('dashboard', 'role', 'viewer', dashboard);
  expect(await send('PATCH', `insights/${insight}/`, { body: { dashboards: [dashboard] } })).toMatchObject(
    permissionDenied(`You don't have permission to add insights to dashboard: ${dashboard}.`),
  );
  await send('PATCH', `insights/${insight}/`, { key: acme.A.key, body: { dashboards: [dashboard] } });
  const [tile] = (await send('GET', `dashboards/${dashboard}/`)).body.tiles;
  const moved = { tile: { id: tile.id }, toDashboard: open };
  expect(await send('PATCH', `dashboards/${dashboard}/move_tile/`, { body: moved })).toMatchObject(refused('editor'));
  await rule('dashboard', 'role', 'none', dashboard);
  const copied = { fromDashboardId: dashboard, tileId: tile.id };
  expect(await send('POST', `dashboards/${open}/copy_tile/`, { body: copied })).toMatchObject(refused('viewer'));
  expect(await send('POST', 'dashboards/', { body: { use_dashboard: dashboard } })).toMatchObject(refused('viewer'));
  expect(await send('GET', `insights/${insight}/?from_dashboard=${dashboard}`)).toMatchObject(refused('viewer'));
});

test('the activity log records each change to an access rule', async () => {
  await rule('dashboard', 'role', 'viewer');
  await rule('dashboard', 'role', 'viewer');
  await rule('dashboard', 'role', 'none');
  await rule('dashboard', 'role', null);
  const history = await api.get(`/api/organizations/${acme.organizationId}/activity/?scope=Team`, acme.A.key);
  const changes = history.body.results.map((one: { detail: { changes: object[] } }) => one.detail.changes[0]);
  const ruleWith = (access_level: string) => ({
    ...{ access_level, resource: 'dashboard', resource_id: null },
    ...{ organization_member: null, role },
  });
  const field = 'access_rule';
  expect(changes).toMatchObject([
    { field, action: 'deleted', before: ruleWith('none'), after: null },
    { field, action: 'changed', before: ruleWith('viewer'), after: ruleWith('none') },
    { field, action: 'created', before: null, after: ruleWith('viewer') },
  ]);
});

test('a project can have at most a thousand access rules for records', async () => {
  await api.database.sql.query(
    `INSERT INTO access_rule (environment_id, resource, resource_id, level)
     SELECT $1, 'dashboard', n::text, 'viewer' FROM generate_series(1, 1000) n`,
    [acme.projectId],
  );
  expect((await rule('insight', 'role', 'none')).body).toMatchObject({ code: 'limit_exceeded' });
  expect(await listed('insight')).toEqual([0]);
});
