import { createTestTenant, type TestTenant } from '@millrace/testing';
import { notFound, validationError } from '../../testing/expected-errors.ts';
import { startTestApi, type TestApi, type TestResponse } from '../../testing/start-test-api.ts';

let api: TestApi;
let tenant: TestTenant;
let path: string;
beforeAll(async () => {
  api = await startTestApi();
});
afterAll(() => api.stop());
beforeEach(async () => {
  tenant = await createTestTenant(api.database);
  path = `/api/projects/${tenant.projectId}/feature_flags/`;
});

type Body = Record<string, unknown>;
const everybody = { groups: [{ properties: [], rollout_percentage: 100 }] };
const post = (body: Body, rest = '') => api.send('POST', path + rest, { key: tenant.personalApiKey, body });
const patch = (id: number, body: Body, method: 'PATCH' | 'PUT' = 'PATCH') =>
  api.send(method, `${path}${id}/`, { key: tenant.personalApiKey, body });
const get = (rest: string) => api.get(path + rest, tenant.personalApiKey);
const created = async (key: string, body: Body = {}): Promise<TestResponse['body']> => {
  const response = await post({ key, filters: everybody, ...body });
  expect([response.status, response.body.detail]).toEqual([201, undefined]);
  return response.body;
};
const keysOf = ({ body }: TestResponse) => body.results.map((flag: { key: string }) => flag.key);
const dependsOn = (id: number, value: unknown = true) => ({
  groups: [{ properties: [{ key: String(id), type: 'flag', operator: 'flag_evaluates_to', value }] }],
});
const refused = (code: string, detail: string, attr: string | null = null) => validationError(code, attr, detail);

describe('feature flags', () => {
  test('creates a flag with defaults, and returns it at all paths of the project and environment', async () => {
    const { status, body } = await post({ key: 'first', filters: { groups: [{ rollout_percentage: 40 }] } });
    expect(status).toBe(201);
    expect(body).toMatchObject({
      key: 'first',
      name: '',
      filters: {
        groups: [{ properties: [], rollout_percentage: 40, aggregation_group_type_index: null }],
        aggregation_group_type_index: null,
      },
      active: true,
      deleted: false,
      archived: false,
      version: 1,
      rollout_percentage: 40,
      is_simple_flag: true,
      ensure_experience_continuity: false,
      evaluation_runtime: 'all',
      tags: [],
      evaluation_tags: [],
      status: 'ACTIVE',
      can_edit: true,
      created_by: { id: tenant.userId },
      last_called_at: null,
    });
    expect((await get(`${body.id}/`)).body).toEqual(body);
    const sameBelow = [`/api/environments/${tenant.environmentId}`, '/api/projects/@current'];
    for (const base of sameBelow) {
      expect((await api.get(`${base}/feature_flags/${body.id}/`, tenant.personalApiKey)).body).toEqual(body);
    }
  });

  test('creates a flag that is on for everyone if no filters are sent, and requires conditions in sent filters', async () => {
    const { filters } = (await post({ key: 'bare' })).body;
    expect(filters.groups).toEqual([{ properties: [], rollout_percentage: 100, aggregation_group_type_index: null }]);
    const noGroups = refused('invalid_input', 'Feature flags must have at least one condition set (group)', 'filters');
    expect(await post({ key: 'x', filters: {} })).toMatchObject(noGroups);
    const { id } = await created('some');
    expect(await patch(id, { filters: { groups: [] } })).toMatchObject({
      status: 200,
      body: { filters: { groups: [] } },
    });
  });

  test.each<[string, Body, string, string, string | null]>([
    ['no key', { filters: everybody }, 'required', 'This field is required.', 'key'],
    [
      'a key with other characters',
      { key: 'a b' },
      'invalid_key',
      'Only letters, numbers, hyphens (-) & underscores (_) are allowed.',
      'key',
    ],
    [
      'a key of 401 characters',
      { key: 'x'.repeat(401) },
      'max_length',
      'Ensure this field has no more than 400 characters.',
      'key',
    ],
    [
      'device IDs and continuity',
      { key: 'x', bucketing_identifier: 'device_id', ensure_experience_continuity: true },
      'invalid_input',
      "Cannot enable 'persist across authentication steps' when using device ID bucketing. These features are incompatible.",
      null,
    ],
    [
      'encrypted payloads without a remote configuration',
      { key: 'x', has_encrypted_payloads: true },
      'invalid_input',
      'Encrypted payloads require the flag to be a remote configuration.',
      null,
    ],
    [
      'an archived flag that is on',
      { key: 'x', archived: true },
      'invalid_input',
      'Cannot archive an enabled feature flag. Disable it first.',
      null,
    ],
    [
      'an unknown runtime',
      { key: 'x', evaluation_runtime: 'edge' },
      'invalid_choice',
      '"edge" is not a valid choice. Choose one of: all, client, server.',
      'evaluation_runtime',
    ],
    [
      'filters that are not an object',
      { key: 'x', filters: [] },
      'not_a_dict',
      'Expected a dictionary of items but got type "list". Send a JSON object.',
      'filters',
    ],
  ])('returns 400 for %s', async (_, body, code, detail, attr) => {
    expect(await post(body)).toMatchObject(refused(code, detail, attr));
  });

  test('when a flag is created or changed, warns about SDKs that would evaluate it differently', async () => {
    const pro = { key: 'plan', type: 'person', operator: 'exact', value: ['pro'] };
    const filters = (percentage: number) => ({ groups: [{ properties: [pro], rollout_percentage: percentage }] });
    const { id, sdk_warnings: warnings } = await created('for-some', { filters: filters(30) });
    expect(warnings).toEqual([expect.stringMatching(/^posthog-go before 1\.5\.6 .*rollout/)]);
    const change = (percentage: number) => patch(id, { filters: filters(percentage) });
    expect((await change(55.5)).body.sdk_warnings).toHaveLength(2);
    expect((await change(100)).body.sdk_warnings).toEqual([]);
  });

  test('rejects a second flag with the same key until the first is deleted', async () => {
    const taken = refused('unique', 'There is already a feature flag with this key.', 'key');
    const first = await created('mine');
    expect(await post({ key: 'mine' })).toMatchObject(taken);
    const other = await created('other');
    expect(await patch(other.id, { key: 'mine' })).toMatchObject(taken);
    // Cases flag-082 and flag-083: a deleted flag can still be read, and its key can be used again.
    expect((await patch(first.id, { deleted: true })).body).toMatchObject({ deleted: true, status: 'DELETED' });
    expect(await get(`${first.id}/`)).toMatchObject({ status: 200, body: { deleted: true } });
    expect((await post({ key: 'mine' })).status).toBe(201);
    expect(await patch(first.id, { deleted: false })).toMatchObject(taken);
    expect(await patch(first.id, { deleted: false, key: 'mine-2' })).toMatchObject({
      status: 200,
      body: { deleted: false },
    });
  });

  test('creates only one flag for two concurrent requests with the same key', async () => {
    const responses = await Promise.all(Array.from({ length: 5 }, () => post({ key: 'raced' })));
    expect(responses.map(({ status }) => status).sort()).toEqual([201, 400, 400, 400, 400]);
  });

  test('flag-084: returns 405 for DELETE of a flag', async () => {
    const { id } = await created('stays');
    const response = await api.send('DELETE', `${path}${id}/`, { key: tenant.personalApiKey });
    expect([response.status, response.body]).toEqual([405, undefined]);
    expect(await get(`${id}/`)).toMatchObject({ status: 200, body: { deleted: false } });
  });

  test.each(['dashboard', 'enrich_usage_dashboard'])('returns an error for flag usage dashboards: %s', async (name) => {
    const { id } = await created('shown');
    expect(await post({}, `${id}/${name}/`)).toMatchObject({
      status: 400,
      body: { success: false, error: 'Usage dashboards for feature flags are not supported.' },
    });
    expect(await post({}, `2000000000/${name}/`)).toMatchObject(notFound());
  });

  test('returns flag values to Terraform as it sent them, with numbers as numbers and lists in order', async () => {
    const sent = {
      key: 'tf',
      name: '',
      active: true,
      deleted: false,
      ensure_experience_continuity: false,
      tags: ['b', 'a', 'B'],
      filters: {
        groups: [
          {
            properties: [{ key: 'n', type: 'person', operator: 'exact', value: ['2', 10, 1.5] }],
            rollout_percentage: 5,
          },
          { rollout_percentage: 12.5 },
        ],
      },
    };
    const { body } = await post(sent);
    expect(body).toMatchObject(sent);
    expect((await post({ ...sent, key: 'tf2', filters: { groups: [{}] } })).status).toBe(201);
    await patch(body.id, { key: 'tf', deleted: true });
    expect((await get(`${body.id}/`)).body.deleted).toBe(true);
    expect(await patch(body.id, sent)).toMatchObject({ status: 200, body: sent });
  });
});

describe('changing a flag', () => {
  test("increments a flag's version and stores the user when the flag changes", async () => {
    const { id } = await created('v');
    expect(await patch(id, { name: 'One' })).toMatchObject({
      status: 200,
      body: { name: 'One', version: 2, last_modified_by: { id: tenant.userId } },
    });
    expect(await patch(id, { key: 'v', name: 'Two' }, 'PUT')).toMatchObject({ status: 200, body: { version: 3 } });
    expect(await patch(2_000_000_000, {})).toMatchObject(notFound());
  });

  test("flag-074, flag-081: keeps a flag's conditions if only payloads are sent, and requires payloads to be JSON", async () => {
    const { id } = await created('p', {
      filters: { groups: [{ rollout_percentage: 7 }], payloads: { true: { a: 1 } } },
    });
    expect((await get(`${id}/`)).body.filters.payloads).toEqual({ true: '{"a":1}' });
    expect((await patch(id, { filters: { payloads: { true: [2] } } })).body.filters).toMatchObject({
      groups: [{ rollout_percentage: 7 }],
      payloads: { true: '[2]' },
    });
    expect((await patch(id, { filters: {} })).body.filters).toMatchObject({ payloads: { true: '[2]' } });
  });

  test('flag-086: returns 409 only for a flag field that another user has changed in the meantime', async () => {
    const original = await created('raced');
    await patch(original.id, { name: 'Theirs' });
    const mine = { version: original.version, original_flag: original };
    expect(await patch(original.id, { ...mine, name: 'Mine' })).toMatchObject({
      status: 409,
      body: {
        code: 'conflict',
        detail: expect.stringMatching(
          /^The feature flag was updated by \S+@example\.com since you started editing it\. Please refresh and try again\.$/,
        ),
      },
    });
    expect(await patch(original.id, { ...mine, tags: ['t'] })).toMatchObject({ status: 200, body: { name: 'Theirs' } });
    expect(await patch(original.id, { version: 1, name: 'Blind' })).toMatchObject({ status: 200 });
    const unchecked = { ...mine, version: -1, name: 'Unchecked' };
    expect(await patch(original.id, unchecked)).toMatchObject({ status: 200, body: { name: 'Unchecked' } });
    expect((await patch(original.id, { ...unchecked, version: -2 })).body).toMatchObject({ attr: 'version' });
  });

  test('flag-089: keeps the rollout percentage of a flag in the older format', async () => {
    const { id } = await created('old');
    await api.database.sql.query(`UPDATE feature_flag SET filters = '{}', rollout_percentage = 40 WHERE id = $1`, [id]);
    const groups = [{ properties: [], rollout_percentage: 40 }];
    expect((await get(`${id}/`)).body).toMatchObject({ filters: { groups }, rollout_percentage: 40 });
    expect((await patch(id, { filters: { early_exit: true } })).body.filters).toMatchObject({
      groups,
      early_exit: true,
    });
  });

  test('keeps concurrent changes to different fields of a flag', async () => {
    const { id } = await created('both');
    await Promise.all([
      patch(id, { name: 'N' }),
      patch(id, { tags: ['t'] }),
      patch(id, { filters: { early_exit: true } }),
    ]);
    expect((await get(`${id}/`)).body).toMatchObject({
      name: 'N',
      tags: ['t'],
      filters: { early_exit: true },
      version: 4,
    });
  });

  test('archives a flag only if it is off', async () => {
    const { id } = await created('a');
    expect(await patch(id, { archived: true, active: false })).toMatchObject({
      status: 200,
      body: { status: 'ARCHIVED' },
    });
    expect(await patch(id, { active: true })).toMatchObject(
      refused('invalid_input', 'Cannot enable an archived feature flag. Unarchive it first.'),
    );
    expect(await patch(id, { active: true, archived: false })).toMatchObject({ status: 200 });
  });

  test("renames the early access choices when a flag's key changes", async () => {
    const superGroups = (key: string) => [
      { properties: [{ key: `$feature_enrollment/${key}`, type: 'person', operator: 'exact', value: ['true'] }] },
    ];
    const { id } = await created('was', { filters: { ...everybody, super_groups: superGroups('was') } });
    expect((await patch(id, { key: 'is' })).body.filters.super_groups).toEqual(superGroups('is'));
  });

  test('publishes the changed flag definitions as one new version', async () => {
    const version = async () =>
      Number(
        (
          await api.database.sql.query<{ version: string }>(
            'SELECT version FROM flag_definitions_version WHERE project_id = $1',
            [tenant.environmentId],
          )
        )[0]?.version,
      );
    const { id } = await created('announced');
    const before = await version();
    await patch(id, { active: false });
    expect(await version()).toBe(before + 1);
    await patch(id, { key: 'a b' });
    expect(await version()).toBe(before + 1);
  });
});

describe('flags that depend on other flags', () => {
  test('returns 400 unless the flags in a condition exist and are on', async () => {
    const base = await created('base');
    const off = await created('off', { active: false });
    const gone = await created('gone');
    await patch(gone.id, { deleted: true });
    const filtersProblem = (detail: string) => refused('invalid_input', detail, 'filters');
    for (const id of [gone.id, 2_000_000_000]) {
      expect(await post({ key: 'x', filters: dependsOn(id) })).toMatchObject(
        filtersProblem(`Flag dependency references non-existent flag with ID ${id}`),
      );
    }
    expect(await post({ key: 'x', filters: dependsOn(off.id) })).toMatchObject(
      filtersProblem(
        `Cannot create dependency on disabled flag 'off' (ID: ${off.id}). Flag dependencies must reference active flags only.`,
      ),
    );
    expect(await patch(base.id, { filters: dependsOn(base.id) })).toMatchObject(
      filtersProblem("Feature flag 'base' cannot depend on itself"),
    );
    const middle = await created('middle', { filters: dependsOn(base.id) });
    const top = await created('top', { filters: dependsOn(middle.id) });
    expect(await patch(base.id, { filters: dependsOn(top.id) })).toMatchObject(
      filtersProblem('Circular dependency detected: base → top → middle → base'),
    );
  });

  test('prevents two concurrent changes from creating a cycle of flags', async () => {
    const [a, b] = [await created('a'), await created('b')];
    const responses = await Promise.all([
      patch(a.id, { filters: dependsOn(b.id) }),
      patch(b.id, { filters: dependsOn(a.id) }),
    ]);
    expect(responses.map(({ status }) => status).sort()).toEqual([200, 400]);
  });

  test('flag-087: returns 400 for disabling or deleting a flag on which another flag depends', async () => {
    const base = await created('base');
    const names: string[] = [];
    for (let index = 0; index < 7; index += 1) {
      const { id, key } = await created(`needs-${index}`, { filters: dependsOn(base.id) });
      names.push(`${key} (ID: ${id})`);
    }
    const list = `${names.slice(0, 5).join(', ')} and 2 more`;
    expect(await patch(base.id, { active: false })).toMatchObject(
      refused(
        'invalid_input',
        `Cannot disable this feature flag because other flags depend on it: ${list}. Please update or disable the dependent flags first.`,
      ),
    );
    expect(await patch(base.id, { deleted: true })).toMatchObject(
      refused(
        'invalid_input',
        `Cannot delete this feature flag because other flags depend on it: ${list}. Please update or delete the dependent flags first.`,
      ),
    );
    expect((await get(`${base.id}/`)).body).toMatchObject({ active: true, deleted: false, version: 1 });
    expect((await get(`${base.id}/dependent_flags/`)).body).toHaveLength(7);
  });

  test('returns 400 for enabling a flag before the flags on which it depends', async () => {
    const base = await created('base');
    const top = await created('top', { filters: dependsOn(base.id) });
    await patch(top.id, { active: false });
    await patch(base.id, { active: false });
    expect(await patch(top.id, { active: true })).toMatchObject(
      refused(
        'invalid_input',
        `Cannot enable this feature flag because it depends on disabled flags: base (ID: ${base.id}). Please enable the dependency flags first.`,
      ),
    );
  });
});

describe('cohorts and early access features of a flag', () => {
  const insertCohort = async (fields: Record<string, unknown>) => {
    const { name = 'C', filters = null, is_static = false, deleted = false } = fields;
    const rows = await api.database.sql.query<{ id: number }>(
      `INSERT INTO cohort (project_id, name, filters, is_static, deleted) VALUES ($1, $2, $3::jsonb, $4, $5) RETURNING id`,
      [tenant.environmentId, name, JSON.stringify(filters), is_static, deleted],
    );
    return rows[0]?.id ?? 0;
  };
  const inCohort = (id: number) => ({ groups: [{ properties: [{ key: 'id', type: 'cohort', value: id }] }] });

  test('returns 400 for a flag with an unknown cohort', async () => {
    const gone = await insertCohort({ deleted: true });
    expect(await post({ key: 'x', filters: inCohort(gone) })).toMatchObject(
      refused('cohort_does_not_exist', `Cohort with id ${gone} does not exist`, 'filters'),
    );
    const foreign = await insertCohort({});
    await api.database.sql.query('UPDATE cohort SET project_id = $2 WHERE id = $1', [
      foreign,
      (await createTestTenant(api.database)).environmentId,
    ]);
    expect(await post({ key: 'x', filters: inCohort(foreign) })).toMatchObject({ status: 400 });
    const counted = await insertCohort({ is_static: true });
    expect(await post({ key: 'x', filters: inCohort(counted) })).toMatchObject({ status: 201 });
  });

  test("returns 400 for deleting an early access feature's flag, or making it group-based", async () => {
    const { id } = await created('beta');
    await api.database.sql.query(
      `INSERT INTO early_access_feature (id, project_id, feature_flag_id, name, stage) VALUES (gen_random_uuid(), $1, $2, 'B', 'beta')`,
      [tenant.environmentId, id],
    );
    expect(await patch(id, { deleted: true })).toMatchObject(
      refused(
        'invalid_input',
        'Cannot delete a feature flag that is in use with early access features. Please delete the early access feature before deleting the flag.',
      ),
    );
    expect(await patch(id, { filters: { groups: [{ aggregation_group_type_index: 0 }] } })).toMatchObject(
      refused('invalid_input', 'Cannot change this flag to a group-based when linked to an Early Access Feature.'),
    );
  });
});

describe('the list of flags', () => {
  test('lists the newest flags first, without deleted and archived flags', async () => {
    for (const key of ['one', 'two', 'three']) await created(key);
    const { id } = await created('deleted');
    await patch(id, { deleted: true });
    await created('archived', { archived: true, active: false });
    expect(keysOf(await get(''))).toEqual(['three', 'two', 'one']);
    expect(keysOf(await get('?archived=true'))).toEqual(['archived']);
    expect(keysOf(await get('?order=key'))).toEqual(['one', 'three', 'two']);
    expect(keysOf(await get('?order=-key'))).toEqual(['two', 'three', 'one']);
    expect(keysOf(await get('?order=nonsense;drop'))).toEqual(['three', 'two', 'one']);
    const page = await get('?limit=2');
    expect([page.body.count, keysOf(page)]).toEqual([3, ['three', 'two']]);
    expect(keysOf(await api.get(page.body.next, tenant.personalApiKey))).toEqual(['one']);
  });

  test('filters the list of flags', async () => {
    const variants = { variants: [{ key: 'a', rollout_percentage: 100 }] };
    await created('plain', { name: 'Needle 100%', tags: ['x', 'y'] });
    await created('off', { active: false, evaluation_contexts: ['web'] });
    await created('many', {
      filters: { groups: [{ rollout_percentage: 1 }], multivariate: variants },
      evaluation_runtime: 'server',
    });
    await created('config', { is_remote_configuration: true });
    const found = async (query: string) => keysOf(await get(`?order=key&${query}`));
    expect(await found('active=true')).toEqual(['config', 'many', 'plain']);
    expect(await found('active=false')).toEqual(['off']);
    expect(await found('search=NEEDLE')).toEqual(['plain']);
    expect(await found('search=100%25')).toEqual(['plain']);
    expect(await found('search=%25')).toEqual(['plain']);
    expect(await found('type=boolean')).toEqual(['off', 'plain']);
    expect(await found('type=multivariant')).toEqual(['many']);
    expect(await found('type=remote_config')).toEqual(['config']);
    expect(await found('type=experiment')).toEqual([]);
    expect(await found(`created_by_id=${tenant.userId}`)).toHaveLength(4);
    expect(await found(`created_by_id=[1,${tenant.userId}]`)).toHaveLength(4);
    expect(await found('created_by_id=2000000000')).toEqual([]);
    expect(await found('evaluation_runtime=server')).toEqual(['many']);
    expect(await found('tags=["y","z"]')).toEqual(['plain']);
    expect(await found('tags=[broken')).toHaveLength(4);
    expect(await found('has_evaluation_tags=true')).toEqual(['off']);
    expect(await found('has_evaluation_contexts=false')).toEqual(['config', 'many', 'plain']);
    expect(await found('excluded_properties=["many","off"]')).toEqual(['config', 'plain']);
    expect((await get('matching_ids/?active=false')).body).toMatchObject({ total: 1 });
  });

  test('marks stale flags in the list', async () => {
    const { sql } = api.database;
    const stale = await created('stale');
    const partial = await created('partial', { filters: { groups: [{ rollout_percentage: 50 }] } });
    const called = await created('called', { filters: { groups: [{ rollout_percentage: 50 }] } });
    const fresh = await created('fresh');
    const ids = [stale.id, partial.id, called.id];
    await sql.query(`UPDATE feature_flag SET created_at = now() - interval '31 days' WHERE id = ANY ($1)`, [ids]);
    await sql.query(`UPDATE feature_flag SET last_called_at = now() - interval '31 days' WHERE id = $1`, [called.id]);
    expect(keysOf(await get('?active=STALE&order=key'))).toEqual(['called', 'stale']);
    expect((await get(`${stale.id}/`)).body.status).toBe('STALE');
    expect((await get(`${stale.id}/status/`)).body.status).toBe('stale');
    expect((await get(`${called.id}/status/`)).body).toEqual({
      status: 'stale',
      reason: 'Flag has not been called for 30 days',
    });
    for (const { id } of [partial, fresh]) expect((await get(`${id}/status/`)).body.status).toBe('active');
    expect(await get('2000000000/status/')).toMatchObject(notFound());
  });
});

test('returns the activity of a flag with the users and their changes', async () => {
  const { id } = await created('watched');
  await patch(id, { active: false });
  await patch(id, { active: false });
  await patch(id, { deleted: true });
  await patch(id, { deleted: false });
  const { body } = await get(`${id}/activity/`);
  expect(body.total_count).toBe(4);
  expect(body.results.map(({ activity }: { activity: string }) => activity)).toEqual([
    'restored',
    'deleted',
    'updated',
    'created',
  ]);
  expect(body.results[2]).toMatchObject({
    scope: 'FeatureFlag',
    item_id: String(id),
    detail: { name: 'watched', changes: [{ field: 'active', before: true, after: false }] },
  });
  expect((await get('activity/')).body.total_count).toBe(4);
  expect(await get('2000000000/activity/')).toMatchObject(notFound());
});

describe('bulk requests for flags', () => {
  test('returns the keys of flags by ID', async () => {
    const { id } = await created('one');
    expect((await post({ ids: [id, 2_000_000_000] }, 'bulk_keys/')).body).toEqual({ keys: { [id]: 'one' } });
    expect((await post({ ids: [id, 'x'] }, 'bulk_keys/')).body).toMatchObject({
      keys: { [id]: 'one' },
      warning: expect.stringContaining('1 of the IDs'),
    });
    expect(await post({ ids: ['x'] }, 'bulk_keys/')).toMatchObject({
      status: 400,
      body: { detail: 'Invalid flag IDs provided' },
    });
  });

  test('deletes a flag on which others depend only together with those flags', async () => {
    const base = await created('base');
    const top = await created('top', { filters: dependsOn(base.id) });
    const alone = await created('alone');
    const remove = (body: Body) => post(body, 'bulk_delete/');
    expect((await remove({ ids: [base.id, alone.id, 2_000_000_000] })).body).toEqual({
      deleted: [{ id: alone.id, key: 'alone' }],
      errors: [
        { id: base.id, key: 'base', reason: 'Other flags depend on it' },
        { id: 2_000_000_000, reason: 'Flag not found' },
      ],
    });
    expect((await remove({ filters: { search: 'nothing' } })).body).toEqual({ deleted: [], errors: [] });
    expect((await remove({ filters: { active: 'true' } })).body.deleted).toEqual([
      { id: base.id, key: 'base' },
      { id: top.id, key: 'top' },
    ]);
    expect((await get(`${top.id}/activity/`)).body.results[0].activity).toBe('deleted');
    for (const body of [{}, { ids: [1], filters: {} }, { filters: { nonsense: 1 } }, { ids: [] }]) {
      expect((await remove(body)).status).toBe(400);
    }
  });
});

describe('encrypted flag payloads', () => {
  const secret = '{"token": "not-to-be-seen"}';
  const config = { is_remote_configuration: true, has_encrypted_payloads: true };

  test('returns decrypted payloads only when a single flag is requested', async () => {
    const { id, filters } = await created('secret', { ...config, filters: { payloads: { true: secret } } });
    expect(filters).toMatchObject({ groups: [{ rollout_percentage: 100 }], payloads: { true: secret } });
    expect((await get(`${id}/`)).body.filters.payloads.true).toBe(secret);
    const list = JSON.stringify((await get('')).body);
    expect(list).toContain('(encrypted)');
    const [row] = await api.database.sql.query<{ row: string }>(
      'SELECT f::text AS row FROM feature_flag f WHERE id = $1',
      [id],
    );
    await patch(id, { filters: { payloads: { true: '"other"' } } });
    const activity = await get(`${id}/activity/`);
    expect(activity.body.results[0].detail.changes).toEqual([
      expect.objectContaining({ field: 'encrypted_payloads', before: null, after: null }),
    ]);
    for (const text of [list, row?.row, JSON.stringify(activity.body)]) expect(text).not.toContain('not-to-be-seen');
  });

  test('keeps encrypted payloads when the redacted value is sent back or other fields change', async () => {
    const { id } = await created('secret', { ...config, filters: { payloads: { true: secret } } });
    const [listed] = (await get('')).body.results;
    await patch(id, { filters: listed.filters });
    expect((await patch(id, { name: 'Renamed' })).body.filters.payloads.true).toBe(secret);
    expect((await get(`${id}/activity/`)).body.results[0].detail.changes).toHaveLength(1);
  });
});

describe('limits of flags', () => {
  const fill = (sqlOfFilters: string, count: number) =>
    api.database.sql.query(
      `INSERT INTO feature_flag (project_id, key, filters) SELECT $1, 'filler-' || n, ${sqlOfFilters} FROM generate_series(1, $2::int) AS n`,
      [tenant.environmentId, count],
    );

  test('accepts 20,000 flags and returns 400 for the next one', async () => {
    await fill(`'{"groups": []}'`, 10_000);
    const base = await created('one-more');
    await created('and-one', { filters: dependsOn(base.id) });
    expect((await get('?limit=1')).body.count).toBe(10_002);
    await api.database.sql.query(
      `INSERT INTO feature_flag (project_id, key) SELECT $1, 'more-' || n FROM generate_series(1, 9998) AS n`,
      [tenant.environmentId],
    );
    expect(await post({ key: 'too-many' })).toMatchObject(
      refused(
        'limit_exceeded',
        'A project can have at most 20000 feature flags. Delete flags that you no longer need.',
      ),
    );
    expect((await get('?search=too-many')).body.count).toBe(0);
    expect((await patch(base.id, { name: 'still' })).status).toBe(200);
  });

  test('limits the total size of the filters, and the number of patterns, of all flags in a project', async () => {
    await fill(`jsonb_build_object('groups', '[]'::jsonb, 'x', repeat('x', 250000))`, 135);
    expect(await post({ key: 'x' })).toMatchObject(
      refused(
        'limit_exceeded',
        'The filters of all feature flags in a project must not exceed 32 MiB in total. Simplify filters, or delete flags.',
      ),
    );
    tenant = await createTestTenant(api.database);
    path = `/api/projects/${tenant.projectId}/feature_flags/`;
    const pattern = { key: 'a', type: 'person', operator: 'not_regex', value: 'x' };
    const filters = { groups: [{ properties: Array.from({ length: 1000 }, () => pattern) }] };
    await created('a', { filters });
    await created('b', { filters });
    expect(await post({ key: 'c', filters: { groups: [{ properties: [pattern] }] } })).toMatchObject(
      refused(
        'limit_exceeded',
        'The feature flags of a project can contain at most 2000 regular expressions in total. Remove some of them.',
      ),
    );
  });

  test('accepts 1,000 conditions, values with 64 nesting levels, and patterns that would backtrack', async () => {
    let nested: unknown = 'x';
    for (let level = 0; level < 64; level += 1) nested = [nested];
    const backtracking = { key: 'a', type: 'person', operator: 'regex', value: '(a+)+(b|bb)*$' };
    const groups = [
      { properties: [{ key: 'a', type: 'person', operator: 'exact', value: nested }] },
      ...Array.from({ length: 999 }, () => ({ properties: [backtracking] })),
    ];
    expect((await post({ key: 'wide', filters: { groups } })).status).toBe(201);
    expect(await post({ key: 'wider', filters: { groups: [...groups, {}] } })).toMatchObject(
      refused('invalid_input', 'groups: must not contain more than 1000 condition sets', 'filters'),
    );
  });
});
