import { createPersonalApiKey } from '@millrace/accounts';
import { notFound, permissionDenied, validationError } from '../../testing/expected-errors.ts';
import { createActors, type OrganizationActors } from '../../testing/organization-actors.ts';
import { readAllPages, startTestApi, type TestApi } from '../../testing/start-test-api.ts';

let api: TestApi;
let acme: OrganizationActors;
let path: string;
beforeAll(async () => {
  api = await startTestApi();
});
afterAll(() => api.stop());
beforeEach(async () => {
  acme = await createActors(api.database);
  path = `/api/projects/${acme.projectId}/insights/`;
});

const trends = {
  kind: 'InsightVizNode',
  source: { kind: 'TrendsQuery', series: [{ kind: 'EventsNode', event: 'sign up' }] },
};
const create = (body: object = {}, key = acme.M.key) =>
  api.send('POST', path, { key, body: { query: trends, ...body } });
const change = (id: number | string, body: object, key = acme.M.key) =>
  api.send('PATCH', `${path}${id}/`, { key, body });
const read = (id: number | string) => api.get(`${path}${id}/`, acme.M.key);
async function made(body: object = {}) {
  const response = await create(body);
  expect([response.status, response.body.detail]).toEqual([201, undefined]);
  return response.body;
}
async function names(query: string): Promise<string[]> {
  const response = await api.get(`${path}${query}`, acme.M.key);
  expect([query, response.status]).toEqual([query, 200]);
  return response.body.results.map(({ name }: { name: string }) => name);
}

describe.each(['projects', 'environments'])('insight routes under %s', (family) => {
  test('returns the same fields when an insight is created, read and listed', async () => {
    const where = `/api/${family}/${acme.projectId}/insights/`;
    const body = { name: ' Sign-ups ', query: trends, tags: ['growth'], _create_in_folder: 'x' };
    const created = await api.send('POST', where, { key: acme.M.key, body });
    const fields = {
      id: expect.any(Number),
      short_id: expect.stringMatching(/^[A-Za-z0-9]{8}$/),
      name: 'Sign-ups',
      derived_name: null,
      description: null,
      query: trends,
      filters: {},
      order: null,
      deleted: false,
      dashboards: [],
      dashboard_tiles: [],
      tags: ['growth'],
      favorited: false,
      saved: false,
      created_at: expect.stringMatching(/Z$/),
      created_by: expect.objectContaining({ email: acme.M.email }),
      updated_at: expect.stringMatching(/Z$/),
      last_modified_at: expect.stringMatching(/Z$/),
      last_modified_by: expect.objectContaining({ email: acme.M.email }),
      last_viewed_at: null,
      is_sample: false,
      effective_restriction_level: 21,
      effective_privilege_level: 37,
      user_access_level: 'editor',
      timezone: null,
      result: null,
      hasMore: null,
      columns: null,
      types: null,
      hogql: null,
      query_status: null,
      resolved_date_range: null,
      is_cached: false,
      last_refresh: null,
      cache_target_age: null,
      next_allowed_client_refresh: null,
      filters_hash: null,
      refreshing: null,
      alerts: [],
    };
    expect(created).toMatchObject({ status: 201, body: fields });
    expect(Object.keys(created.body).sort()).toEqual(Object.keys(fields).sort());
    expect((await api.get(`${where}${created.body.id}/`, acme.M.key)).body).toEqual(created.body);
    const list = { count: 1, next: null, previous: null, results: [created.body] };
    expect((await api.get(where, acme.M.key)).body).toEqual(list);
    expect((await api.get(`/api/${family}/@current/insights/`, acme.W.key)).body.results).toHaveLength(1);
  });
});

const odd = {
  zebra: null,
  kind: 'InsightVizNode',
  full: true,
  source: {
    series: [{ event: null, kind: 'EventsNode', unknown: { b: 1, a: [null, 1.5, 1e21, '1.0'] } }],
    trendsFilter: { formula: 'A/2', display: null },
    kind: 'TrendsQuery',
    version: 3,
  },
};

test("insight-242: returns an insight's query exactly as it was sent, including the order of its keys", async () => {
  const { id, query } = await made({ query: odd });
  expect(JSON.stringify(query)).toBe(JSON.stringify(odd));
  expect(JSON.stringify((await read(id)).body.query)).toBe(JSON.stringify(odd));
  const changed = await change(id, { name: 'Odd' });
  expect(JSON.stringify(changed.body.query)).toBe(JSON.stringify(odd));
});

test('insight-243: returns 400 for an insight without a query, unlike PostHog', async () => {
  for (const query of [undefined, null]) {
    expect(await create({ query })).toMatchObject({ status: 400, body: { attr: 'query' } });
  }
  const { id } = await made({});
  expect(await change(id, { query: null })).toMatchObject({ status: 400, body: { attr: 'query' } });
});

const series = [{ kind: 'EventsNode', event: 'sign up' }];
test.each([
  ['series', { kind: 'TrendsQuery' }],
  ['series', { kind: 'TrendsQuery', series: [] }],
  ['series', { kind: 'FunnelsQuery', series: [] }],
  ['interval', { kind: 'TrendsQuery', series, interval: 'fortnight' }],
  ['series.0.math', { kind: 'TrendsQuery', series: [{ kind: 'EventsNode', math: 'most' }] }],
  ['trendsFilter.display', { kind: 'TrendsQuery', series, trendsFilter: { display: 'Hologram', newField: 1 } }],
  ['retentionFilter.totalIntervals', { kind: 'RetentionQuery', retentionFilter: { totalIntervals: -1 } }],
  // The following errors are found only when the query is planned.
  ['dateRange.date_from', { kind: 'TrendsQuery', series, dateRange: { date_from: 'last spring' } }],
  ['dateRange', { kind: 'TrendsQuery', series, interval: 'minute', dateRange: { date_from: '-1y' } }],
  ['series.0.math_property', { kind: 'TrendsQuery', series: [{ kind: 'EventsNode', math: 'sum' }] }],
  ['series.0.math_group_type_index', { kind: 'TrendsQuery', series: [{ kind: 'EventsNode', math: 'unique_group' }] }],
  ['properties.0.operator', { kind: 'FunnelsQuery', series, properties: [{ key: 'a', operator: 'near', value: 1 }] }],
  ['properties.0.value', { kind: 'TrendsQuery', series, properties: [{ type: 'cohort', key: 'id', value: 987654 }] }],
  ['properties.0.value', { kind: 'LifecycleQuery', series, properties: [{ key: 'a', operator: 'regex', value: '(' }] }],
  ['breakdownFilter.breakdown', { kind: 'TrendsQuery', series, breakdownFilter: { breakdown: ['a', 'b'] } }],
  ['compareFilter.compare_to', { kind: 'TrendsQuery', series, compareFilter: { compare: true, compare_to: 'x' } }],
  ['trendsFilter.formula', { kind: 'TrendsQuery', series, trendsFilter: { formula: 'A +' } }],
])("returns 400 and names %s if an insight's query can never run", async (part, query) => {
  for (const sent of [query, { kind: 'InsightVizNode', source: query }]) {
    const refused = { status: 400, body: { attr: 'query', detail: expect.stringMatching(`^${part}:`) } };
    expect(await create({ query: sent })).toMatchObject(refused);
  }
});

test.each([
  ['where', { kind: 'EventsQuery', select: ['event'], where: '1 = 1' }],
  ['orderBy', { kind: 'EventsQuery', select: ['event'], orderBy: ['person ASC'] }],
  [
    'source.day',
    { kind: 'ActorsQuery', source: { kind: 'InsightActorsQuery', source: { kind: 'TrendsQuery', series } } },
  ],
])("returns 400 and names %s if an insight's table query can never run", async (part, query) => {
  const refused = { status: 400, body: { attr: 'query', detail: expect.stringMatching(`^${part}`) } };
  expect(await create({ query })).toMatchObject(refused);
});

test("validates an insight's query only if the query has changed", async () => {
  const cohorts = `/api/projects/${acme.projectId}/cohorts/`;
  const cohort = await api.send('POST', cohorts, { key: acme.M.key, body: { name: 'Pro' } });
  const query = {
    kind: 'TrendsQuery',
    series,
    properties: [{ type: 'cohort', key: 'id', value: cohort.body.id, newField: true }],
  };
  const { id } = await made({ query });
  await api.send('PATCH', `${cohorts}${cohort.body.id}/`, { key: acme.M.key, body: { deleted: true } });
  expect(await change(id, { query, name: 'Kept' })).toMatchObject({ status: 200, body: { name: 'Kept' } });
  const other = { ...query, interval: 'week' };
  expect(await change(id, { query: other })).toMatchObject({ status: 400, body: { attr: 'query' } });
  expect((await read(id)).body.query).toEqual(query);
});

test('accepts a query even if the cohort in the test account filters has been deleted', async () => {
  const filters = JSON.stringify([{ type: 'cohort', key: 'id', value: 987654 }]);
  const { sql } = api.database;
  await sql.query('UPDATE environment SET test_account_filters = $2 WHERE id = $1', [acme.projectId, filters]);
  await made({ query: { kind: 'TrendsQuery', series, filterTestAccounts: true } });
});

const inner = (source: unknown, kind = 'InsightVizNode') => ({ query: { kind, source } });
test.each<[string, object]>([
  ['insight-244: trends without a wrapper', { query: { kind: 'TrendsQuery', series } }],
  ['insight-244: funnels', inner({ kind: 'FunnelsQuery', series: [{ event: 'a' }, { event: 'b' }] })],
  ['insight-244: retention', inner({ kind: 'RetentionQuery' })],
  ['insight-244: lifecycle', inner({ kind: 'LifecycleQuery', series })],
  ['insight-244: stickiness, which is not computed yet', inner({ kind: 'StickinessQuery' })],
  ['insight-244: paths, which are not computed yet', inner({ kind: 'PathsQuery' })],
  ['insight-244: a table of events', inner({ kind: 'EventsQuery', select: ['event'] }, 'DataTableNode')],
  ['insight-244: a table of persons', inner({ kind: 'ActorsQuery' }, 'DataTableNode')],
  ['empty filters', { filters: {} }],
])('stores an insight: %s', async (_what, body) => {
  expect(await create(body)).toMatchObject({ status: 201, body: { ...body } });
});

const kinds =
  'TrendsQuery, FunnelsQuery, RetentionQuery, LifecycleQuery, StickinessQuery, PathsQuery, EventsQuery, ActorsQuery, HogQLQuery';
const charts = kinds.replace(', EventsQuery, ActorsQuery, HogQLQuery', '');
test.each<[string, object, object]>([
  [
    'insight-244: an unknown query kind',
    { query: { kind: 'NoQuery' } },
    validationError('invalid_choice', 'query__kind', `This kind of query is not supported. Choose one of: ${kinds}.`),
  ],
  [
    'insight-244: SQL in a node for other kinds',
    inner({ kind: 'HogQLQuery' }),
    validationError(
      'invalid_choice',
      'query__source__kind',
      `This kind of query is not supported. Choose one of: ${charts}.`,
    ),
  ],
  [
    'a query without a kind',
    { query: {} },
    validationError('required', 'query__kind', `This field is required. Choose one of: ${kinds}.`),
  ],
  [
    'a wrapped query without a kind',
    inner({}),
    validationError('required', 'query__source__kind', `This field is required. Choose one of: ${charts}.`),
  ],
  [
    'no source',
    inner(null),
    validationError(
      'invalid_input',
      'query__source',
      "`query.source` is required if `query.kind` is 'InsightVizNode'. It contains the query to run.",
    ),
  ],
  [
    'a text',
    { query: 'trends' },
    validationError('not_a_dict', 'query', 'Expected a dictionary of items but got type "str". Send a JSON object.'),
  ],
  [
    'a query that is too long',
    { query: { kind: 'TrendsQuery', text: 'x'.repeat(128 * 1024) } },
    validationError('max_length', 'query', '`query` must not exceed 128 KiB.'),
  ],
  [
    'filters of old',
    { filters: { insight: 'TRENDS' } },
    validationError(
      'invalid_input',
      'filters',
      'Insights defined by `filters`, the older format, are not supported. Send `query` instead.',
    ),
  ],
  [
    'insight-264: a name that is too long',
    { name: 'x'.repeat(401) },
    validationError('max_length', 'name', 'Ensure this field has no more than 400 characters.'),
  ],
])('returns 400 for an insight: %s', async (_what, body, refused) => {
  const { id } = await made({ query: trends });
  expect(await create(body)).toMatchObject(refused);
  expect(await change(id, body)).toMatchObject(refused);
  expect((await read(id)).body).toMatchObject({ query: trends, name: null });
});

test('insight-245: finds the same insight by numeric ID and by short ID', async () => {
  const one = await made({ name: 'One' });
  expect((await read(one.short_id)).body).toEqual((await read(one.id)).body);
  expect(await change(one.short_id, { name: 'Two' })).toMatchObject({ status: 200, body: { id: one.id, name: 'Two' } });
  // A short ID can consist of digits, like a numeric ID. It works only if no insight has this numeric ID.
  await api.database.sql.query(`UPDATE insight SET short_id = $2 WHERE id = $1`, [one.id, '87654321']);
  expect((await read('87654321')).body.id).toBe(one.id);
  const two = await made();
  await api.database.sql.query('UPDATE insight SET short_id = $2 WHERE id = $1', [one.id, String(two.id)]);
  expect((await read(two.id)).body.id).toBe(two.id);
  for (const name of ['0', '-1', 'nobody12', '99999999999999', '2147483647', '%00']) {
    expect(await read(name)).toMatchObject(notFound());
  }
});

test('insight-246: filters the list of insights by short ID', async () => {
  const { short_id } = await made({ name: 'One' });
  await made({ name: 'Two' });
  expect(await names(`?short_id=${short_id}`)).toEqual(['One']);
  expect(await names('?short_id=nothing')).toEqual([]);
});

test('insight-250: a change to an insight keeps omitted fields, clears null fields, and returns the user who made it', async () => {
  const before = await made({ name: 'One', description: 'about', query: trends, tags: ['a'] });
  const { body } = await change(before.id, { name: 'Two' }, acme.A.key);
  expect(body).toMatchObject({ name: 'Two', description: 'about', query: trends, tags: ['a'], saved: true });
  expect(body.last_modified_at > before.last_modified_at).toBe(true);
  expect([body.last_modified_by.email, body.created_by.email]).toEqual([acme.A.email, acme.M.email]);
  const cleared = await change(before.id, { name: null, description: null });
  expect(cleared.body).toMatchObject({ name: null, description: null, query: trends, tags: ['a'] });
  const put = await api.send('PUT', `${path}${before.id}/`, {
    key: acme.M.key,
    body: { derived_name: 'x', saved: false },
  });
  expect(put).toMatchObject({ status: 200, body: { derived_name: 'x', saved: false, tags: ['a'] } });
  // Terraform sends an empty string to clear a field.
  expect((await change(before.id, { name: '' })).body.name).toBe('');
});

test('insight-251: does not update `last_modified_at` when an insight becomes a favorite', async () => {
  const before = await made({ name: 'One' });
  const { body } = await change(before.id, { favorited: true, tags: ['x'] }, acme.A.key);
  expect(body).toMatchObject({
    favorited: true,
    last_modified_at: before.last_modified_at,
    last_modified_by: before.last_modified_by,
  });
  expect(body.updated_at > before.updated_at).toBe(true);
});

test('insight-252, insight-253: hides a deleted insight, and restores it on request', async () => {
  const { id, short_id } = await made({ name: 'One' });
  expect(await change(id, { deleted: true })).toMatchObject({ status: 200, body: { deleted: true } });
  expect(await read(id)).toMatchObject(notFound());
  expect(await read(short_id)).toMatchObject(notFound());
  expect(await names('')).toEqual([]);
  // After an interruption, Terraform sends the same deletion again.
  expect((await change(id, { deleted: true })).status).toBe(200);
  expect(await change(id, { deleted: false })).toMatchObject({ status: 200, body: { deleted: false, name: 'One' } });
  expect((await read(id)).status).toBe(200);
});

test('insight-254: returns 405 for DELETE of an insight', async () => {
  const { id } = await made();
  expect((await api.send('DELETE', `${path}${id}/`, { key: acme.M.key })).status).toBe(405);
  expect((await read(id)).status).toBe(200);
});

test("insight-258: keeps the order and case of an insight's tags", async () => {
  const { id, tags } = await made({ tags: ['b', 'A', 'a'] });
  expect(tags).toEqual(['b', 'A', 'a']);
  expect((await read(id)).body.tags).toEqual(['b', 'A', 'a']);
});

test('insight-259: lists insights in pages', async () => {
  await api.database.sql.query(
    `INSERT INTO insight (project_id, short_id, name) SELECT $1, 'page' || n, n::text FROM generate_series(1, 250) AS n`,
    [acme.projectId],
  );
  const first = (await api.get(`${path}?limit=100`, acme.M.key)).body;
  expect([first.count, first.results.length, first.previous]).toEqual([250, 100, null]);
  const all = await readAllPages<{ name: string }>(api, `${path}?limit=100`, acme.M.key);
  expect(all.map(({ name }) => Number(name))).toEqual(Array.from({ length: 250 }, (_, index) => 250 - index));
});

test('insight-260: omits the results of insights if the request has basic=true', async () => {
  await made();
  const [basic] = (await api.get(`${path}?basic=true&refresh=force_blocking`, acme.M.key)).body.results;
  for (const name of ['result', 'hasMore', 'cache_target_age', 'effective_privilege_level', 'timezone', 'alerts']) {
    expect([name, name in basic]).toEqual([name, false]);
  }
  expect(basic).toMatchObject({ query: trends, short_id: expect.any(String) });
});

test('insight-261: filters the list of insights', async () => {
  const kind = (name: string) => inner({ kind: name, ...(name === 'FunnelsQuery' && { series }) });
  const a = await made({ name: 'Sign-ups', query: trends, tags: ['growth'], favorited: true });
  await made({ name: 'b', derived_name: 'All signs', ...kind('FunnelsQuery'), saved: true });
  await create({ name: 'c', description: '50% off', ...kind('RetentionQuery'), tags: ['signal'] }, acme.A.key);
  await made({ name: 'd', query: { kind: 'EventsQuery', event: 'sign up' } });
  const all = ['d', 'c', 'b', 'Sign-ups'];
  for (const [query, found] of [
    ['search=SIGN', ['c', 'b', 'Sign-ups']],
    ['search=50%25', ['c']],
    ['search=growth', ['Sign-ups']],
    ['insight=FUNNELS', ['b']],
    ['insight=trends', ['Sign-ups']],
    ['insight=JSON', ['d']],
    ['insight=SQL', []],
    ['insight=nonsense', all],
    [`created_by=${acme.A.userId}`, ['c']],
    [`created_by=[${acme.A.userId},${acme.M.userId}]`, all],
    ['user=true', ['d', 'b', 'Sign-ups']],
    ['favorited=true', ['Sign-ups']],
    ['saved=true', ['b']],
    ['saved=false', ['d', 'c', 'Sign-ups']],
    ['tags=["signal","growth"]', ['c', 'Sign-ups']],
    ['events=["sign up"]', ['d', 'b', 'Sign-ups']],
    ['date_from=-7d', all],
    ['date_to=-7d', []],
    ['created_date_from=-1h', all],
    ['created_date_from=all', all],
    ['last_viewed_date_from=-1h', []],
    ['dashboards=nonsense', all],
    ['order=name', ['b', 'c', 'd', 'Sign-ups']],
    ['order=-id', all],
  ] as const) {
    const sorted = query.startsWith('order=name') ? (await names(`?${query}`)).sort() : await names(`?${query}`);
    expect([query, sorted]).toEqual([query, query.startsWith('order=name') ? [...found].sort() : found]);
  }
  await change(a.id, { order: 1 });
  expect((await names(''))[0]).toBe('Sign-ups');
  expect(await api.get(`${path}?date_from=soon`, acme.M.key)).toMatchObject({
    status: 400,
    body: { attr: 'date_from' },
  });
});

test.each([
  'id',
  'name',
  'created_at',
  'updated_at',
  'last_modified_at',
  'favorited',
  'order',
  'created_by',
  'last_modified_by',
  'last_viewed_at',
  'nonsense',
  'query',
])('insight-262: accepts order=%s for the list of insights, ascending and descending', async (name) => {
  await made({ name: 'a' });
  await made({ name: 'b' });
  expect((await names(`?order=${name}`)).sort()).toEqual(['a', 'b']);
  expect((await names(`?order=-${name}`)).sort()).toEqual(['a', 'b']);
});

test('insight-262: sorts the list of insights by latest change', async () => {
  const { id } = await made({ name: 'a' });
  await made({ name: 'b' });
  await change(id, { description: 'new' });
  expect(await names('?order=-last_modified_at')).toEqual(['a', 'b']);
  expect(await names('?order=last_modified_at')).toEqual(['b', 'a']);
});

test('insight-263: allows a key with only the read scope to record views, but not to create insights', async () => {
  const { value } = await createPersonalApiKey(api.database.sql, {
    actor: null,
    userId: acme.M.userId,
    label: 'reader',
    scopes: ['insight:read'],
  });
  const { id } = await made({ name: 'One' });
  const refused = permissionDenied("API key missing required scope 'insight:write'");
  expect(await create({}, value)).toMatchObject(refused);
  expect(await change(id, { name: 'x' }, value)).toMatchObject(refused);
  expect((await api.send('POST', `${path}${id}/viewed/`, { key: value })).status).toBe(201);
});

test('lists the insights that the user opened most recently', async () => {
  const ids: number[] = [];
  for (let index = 0; index < 7; index += 1) ids.push((await made({ name: `v${index}` })).id);
  const other = await createActors(api.database);
  const theirs = (
    await api.send('POST', `/api/projects/${other.projectId}/insights/`, { key: other.M.key, body: { query: trends } })
  ).body.id;
  for (const id of ids) {
    const body = { insight_ids: [id, theirs, 2_000_000_000] };
    expect((await api.send('POST', `${path}viewed/`, { key: acme.M.key, body })).status).toBe(201);
  }
  await change(ids[6] ?? 0, { deleted: true });
  const viewed = (await api.get(`${path}my_last_viewed/`, acme.M.key)).body;
  expect(viewed.map(({ name }: { name: string }) => name)).toEqual(['v5', 'v4', 'v3', 'v2', 'v1']);
  expect(viewed[0].last_viewed_at).toMatch(/Z$/);
  expect((await api.get(`${path}my_last_viewed/`, acme.A.key)).body).toEqual([]);
  expect(await names('?last_viewed_date_from=-1h&order=last_viewed_at')).toEqual(['v0', 'v1', 'v2', 'v3', 'v4', 'v5']);
  const rows = await api.database.sql.query('SELECT 1 FROM insight_view WHERE insight_id = $1', [theirs]);
  expect(rows).toEqual([]);
  const tooMany = { insight_ids: Array.from({ length: 2501 }, (_, index) => index + 1) };
  expect(await api.send('POST', `${path}viewed/`, { key: acme.M.key, body: tooMany })).toMatchObject({
    status: 400,
    body: { attr: 'insight_ids' },
  });
});

test('lists the insights that the most users viewed recently, with these users', async () => {
  const ids = [];
  for (const name of ['one', 'two', 'old', 'unseen', 'gone']) ids.push((await made({ name })).id);
  const [one, two, old, , gone] = ids;
  const view = (key: string, ...seen: (number | undefined)[]) =>
    api.send('POST', `${path}viewed/`, { key, body: { insight_ids: seen } });
  await view(acme.M.key, one, two, old, gone);
  await view(acme.A.key, two, gone);
  await change(gone ?? 0, { deleted: true });
  await api.database.sql.query(
    "UPDATE insight_view SET last_viewed_at = now() - interval '8 days' WHERE insight_id = $1",
    [old],
  );
  const trending = async (query = '') => {
    const { status, body } = await api.get(`${path}trending/${query}`, acme.M.key);
    return status === 200
      ? body.map(({ name, viewers }: { name: string; viewers: { id: number }[] }) => [
          name,
          viewers.map(({ id }) => id),
        ])
      : body;
  };
  expect(await trending()).toEqual([
    ['two', [acme.A.userId, acme.M.userId]],
    ['one', [acme.M.userId]],
  ]);
  expect(await trending('?limit=1')).toEqual([['two', [acme.A.userId, acme.M.userId]]]);
  expect((await trending('?days=9')).map(([name]: [string]) => name)).toEqual(['two', 'one', 'old']);
  expect(await trending('?days=0')).toMatchObject({ type: 'validation_error', attr: 'days' });
  expect(await trending('?limit=many')).toMatchObject({ type: 'validation_error', attr: 'limit' });
});

test('logs every change of an insight, and ignores requests that change nothing', async () => {
  const { id, short_id } = await made({ name: 'One', query: trends });
  await change(id, { name: 'Two', tags: ['x'] });
  await change(id, { name: 'Two' });
  await change(id, { deleted: true });
  await change(id, { deleted: false });
  const { body } = await api.get(`${path}${short_id}/activity/`, acme.M.key);
  expect(
    body.results.map(({ activity, scope, item_id }: Record<string, string>) => [activity, scope, item_id]),
  ).toEqual(['restored', 'deleted', 'updated', 'created'].map((activity) => [activity, 'Insight', String(id)]));
  expect(body.results[2].detail).toMatchObject({
    name: 'Two',
    changes: [
      { type: 'Insight', action: 'changed', field: 'name', before: 'One', after: 'Two' },
      { type: 'Insight', action: 'changed', field: 'tags', before: [], after: ['x'] },
      { field: 'saved', before: false, after: true },
    ],
  });
  expect((await api.get(`${path}activity/`, acme.M.key)).body.total_count).toBe(4);
  expect(await api.get(`${path}2000000000/activity/`, acme.M.key)).toMatchObject(notFound());
});

test('returns 400 with an explanation for the query URLs of older clients', async () => {
  const refused = {
    status: 400,
    body: { code: 'invalid_input', detail: expect.stringContaining('not supported') },
  };
  for (const kind of ['trend', 'funnel', 'retention', 'path']) expect(await read(kind)).toMatchObject(refused);
});
