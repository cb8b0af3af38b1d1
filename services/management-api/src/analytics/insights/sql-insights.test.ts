/** Tests cases sql-insight-001 to sql-insight-011: SQL insights alone, on dashboards, and as files. */

import { createActors, type OrganizationActors } from '../../testing/organization-actors.ts';
import { startTestApi, type TestApi } from '../../testing/start-test-api.ts';
import { createMonths, storeEvent, storePerson } from '../../testing/stored-data.ts';

let api: TestApi;
let acme: OrganizationActors;
let base: string;
beforeAll(async () => {
  api = await startTestApi();
  await createMonths(api.database.sql, '2026-11', '2026-11');
  acme = await createActors(api.database);
  base = `/api/projects/${acme.projectId}`;
  const personId = await storePerson(api.database.sql, acme.projectId, { distinctIds: ['ada'] });
  for (const [day, plan] of [
    ['10', 'free'],
    ['12', 'free'],
    ['12', 'paid'],
  ]) {
    const [timestamp, properties] = [`2026-11-${day}T12:00:00Z`, { plan }];
    await storeEvent(api.database.sql, acme.projectId, { event: 'order', personId, timestamp, properties });
  }
});
afterAll(() => api.stop());

const get = (path: string) => api.get(`${base}/${path}`, acme.M.key);
const send = (method: 'POST' | 'PATCH', path: string, body: object) =>
  api.send(method, `${base}/${path}/`, { key: acme.M.key, body });
async function made(kind: 'dashboards' | 'insights' | 'insight_variables', body: object) {
  const response = await send('POST', kind, body);
  expect([response.status, response.body.detail]).toEqual([201, undefined]);
  return response.body;
}
const perDay = `SELECT toDate(timestamp) AS day, count() AS orders
  FROM events WHERE event = 'order' AND {filters} GROUP BY day ORDER BY day`;
const source = { kind: 'HogQLQuery', query: perDay };
const chart = {
  ...{ kind: 'DataVisualizationNode', source, display: 'ActionsLineGraph' },
  chartSettings: { xAxis: { column: 'day' }, yAxis: [{ column: 'orders', settings: { formatting: { prefix: '#' } } }] },
  tableSettings: { columns: [{ column: 'day' }] },
  newerField: [1],
};
const wholeDays = [
  ['2026-11-10', 1],
  ['2026-11-12', 2],
];

test.each([
  ['a DataVisualizationNode', chart],
  ['a DataTableNode', { kind: 'DataTableNode', source }],
  ['a query without a wrapper', source],
])('sql-insight-001: stores %s as it was sent, and returns rows, columns and types', async (_, query) => {
  const { id, query: stored } = await made('insights', { query });
  expect(stored).toEqual(query);
  expect((await get(`insights/${id}/`)).body).toMatchObject({ result: null, columns: null });
  const computed = (await get(`insights/${id}/?refresh=blocking`)).body;
  expect(computed).toMatchObject({
    query,
    result: wholeDays,
    columns: ['day', 'orders'],
    types: [
      ['day', 'Date'],
      ['orders', 'UInt64'],
    ],
    hogql:
      'SELECT toDate(timestamp) AS day, count() AS orders FROM events ' +
      "WHERE and(equals(event, 'order'), true) GROUP BY day ORDER BY day ASC",
    hasMore: false,
    is_cached: false,
  });
  expect((await get(`insights/${id}/`)).body).toEqual({ ...computed, is_cached: true });
});

const trend = (more: object, series: object = {}) => ({
  query: { kind: 'TrendsQuery', series: [{ kind: 'EventsNode', ...series }], ...more },
});
const withSql = (query: string, more: object = {}) => ({ query: { kind: 'HogQLQuery', query, ...more } });
test.each([
  [
    'sql-insight-002: SQL with an unknown column',
    withSql('SELECT event,\n  evnt FROM events'),
    'hogql_query_error',
    'Unable to resolve field: evnt (line 2, column 3)',
  ],
  [
    'sql-insight-002: incomplete SQL',
    withSql('SELECT event FROM'),
    'hogql_syntax_error',
    'Unexpected end of query (line 1, column 18)',
  ],
  [
    'sql-insight-002: a variable that does not exist',
    withSql('SELECT {variables.nope}'),
    'hogql_query_error',
    'Variable nope is missing from query (line 1, column 8)',
  ],
  [
    'sql-insight-002: an expression with an unknown column',
    trend({}, { math: 'hogql', math_hogql: 'count() +\n  evnt' }),
    'hogql_query_error',
    'series.0.math_hogql: Unable to resolve field: evnt (line 2, column 3)',
  ],
  [
    'sql-insight-002: a filter that is not a condition',
    trend({ properties: [{ type: 'hogql', key: 'timestamp' }] }),
    'hogql_query_error',
    'properties.0.key: Expected a condition, found a time. (line 1, column 1)',
  ],
  [
    'sql-insight-002: an incomplete breakdown',
    trend({ breakdownFilter: { breakdown_type: 'hogql', breakdown: 'upper(event' } }),
    'hogql_syntax_error',
    "breakdownFilter.breakdown: mismatched input '(' expecting <EOF> (line 1, column 6)",
  ],
  [
    'sql-insight-002: a column of events that does not exist',
    { query: { kind: 'EventsQuery', select: ['event', 'evnt + 1'] } },
    'hogql_query_error',
    'select.1: Unable to resolve field: evnt (line 1, column 1)',
  ],
  [
    'sql-insight-003: a query for another database',
    withSql('SELECT 1', { connectionId: 'x' }),
    'invalid_input',
    'connectionId: Unknown field.',
  ],
  [
    'sql-insight-003: explain',
    withSql('SELECT 1', { explain: true }),
    'invalid_input',
    'explain: Only false is supported here.',
  ],
  [
    'sql-insight-003: an axis that is not a column',
    { query: { ...chart, chartSettings: { yAxis: ['orders'] } } },
    'invalid_input',
    'chartSettings.yAxis: Expected a list of objects with `column`.',
  ],
  [
    'sql-insight-003: a display that is not a string',
    { query: { ...chart, display: 5 } },
    'invalid_input',
    'display: Expected a text.',
  ],
])('returns 400 for an SQL insight: %s', async (_, body, code, detail) => {
  const refused = { status: 400, body: { code, attr: 'query', detail } };
  expect(await send('POST', 'insights', body)).toMatchObject(refused);
  const { id } = await made('insights', { query: source });
  expect(await send('PATCH', `insights/${id}`, body)).toMatchObject(refused);
  expect((await get(`insights/${id}/`)).body.query).toEqual(source);
});

test('sql-insight-011: returns 400 for a dashboard or a tile whose filter is not a valid expression', async () => {
  const filters = { properties: [{ type: 'hogql', key: "event = 'a' AND evnt" }] };
  const detail = 'properties.0.key: Unable to resolve field: evnt (line 1, column 17)';
  const refused = (attr: string) => ({ status: 400, body: { code: 'invalid_input', attr, detail } });
  expect(await send('POST', 'dashboards', { name: 'Refused', filters })).toMatchObject(refused('filters'));
  const { id } = await made('dashboards', { name: 'Stored' });
  expect(await send('PATCH', `dashboards/${id}`, { filters })).toMatchObject(refused('filters'));
  const tiles = [{ text: { body: 'Hello' }, filters_overrides: filters }];
  expect(await send('PATCH', `dashboards/${id}`, { tiles })).toMatchObject(refused('tiles__0__filters_overrides'));
});

test('sql-insight-004: lists only SQL insights with ?insight=SQL', async () => {
  const { id } = await made('insights', { name: 'only SQL', query: chart });
  const { body } = await get('insights/?insight=SQL&limit=1000');
  expect(body.results.map((one: { id: number }) => one.id)).toContain(id);
  expect((await get('insights/?insight=TRENDS')).body.count).toBe(0);
});

test('sql-insight-005: replaces {filters} with the dates and property filters of a dashboard', async () => {
  const properties = [{ key: 'plan', value: 'free', operator: 'exact', type: 'event' }];
  const filters = { date_from: '2026-11-11', date_to: '2026-11-13', properties };
  const { id: dashboard } = await made('dashboards', { name: 'Filtered', filters });
  const { id } = await made('insights', { query: chart, dashboards: [dashboard] });
  const without = await made('insights', {
    query: { kind: 'HogQLQuery', query: 'SELECT count() FROM events' },
    dashboards: [dashboard],
  });
  const { tiles } = (await get(`dashboards/${dashboard}/?refresh=blocking`)).body;
  const resultOf = (of: number) =>
    tiles.find(({ insight }: { insight: { id: number } }) => insight.id === of).insight.result;
  expect([resultOf(id), resultOf(without.id)]).toEqual([[['2026-11-12', 1]], [[3]]]);
  expect((await get(`insights/${id}/?refresh=blocking&from_dashboard=${dashboard}`)).body.result).toEqual([
    ['2026-11-12', 1],
  ]);
  expect((await get(`insights/${id}/?refresh=blocking`)).body.result).toEqual(wholeDays);
  const override = encodeURIComponent(JSON.stringify({ date_from: '2026-11-09', date_to: '2026-11-11' }));
  const overridden = (await get(`dashboards/${dashboard}/?refresh=blocking&filters_override=${override}`)).body.tiles;
  expect(overridden.map(({ insight }: { insight: { result: unknown } }) => insight.result)).toContainEqual([
    ['2026-11-10', 1],
  ]);
});

test('sql-insight-006: replaces the variables of an insight with those of the dashboard or the request', async () => {
  const variable = await made('insight_variables', {
    name: 'Wanted plan',
    type: 'List',
    values: ['free', 'paid'],
    default_value: 'free',
  });
  const [key, entry] = [variable.id, { variableId: variable.id, code_name: 'wanted_plan' }];
  const { id: dashboard } = await made('dashboards', { variables: { [key]: { ...entry, value: 'paid' } } });
  const query = {
    ...{ kind: 'HogQLQuery', query: 'SELECT count() FROM events WHERE properties.plan = {variables.wanted_plan}' },
    variables: { [key]: entry },
  };
  const { id } = await made('insights', { query, dashboards: [dashboard] });
  const countOf = async (path: string) => (await get(path)).body.result;
  expect(await countOf(`insights/${id}/?refresh=blocking`)).toEqual([[2]]);
  expect(await countOf(`insights/${id}/?refresh=blocking&from_dashboard=${dashboard}`)).toEqual([[1]]);
  const override = encodeURIComponent(JSON.stringify({ [key]: { ...entry, value: 'free' } }));
  const path = `dashboards/${dashboard}/?refresh=blocking`;
  const [plain, overridden] = [(await get(path)).body, (await get(`${path}&variables_override=${override}`)).body];
  expect([plain.tiles[0].insight.result, overridden.tiles[0].insight.result]).toEqual([[[1]], [[2]]]);
  expect(overridden).toMatchObject({
    variables: { [key]: { value: 'free' } },
    persisted_variables: { [key]: { value: 'paid' } },
  });
});

test('sql-insight-007: returns 400 for a dashboard variable whose value has the wrong type', async () => {
  const { id } = await made('insight_variables', { name: 'Least', type: 'Number', default_value: 1 });
  const { id: dashboard } = await made('dashboards', { name: 'Typed' });
  for (const [variables, detail] of [
    [{ [id]: { code_name: 'least', value: 'many' } }, `${id}: least is of the type Number. Expected a number.`],
    [{ [id]: 5 }, `${id}: Expected an object with \`code_name\` and \`value\`.`],
  ] as const)
    expect(await send('PATCH', `dashboards/${dashboard}`, { variables })).toMatchObject({
      status: 400,
      body: { attr: 'variables', detail },
    });
  const other = { x: { code_name: 'of another project', value: 1 } };
  expect(await send('PATCH', `dashboards/${dashboard}`, { variables: other })).toMatchObject({
    status: 200,
    body: { variables: other },
  });
});

test('sql-insight-008: returns errors only for the insights that use a deleted variable', async () => {
  const { id: variable } = await made('insight_variables', { name: 'Passing', type: 'Number', default_value: 1 });
  const { id: dashboard } = await made('dashboards', { variables: { [variable]: { code_name: 'passing', value: 2 } } });
  const using = await made('insights', {
    query: { kind: 'HogQLQuery', query: 'SELECT {variables.passing}' },
    dashboards: [dashboard],
  });
  await made('insights', { query: source, dashboards: [dashboard] });
  await api.send('DELETE', `${base}/insight_variables/${variable}/`, { key: acme.M.key });
  const { tiles } = (await get(`dashboards/${dashboard}/?refresh=blocking`)).body;
  for (const { insight } of tiles) {
    if (insight.id === using.id)
      expect(insight.query_status.error_message).toContain('Variable passing does not exist');
    else expect(insight.result).toEqual(wholeDays);
  }
  const unchanged = { name: 'Renamed', query: using.query };
  expect(await send('PATCH', `insights/${using.id}`, unchanged)).toMatchObject({
    status: 200,
    body: { name: 'Renamed' },
  });
});

async function fileOf(path: string): Promise<string[]> {
  const headers = { authorization: `Bearer ${acme.M.key}` };
  return (await (await fetch(`${api.url}${base}/${path}`, { headers })).text()).split('\r\n');
}

test('sql-insight-009: exports an SQL insight to a file with more rows than the cached result', async () => {
  const { id } = await made('insights', { query: { kind: 'HogQLQuery', query: 'SELECT arrayJoin(range(150)) AS n' } });
  expect((await get(`insights/${id}/?refresh=blocking`)).body).toMatchObject({
    hasMore: true,
    result: { length: 100 },
  });
  const lines = await fileOf(`insights/${id}/?format=csv`);
  expect([lines.length, lines[0], lines[150]]).toEqual([152, 'n', '149']);
  expect((await get(`insights/${id}/`)).body.result).toHaveLength(100);
  const limited = await made('insights', {
    query: { kind: 'HogQLQuery', query: 'SELECT arrayJoin(range(150)) AS n LIMIT 3' },
  });
  expect(await fileOf(`insights/${limited.id}/?format=csv`)).toEqual(['n', '0', '1', '2', '']);
});

test('sql-insight-010: shows the rows, the chart or the number of an SQL insight in a report preview', async () => {
  const preview = async (query: object, format = '') => {
    const { id } = await made('insights', { name: 'Orders', query });
    const path = `${base}/subscriptions/preview/?insight=${id}${format}`;
    return api.get(path, acme.M.key);
  };
  const table = (await preview({ kind: 'DataTableNode', source })).body;
  expect(table.insights[0]).toMatchObject({
    query_kind: 'HogQLQuery',
    figures: [],
    table: { columns: ['day', 'orders'], rows: wholeDays },
  });
  expect(table.text).toContain('day         orders\n2026-11-10  1\n2026-11-12  2');
  const number = {
    ...chart,
    display: 'BoldNumber',
    source: { kind: 'HogQLQuery', query: 'SELECT count() AS orders FROM events' },
  };
  const figure = (await preview(number)).body;
  expect(figure.insights[0].figures).toMatchObject([{ label: 'orders', value: 3 }]);
  expect(figure.text).toContain('orders: 3');
});
