/** Tests cases insight-029 and insight-212 to insight-241, which run queries through the API. */

import { addMember, createPersonalApiKey, createUser } from '@millrace/accounts';
import { createTestTenant, eventually, type TestTenant } from '@millrace/testing';
import { lockTable } from '../../testing/lock-table.ts';
import { startTestApi, type TestApi } from '../../testing/start-test-api.ts';
import { createMonths, storeEvent, storePerson } from '../../testing/stored-data.ts';

let api: TestApi;
let own: TestTenant;
beforeAll(async () => {
  api = await startTestApi();
  own = await createTestTenant(api.database);
  const { sql } = api.database;
  await createMonths(sql, '2026-11', '2026-11');
  const ada = await storePerson(sql, own.projectId, { distinctIds: ['ada'] });
  for (const day of ['10', '10', '12']) {
    const timestamp = `2026-11-${day}T12:00:00Z`;
    await storeEvent(sql, own.projectId, { event: 'order', distinctId: 'ada', personId: ada, timestamp });
  }
});
afterAll(() => api.stop());

const trends = {
  kind: 'TrendsQuery',
  dateRange: { date_from: '2026-11-10', date_to: '2026-11-12' },
  series: [{ kind: 'EventsNode', event: 'order' }],
};

const ask = (body: unknown, { key = own.personalApiKey, path = `/api/projects/${own.projectId}/query/` } = {}) =>
  api.send('POST', path, { key, body });

test('insight-212: runs a query at the project and environment paths, with and without a trailing slash', async () => {
  for (const path of [`/api/projects/${own.projectId}/query/`, `/api/environments/${own.projectId}/query`]) {
    const { status, body } = await ask({ query: trends }, { path });
    expect([status, body.results]).toMatchObject([200, [{ label: 'order', data: [2, 0, 1], count: 3 }]]);
  }
});

test('accepts the query kind in the path, and returns 400 unless it matches the query', async () => {
  const path = (kind: string) => `/api/environments/${own.projectId}/query/${kind}/`;
  const { status, body } = await ask({ query: trends }, { path: path('TrendsQuery') });
  expect([status, body.results]).toMatchObject([200, [{ data: [2, 0, 1] }]]);
  for (const kind of ['FunnelsQuery', 'trendsquery']) {
    expect(await ask({ query: trends }, { path: path(kind) })).toMatchObject({
      status: 400,
      body: {
        attr: 'query',
        detail: `The query is a TrendsQuery, but the path contains ${kind}. Both must be the same.`,
      },
    });
  }
});

test('returns an overview, a table and a trend of web traffic, as JSON and as CSV', async () => {
  const { projectId, personalApiKey: key } = await createTestTenant(api.database);
  const visitor = await storePerson(api.database.sql, projectId, { distinctIds: ['visitor'] });
  for (const [minute, path] of [
    ['00', '/'],
    ['01', '/docs'],
  ]) {
    const properties = { $session_id: 's1', $pathname: path };
    const timestamp = `2026-11-10T12:${minute}:00Z`;
    const event = { event: '$pageview', distinctId: 'visitor', personId: visitor, timestamp, properties };
    await storeEvent(api.database.sql, projectId, event);
  }
  const path = `/api/projects/${projectId}/query/`;
  const dateRange = { date_from: '2026-11-10', date_to: '2026-11-10' };
  const overview = { kind: 'WebOverviewQuery', dateRange };
  expect(await ask({ query: overview }, { key, path })).toMatchObject({
    status: 200,
    body: {
      results: [{ value: 1 }, { value: 2 }, { value: 1 }, { value: 60 }, { value: 0 }],
      dateFrom: '2026-11-10 00:00:00',
      dateTo: '2026-11-10 23:59:59',
    },
  });
  const table = { kind: 'WebStatsTableQuery', breakdownBy: 'InitialPage', dateRange };
  expect(await ask({ query: table }, { key, path: `${path}WebStatsTableQuery/` })).toMatchObject({
    status: 200,
    body: { results: [['/', [1, null], [2, null], 1]], hasMore: false, limit: 100, offset: 0 },
  });
  const fileOf = async (query: object) => {
    const headers = { Authorization: `Bearer ${key}`, 'Content-Type': 'application/json' };
    const request = { method: 'POST', headers, body: JSON.stringify({ query }) };
    return (await (await fetch(`${api.url}${path}?format=csv`, request)).text()).split('\r\n');
  };
  expect(await fileOf(overview)).toEqual([
    'key,value,previous',
    'visitors,1,',
    'views,2,',
    'sessions,1,',
    'session duration,60,',
    'bounce rate,0,',
    '',
  ]);
  const trend = { kind: 'WebTrendsQuery', dateRange, metrics: ['PageViews', 'Bounces'] };
  expect(await fileOf(trend)).toEqual(['time,PageViews,Bounces', '2026-11-10,2,0', '']);
  expect(await ask({ query: { ...overview, conversionGoal: { actionId: 1 } } }, { key, path })).toMatchObject({
    status: 400,
    body: { attr: 'query', detail: 'conversionGoal: Unknown field.' },
  });
});

test('returns a query unchanged when a client asks Millrace to upgrade it', async () => {
  const path = `/api/projects/${own.projectId}/query/upgrade/`;
  const query = { kind: 'DataTableNode', source: { kind: 'HogQLQuery', query: 'select 1' }, later: null };
  expect(await ask({ query }, { path })).toMatchObject({ status: 200, body: { query } });
  expect(await ask({}, { path })).toMatchObject({ status: 400, body: { code: 'required', attr: 'query' } });
});

test('insight-213: returns 403 for a query if the key does not have the scope to run queries', async () => {
  const user = await createUser(api.database.sql, { email: 'insight@example.com' });
  await addMember(api.database.sql, { organizationId: own.organizationId, userId: user.id, level: 1 });
  const key = await createPersonalApiKey(api.database.sql, {
    actor: null,
    userId: user.id,
    label: 'k',
    scopes: ['insight:read'],
  });
  const { status, body } = await ask({ query: trends }, { key: key.value });
  expect([status, body.code, body.detail]).toEqual([
    403,
    'permission_denied',
    "API key missing required scope 'query:read'",
  ]);
});

test('insight-214: returns 401 for a query without an API key', async () => {
  const path = `/api/projects/${own.projectId}/query/`;
  expect(await api.send('POST', path, { body: { query: trends } })).toMatchObject({
    ...{ status: 401, body: { type: 'authentication_error', code: 'not_authenticated' } },
  });
});

test("insight-215: returns 404 for a query in another organization's project", async () => {
  const { personalApiKey: key } = await createTestTenant(api.database);
  expect((await ask({ query: trends }, { key })).status).toBe(404);
});

test.each<[string, unknown, string, RegExp]>([
  ['insight-216: no query', {}, 'required', /required/],
  ['insight-217: a string', { query: 'text' }, 'invalid_input', /./],
  ['insight-217: a list', { query: [] }, 'invalid_input', /./],
  [
    'insight-211: SQL with an unknown column',
    { query: { kind: 'HogQLQuery', query: 'select evnt from events' } },
    'hogql_query_error',
    /^Unable to resolve field: evnt$/,
  ],
  [
    'incomplete SQL',
    { query: { kind: 'HogQLQuery', query: 'select event from' } },
    'hogql_syntax_error',
    /^Unexpected end of query$/,
  ],
  [
    'SQL for another database',
    { query: { kind: 'HogQLQuery', query: 'select 1', connectionId: 'x' } },
    'invalid_input',
    /^connectionId: /,
  ],
  [
    'insight-028: an invalid time',
    { query: { ...trends, dateRange: { date_from: 'yesterdayish' } } },
    'invalid_input',
    /^dateRange.date_from: /,
  ],
  ['insight-027: an invalid interval', { query: { ...trends, interval: 'fortnight' } }, 'invalid_input', /^interval: /],
  [
    'insight-029: too many points',
    { query: { ...trends, interval: 'minute', dateRange: { date_from: '-60d' } } },
    'invalid_input',
    /^dateRange: /,
  ],
  [
    'insight-062: SQL as math without an expression',
    { query: { ...trends, series: [{ kind: 'EventsNode', math: 'hogql' }] } },
    'invalid_input',
    /^series.0.math_hogql: /,
  ],
  [
    'insight-064: an action',
    { query: { ...trends, series: [{ kind: 'ActionsNode', id: 5 }] } },
    'invalid_input',
    /^series.0.kind: /,
  ],
  [
    'insight-054: a sampling factor of 0',
    { query: { ...trends, samplingFactor: 0 } },
    'invalid_input',
    /^samplingFactor: /,
  ],
  [
    'insight-110: an invalid pattern',
    { query: { ...trends, properties: [{ key: 'a', operator: 'regex', value: '(' }] } },
    'invalid_input',
    /^properties.0.value: /,
  ],
  [
    'insight-126: a filter without a value',
    { query: { ...trends, properties: [{ key: 'a', operator: 'exact' }] } },
    'invalid_input',
    /^properties.0.value: /,
  ],
  ['an unknown field', { query: { ...trends, breakdown: 'a' } }, 'invalid_input', /^breakdown: /],
])('returns 400 for a query: %s', async (_, sent, code, detail) => {
  const { status, body } = await ask(sent);
  expect([status, body.type, body.code, body.attr]).toEqual([400, 'validation_error', code, 'query']);
  expect(body.detail).toMatch(detail);
});

const ordersBy = {
  kind: 'HogQLQuery',
  query:
    'SELECT distinct_id, count() AS n, max(timestamp) AS last FROM events WHERE event = {name} GROUP BY distinct_id',
  values: { name: 'order', unused: null },
};

test('runs SQL with placeholder values, and returns the names and types of the columns', async () => {
  const { status, body } = await ask({ query: { kind: 'DataVisualizationNode', source: ordersBy } });
  expect(status).toBe(200);
  expect(body).toMatchObject({
    columns: ['distinct_id', 'n', 'last'],
    types: [
      ['distinct_id', 'String'],
      ['n', 'UInt64'],
      ['last', "Nullable(DateTime64(6, 'UTC'))"],
    ],
    results: [['ada', 3, '2026-11-12T12:00:00Z']],
    ...{ hasMore: false, limit: 100, offset: 0, error: null, timings: null },
    hogql:
      'SELECT distinct_id, count() AS n, max(timestamp) AS last FROM events ' +
      "WHERE equals(event, 'order') GROUP BY distinct_id",
  });
});

test.each([
  ['select event from events', true, [], ['events']],
  ['select evnt from events', false, [{ message: 'Unable to resolve field: evnt', start: 7, end: 11 }], []],
])('HogQLMetadata returns errors with their position for %s', async (query, isValid, errors, tables) => {
  const { status, body } = await ask({ query: { kind: 'HogQLMetadata', language: 'hogQL', query } });
  expect([status, body]).toMatchObject([
    200,
    { isValid, query, errors, table_names: tables, warnings: [], notices: [] },
  ]);
});

const persons = {
  kind: 'HogQLQuery',
  query: 'SELECT id FROM persons AS p WHERE {filters.dateRange.from} < created_at',
};
test.each([
  ["event = 'a'", undefined, [], ['events']],
  ['a +\n evnt', undefined, [{ message: 'Unable to resolve field: a', start: 0, end: 1 }], []],
  ['row_number() OVER ()', { kind: 'EventsQuery', select: ['event'] }, [/^Window functions are not/, 0, 20], []],
  ['is_identified', { kind: 'ActorsQuery' }, [], ['persons']],
  ['concat(p.properties.name, evnt)', persons, [{ message: 'Unable to resolve field: evnt', start: 26, end: 30 }], []],
  ['p.is_identified', persons, [], ['persons']],
  ['1', { ...persons, query: 'SELECT evnt FROM persons' }, [/^sourceQuery: Unable to resolve field: evnt$/], []],
])('HogQLMetadata returns errors with their position for the expression %s in %j', async (...given) => {
  const [query, sourceQuery, expected, tables] = given;
  const checked = { kind: 'HogQLMetadata', language: 'hogQLExpr', query, ...(sourceQuery && { sourceQuery }) };
  const { status, body } = await ask({ query: checked });
  const [message, start, end] = expected;
  const errors =
    message instanceof RegExp ? [{ message: expect.stringMatching(message), ...(end && { start, end }) }] : expected;
  expect([status, body]).toMatchObject([
    200,
    { isValid: expected.length === 0, query, errors, table_names: tables, warnings: [], notices: [] },
  ]);
});

test.each([
  [
    { language: 'hogQL', sourceQuery: persons },
    'sourceQuery: Only an expression has a source. Set `language` to `hogQLExpr`.',
  ],
  [
    { language: 'hogQLExpr', sourceQuery: { kind: 'HogQLMetadata' } },
    'sourceQuery.kind: A HogQLMetadata cannot contain expressions.',
  ],
])('HogQLMetadata returns 400 for a request with %j', async (more, detail) => {
  const { status, body } = await ask({ query: { kind: 'HogQLMetadata', query: '1', ...more } });
  expect([status, body.detail]).toEqual([400, detail]);
});

test('returns the rows of an SQL query as CSV', async () => {
  const path = `/api/projects/${own.projectId}/query/?format=csv`;
  const query = { ...ordersBy, query: 'SELECT event, count() FROM events GROUP BY 1' };
  const response = await fetch(`${api.url}${path}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${own.personalApiKey}`, 'content-type': 'application/json' },
    body: JSON.stringify({ query }),
  });
  expect([response.status, await response.text()]).toEqual([200, 'event,count()\r\norder,3\r\n']);
});

test('does not return events of another project to an SQL query', async () => {
  const other = await createTestTenant(api.database);
  const path = `/api/projects/${other.projectId}/query/`;
  const query = {
    kind: 'HogQLQuery',
    query: 'SELECT (SELECT count() FROM events) + (SELECT count() FROM persons) AS n',
  };
  const { body } = await ask({ query }, { key: other.personalApiKey, path });
  expect(body.results).toEqual([[0]]);
});

test('insight-218, insight-239: returns the time zone, the times and the cache key with a result', async () => {
  await api.database.sql.query("UPDATE environment SET timezone = 'Asia/Tokyo' WHERE id = $1", [own.environmentId]);
  const { body } = await ask({ query: trends });
  await api.database.sql.query("UPDATE environment SET timezone = 'UTC' WHERE id = $1", [own.environmentId]);
  expect(body).toMatchObject({
    ...{ is_cached: false, error: null, query_status: null, timezone: 'Asia/Tokyo' },
    cache_key: expect.stringMatching(/^cache_[0-9a-f]{32}$/),
    resolved_date_range: { date_from: '2026-11-10T00:00:00+09:00', date_to: '2026-11-12T23:59:59.999999+09:00' },
  });
  // The date range has ended, so the result stays fresh for a day.
  expect(Date.parse(body.cache_target_age) - Date.parse(body.last_refresh)).toBe(24 * 3_600_000);
});

test('insight-224, insight-225: returns a cache key that depends on the query, but not on the order of its fields', async () => {
  const keyOf = async (query: unknown) => (await ask({ query })).body.cache_key;
  const { kind, ...rest } = trends;
  const first = await keyOf(trends);
  expect(await keyOf({ ...rest, kind })).toBe(first);
  expect(await keyOf({ ...trends, interval: 'week' })).not.toBe(first);
});

test('insight-237: applies the filters of a dashboard to a query', async () => {
  const { body } = await ask({ query: trends, filters_override: { date_from: '2026-11-12', date_to: '2026-11-12' } });
  expect(body.results).toMatchObject([{ days: ['2026-11-12'], data: [1] }]);
});

const running = async () =>
  (
    await api.database.sql.query<{ state: string }>(
      `SELECT state FROM pg_stat_activity
        WHERE datname = current_database() AND state = 'active' AND query LIKE '%FROM event e%' AND pid <> pg_backend_pid()`,
    )
  ).length;

test('insight-219, insight-220: returns the cached result until a new result is requested', async () => {
  const query = { ...trends, series: [{ kind: 'EventsNode', event: 'refund' }] };
  const first = (await ask({ query })).body;
  await storeEvent(api.database.sql, own.projectId, { event: 'refund', timestamp: '2026-11-11T12:00:00Z' });
  const second = (await ask({ query })).body;
  expect([first.is_cached, second.is_cached]).toEqual([false, true]);
  expect(second).toEqual({ ...first, is_cached: true });
  const third = (await ask({ query, refresh: 'force_blocking' })).body;
  expect([third.is_cached, third.results[0].data]).toEqual([false, [0, 1, 0]]);
  expect((await ask({ query })).body).toEqual({ ...third, is_cached: true });
});

test('insight-225, insight-226: ignores results that were cached before the project settings changed', async () => {
  const set = (column: string, value: unknown) =>
    api.database.sql.query(`UPDATE environment SET ${column} = $2 WHERE id = $1`, [own.environmentId, value]);
  const query = { ...trends, filterTestAccounts: true };
  await set('test_account_filters', '[]');
  expect((await ask({ query })).body.results[0].data).toEqual([2, 0, 1]);
  await set('test_account_filters', JSON.stringify([{ key: 'a', operator: 'is_set', type: 'event' }]));
  expect((await ask({ query })).body).toMatchObject({ is_cached: false, results: [{ data: [0, 0, 0] }] });
  await set('test_account_filters', '[]');
  expect((await ask({ query })).body).toMatchObject({ is_cached: true, results: [{ data: [2, 0, 1] }] });
});

const statusOf = (id: string, { key = own.personalApiKey, projectId = own.projectId } = {}) =>
  api.get(`/api/projects/${projectId}/query/${encodeURIComponent(id)}/`, key);

test.each([
  ['async', '2026-11-13'],
  ['lazy_async', '2026-11-14'],
  ['force_async', '2026-11-15'],
])('insight-227, insight-228: computes a result in the background: %s', async (refresh, date_to) => {
  const query = { ...trends, dateRange: { date_from: '2026-11-10', date_to } };
  const lock = await lockTable(api.database, 'event');
  const asked = await ask({ query, refresh });
  const { id } = asked.body.query_status;
  expect([asked.status, asked.body]).toMatchObject([
    202,
    { query_status: { id: expect.stringMatching(/^[0-9a-f]{32}$/), complete: false, error: false, results: null } },
  ]);
  expect(await statusOf(id)).toMatchObject({ status: 202, body: { query_status: { complete: false } } });
  await lock.release();
  const done = await eventually(async () => {
    const response = await statusOf(id);
    return response.status === 200 && response;
  });
  const { results, ...status } = done.body.query_status;
  expect(status).toMatchObject({ complete: true, error: false, end_time: expect.any(String), team_id: own.projectId });
  expect(results).toMatchObject({ is_cached: false, results: [{ label: 'order', count: 3 }] });
  expect((await ask({ query })).body).toMatchObject({ is_cached: true, last_refresh: results.last_refresh });
});

test("insight-229, insight-230, insight-232: finds a background query by the client's ID, but only in its project", async () => {
  const asked = await ask({ query: trends, refresh: 'force_async', client_query_id: 'abc' });
  expect([asked.status, asked.body.query_status.id]).toEqual([202, 'abc']);
  const other = await createTestTenant(api.database);
  const at = { key: other.personalApiKey, projectId: other.projectId };
  for (const response of [await statusOf('unknown'), await statusOf('abc', at)]) expect(response.status).toBe(404);
  const cancel = (id: string) =>
    api.send('DELETE', `/api/projects/${own.projectId}/query/${id}/`, { key: own.personalApiKey });
  expect((await cancel('unknown')).status).toBe(204);
  expect((await ask({ query: trends, client_query_id: '' })).status).toBe(400);
});

test('insight-231: cancels a background query in the database and reports it in the status', async () => {
  const lock = await lockTable(api.database, 'event');
  await ask({ query: trends, refresh: 'force_async', client_query_id: 'long' });
  await eventually(async () => (await running()) === 1, { what: 'the query to run' });
  await api.send('DELETE', `/api/projects/${own.projectId}/query/long/`, { key: own.personalApiKey });
  await eventually(async () => (await running()) === 0, { what: 'the query to end' });
  await lock.release();
  const response = await eventually(async () => {
    const one = await statusOf('long');
    return one.status !== 202 && one;
  });
  expect(response).toMatchObject({
    status: 400,
    body: { query_status: { complete: true, error: true, error_message: 'The query was cancelled.', results: null } },
  });
});

test('insight-233: returns the error of a failed background query', async () => {
  const { body } = await ask({ query: { ...trends, interval: 'fortnight' }, async: true });
  const response = await eventually(async () => {
    const one = await statusOf(body.query_status.id);
    return one.status !== 202 && one;
  });
  expect(response).toMatchObject({
    status: 400,
    body: { query_status: { error: true, error_message: expect.stringMatching(/^interval: /) } },
  });
});

test('accepts true, false and null as `refresh` of a query', async () => {
  const query = { ...trends, series: [{ kind: 'EventsNode', event: 'said with true' }] };
  const nothing = { async: null, client_query_id: null, filters_override: null, name: null, variables_override: null };
  const isCached = async (more: object) => (await ask({ query, ...more })).body.is_cached;
  expect(await isCached({ refresh: null, ...nothing })).toBe(false);
  expect([await isCached({ refresh: false }), await isCached({ refresh: true })]).toEqual([true, false]);
  expect(await ask({ query, refresh: 'sometimes' })).toMatchObject({
    ...{
      status: 400,
      body: { code: 'invalid_choice', attr: 'refresh', detail: expect.stringMatching(/ blocking, .*, true, false\.$/) },
    },
  });
});

test('returns 400 for a query request with an unknown field in addition to `query`', async () => {
  expect(await ask({ query: trends, refesh: 'async' })).toMatchObject({
    status: 400,
    body: { code: 'invalid_input', attr: 'refesh', detail: 'Unknown field.' },
  });
});

test('insight-231: cancels a background query through the former route', async () => {
  const lock = await lockTable(api.database, 'event');
  await ask({ query: trends, refresh: 'force_async', client_query_id: 'former' });
  await eventually(async () => (await running()) === 1, { what: 'the query to run' });
  const path = `/api/projects/${own.projectId}/insights/cancel/`;
  const cancel = (body: object) => api.send('POST', path, { key: own.personalApiKey, body });
  expect((await cancel({ client_query_id: 'former' })).status).toBe(201);
  await eventually(async () => (await running()) === 0, { what: 'the query to end' });
  await lock.release();
  expect((await cancel({ client_query_id: 'unknown' })).status).toBe(201);
  expect(await cancel({})).toMatchObject({ status: 400, body: { code: 'required', attr: 'client_query_id' } });
});

test('check_auth_for_async returns ok for a key that may run queries', async () => {
  const path = `/api/projects/${own.projectId}/query/check_auth_for_async/`;
  expect(await ask({}, { path })).toMatchObject({ status: 200, body: { user: 'ok' } });
});

test.each([
  ['an insight query', () => trends],
  ['an SQL query', () => ({ kind: 'HogQLQuery', query: 'SELECT count() FROM events' })],
])('insight-236: cancels %s in the database when the client disconnects', async (_, query) => {
  const lock = await lockTable(api.database, 'event');
  const controller = new AbortController();
  const sent = fetch(`${api.url}/api/projects/${own.projectId}/query/`, {
    method: 'POST',
    headers: { authorization: `Bearer ${own.personalApiKey}`, 'content-type': 'application/json' },
    body: JSON.stringify({ query: query(), refresh: 'force_blocking' }),
    signal: controller.signal,
  }).catch(() => 'left');
  await eventually(async () => (await running()) === 1, { what: 'the query to run' });
  controller.abort();
  expect(await sent).toBe('left');
  await eventually(async () => (await running()) === 0, { what: 'the query to end' });
  await lock.release();
  expect((await ask({ query: query() })).status).toBe(200);
});
