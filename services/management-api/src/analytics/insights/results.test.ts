/** These tests check the results of insights and dashboards. Results are cached or computed for the request. */

import { createActors, type OrganizationActors } from '../../testing/organization-actors.ts';
import { startTestApi, type TestApi } from '../../testing/start-test-api.ts';
import { createMonths, storeEvent, storePerson } from '../../testing/stored-data.ts';

let api: TestApi;
let acme: OrganizationActors;
let base: string;
beforeAll(async () => {
  api = await startTestApi();
  await createMonths(api.database.sql, '2026-11', '2026-11');
});
afterAll(() => api.stop());
beforeEach(async () => {
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

const get = (path: string, key = acme.M.key) => api.get(`${base}/${path}`, key);
async function made(kind: 'dashboards' | 'insights', body: object) {
  const response = await api.send('POST', `${base}/${kind}/`, { key: acme.M.key, body });
  expect([response.status, response.body.detail]).toEqual([201, undefined]);
  return response.body;
}
const source = {
  kind: 'TrendsQuery',
  dateRange: { date_from: '2026-11-10', date_to: '2026-11-12' },
  series: [{ kind: 'EventsNode', event: 'order' }],
};
const query = { kind: 'InsightVizNode', source };
const paid = [{ key: 'plan', value: 'paid', operator: 'exact', type: 'event' }];
const dataOf = ({ result }: { result: { data: number[] }[] | null }) => result?.map(({ data }) => data) ?? null;

test("insight-247, insight-248, insight-249: computes an insight's result only on request, and then caches it", async () => {
  const { id } = await made('insights', { query });
  const before = (await get(`insights/${id}/`)).body;
  expect(before).toMatchObject({ result: null, is_cached: false, last_refresh: null, filters_hash: null });
  const computed = (await get(`insights/${id}/?refresh=blocking`)).body;
  expect(computed).toMatchObject({
    ...{ is_cached: false, last_refresh: expect.stringMatching(/Z$/), timezone: 'UTC', query_status: null },
    filters_hash: expect.stringMatching(/^cache_/),
  });
  expect(dataOf(computed)).toEqual([[1, 0, 2]]);
  expect((await get(`insights/${id}/`)).body).toEqual({ ...computed, is_cached: true });
});

test.each<[string, boolean]>([
  ['true', true],
  ['TRUE', true],
  ['force_blocking', true],
  ['blocking', false],
  ['false', false],
  ['nonsense', false],
])('decides with refresh=%s whether to compute a cached result again: %s', async (refresh, isComputed) => {
  const { id } = await made('insights', { query });
  await get(`insights/${id}/?refresh=blocking`);
  expect((await get(`insights/${id}/?refresh=${refresh}`)).body.is_cached).toBe(!isComputed);
});

test('includes cached insight results in lists on request, and never computes results for lists', async () => {
  const { id } = await made('insights', { query });
  const list = async (parameters: string) => (await get(`insights/?${parameters}`)).body.results;
  expect((await list('refresh=force_blocking')).map(dataOf)).toEqual([null]);
  await get(`insights/${id}/?refresh=blocking`);
  expect((await list('refresh=force_cache')).map(dataOf)).toEqual([[[1, 0, 2]]]);
  expect((await list('')).map(dataOf)).toEqual([null]);
  expect((await list('refresh=force_cache&basic=true'))[0].result).toBeUndefined();
});

test('computes an insight in the background', async () => {
  const { id } = await made('insights', { query });
  const { status, body } = await get(`insights/${id}/?refresh=async`);
  expect([status, body]).toMatchObject([200, { result: null, query_status: { insight_id: id, complete: false } }]);
  expect((await get(`query/${body.query_status.id}/`)).status).toBeLessThan(300);
});

test('returns an error for an insight with an unsupported query only if the result is requested', async () => {
  const { id } = await made('insights', { query: { kind: 'StickinessQuery' } });
  expect(await get(`insights/${id}/`)).toMatchObject({ status: 200, body: { result: null } });
  expect(await get(`insights/${id}/?refresh=true`)).toMatchObject({
    status: 400,
    body: { attr: 'query', detail: expect.stringMatching(/^kind: "StickinessQuery"/) },
  });
});

test("insight-265: with from_dashboard, applies the dashboard's filters to an insight", async () => {
  const board = await made('dashboards', {
    name: 'Board',
    filters: { date_from: '2026-11-12', date_to: '2026-11-12' },
  });
  const { id } = await made('insights', { query, dashboards: [board.id] });
  const { body } = await get(`insights/${id}/?from_dashboard=${board.id}&refresh=blocking`);
  expect(body.query.source.dateRange).toEqual({ date_from: '2026-11-12', date_to: '2026-11-12' });
  expect(dataOf(body)).toEqual([[2]]);
  expect(dataOf((await get(`insights/${id}/?refresh=blocking`)).body)).toEqual([[1, 0, 2]]);
  const override = encodeURIComponent(JSON.stringify({ date_from: '2026-11-10', date_to: '2026-11-10' }));
  const overridden = await get(`insights/${id}/?from_dashboard=${board.id}&filters_override=${override}&refresh=true`);
  expect(dataOf(overridden.body)).toEqual([[1]]);
});

test.each<[string, string, string]>([
  ['a dashboard that the insight is not on', 'from_dashboard=2000000000', 'from_dashboard'],
  ['filters that are not JSON', 'filters_override={', 'filters_override'],
  ['filters that are a list', 'filters_override=[]', 'filters_override'],
])('returns 400 for the result of an insight with %s', async (_, asked, attr) => {
  const { id } = await made('insights', { query });
  expect(await get(`insights/${id}/?${asked}`)).toMatchObject({ status: 400, body: { attr } });
});

interface ShownTile {
  filters_overrides: object | null;
  insight: { id: number; query: { source: object }; result: { data: number[] }[] | null; query_status: object | null };
  last_refresh: string | null;
  is_cached: boolean;
}

test("insight-277: applies a dashboard's filters to each insight whose tile has no filters", async () => {
  const board = await made('dashboards', { name: 'Board', filters: { properties: paid } });
  const first = await made('insights', { query, dashboards: [board.id] });
  const second = await made('insights', { query: source, dashboards: [board.id] });
  const tiles: ShownTile[] = (await get(`dashboards/${board.id}/?refresh=blocking`)).body.tiles;
  expect(tiles.map(({ insight }) => [insight.id, dataOf(insight)])).toEqual([
    [first.id, [[0, 0, 1]]],
    [second.id, [[0, 0, 1]]],
  ]);
  expect(tiles[0]?.insight.query.source).toMatchObject({ properties: paid });
  const own = { date_from: '2026-11-10', date_to: '2026-11-10' };
  const change = { tiles: [{ id: first.dashboard_tiles[0].id, filters_overrides: own }] };
  await api.send('PATCH', `${base}/dashboards/${board.id}/`, { key: acme.M.key, body: change });
  const after = (await get(`dashboards/${board.id}/?refresh=blocking`)).body;
  expect(after.tiles.map(({ insight }: ShownTile) => dataOf(insight))).toEqual([[[1]], [[0, 0, 1]]]);
  expect(after.last_refresh).toBe(after.tiles[1].last_refresh);
  const kept = (await get(`dashboards/${board.id}/`)).body.tiles;
  expect(kept.map(({ is_cached }: ShownTile) => is_cached)).toEqual([true, true]);
  const override = encodeURIComponent(JSON.stringify({ date_from: '2026-11-12', date_to: '2026-11-12' }));
  const overridden = (await get(`dashboards/${board.id}/?refresh=blocking&filters_override=${override}`)).body;
  expect(overridden).toMatchObject({ filters: { date_from: '2026-11-12' }, persisted_filters: { properties: paid } });
  expect(overridden.tiles.map(({ insight }: ShownTile) => dataOf(insight))).toEqual([[[1]], [[2]]]);
});

test("insight-278: returns a dashboard's other results if one insight fails", async () => {
  const board = await made('dashboards', { name: 'Board' });
  await made('insights', { query: { kind: 'StickinessQuery' }, dashboards: [board.id] });
  await made('insights', { query, dashboards: [board.id] });
  const { status, body } = await get(`dashboards/${board.id}/?refresh=true`);
  expect(status).toBe(200);
  expect(body.tiles.map(({ insight }: ShownTile) => [dataOf(insight), insight.query_status])).toEqual([
    [null, { complete: true, error: true, error_message: expect.stringMatching(/^kind: "StickinessQuery"/) }],
    [[[1, 0, 2]], null],
  ]);
});

test('computes a dashboard with eight tiles, although a project can run only three queries concurrently', async () => {
  const board = await made('dashboards', { name: 'Board' });
  for (let tile = 0; tile < 8; tile += 1) await made('insights', { query, dashboards: [board.id] });
  const { body } = await get(`dashboards/${board.id}/?refresh=force_blocking`);
  expect(body.tiles.map(({ insight }: ShownTile) => dataOf(insight))).toEqual(Array(8).fill([[1, 0, 2]]));
});

test.each<[string, object, string]>([
  ['a series', source, 'time,order\r\n2026-11-10,1\r\n2026-11-11,0\r\n2026-11-12,2\r\n'],
  [
    'a breakdown',
    { ...source, breakdownFilter: { breakdown: 'plan' } },
    'time,free,paid\r\n2026-11-10,1,0\r\n2026-11-11,0,0\r\n2026-11-12,1,1\r\n',
  ],
  ['a total', { ...source, trendsFilter: { display: 'BoldNumber' } }, 'series,value\r\norder,3\r\n'],
  [
    'a funnel',
    {
      kind: 'FunnelsQuery',
      dateRange: source.dateRange,
      series: [
        { kind: 'EventsNode', event: 'order', custom_name: 'Order, "the first"' },
        { kind: 'EventsNode', event: 'order' },
        { kind: 'EventsNode', event: 'refund' },
      ],
    },
    'step,event,count,percent of the first,average seconds,median seconds\r\n1,"Order, ""the first""",1,100,,\r\n2,order,1,100,172800,172800\r\n3,refund,0,0,,\r\n',
  ],
  [
    'retention',
    {
      kind: 'RetentionQuery',
      dateRange: { date_to: '2026-11-12' },
      retentionFilter: {
        totalIntervals: 3,
        targetEntity: { id: 'order', type: 'events' },
        returningEntity: { id: 'order', type: 'events' },
      },
    },
    'begin,Day 0,Day 1,Day 2\r\n2026-11-10T00:00:00Z,1,0,1\r\n2026-11-11T00:00:00Z,0,0,0\r\n2026-11-12T00:00:00Z,1,0,0\r\n',
  ],
  [
    'rows',
    {
      ...{ kind: 'EventsQuery', select: ['event', 'properties.plan'], orderBy: ['properties.plan'] },
      ...{ after: '2026-11-12', before: '2026-11-13' },
    },
    'event,properties.plan\r\norder,free\r\norder,paid\r\n',
  ],
])('returns the result of an insight as CSV: %s', async (_, asked, file) => {
  const { id, short_id } = await made('insights', { query: asked });
  const headers = { authorization: `Bearer ${acme.M.key}`, 'content-type': 'application/json' };
  const response = await fetch(`${api.url}${base}/insights/${id}/?refresh=true&format=csv`, { headers });
  expect([response.headers.get('content-type'), response.headers.get('content-disposition')]).toEqual([
    'text/csv; charset=utf-8',
    `attachment; filename="insight-${short_id}.csv"`,
  ]);
  expect(await response.text()).toBe(file);
  const body = JSON.stringify({ query: asked });
  const again = await fetch(`${api.url}${base}/query/?format=csv`, { method: 'POST', headers, body });
  expect(await again.text()).toBe(file);
});

it('does not write event values to CSV files as spreadsheet formulas', async () => {
  const [timestamp, personId] = [
    '2026-11-11T12:00:00Z',
    await storePerson(api.database.sql, acme.projectId, { distinctIds: ['eve'] }),
  ];
  const properties = { plan: '=HYPERLINK("https://evil.example","Open")' };
  await storeEvent(api.database.sql, acme.projectId, { event: '@SUM(A1)', personId, timestamp, properties });
  const rows = { kind: 'EventsQuery', select: ['event', 'properties.plan'], after: '2026-11-11', before: '2026-11-12' };
  const series = { ...source, series: [{ kind: 'EventsNode' }], breakdownFilter: { breakdown: 'plan' } };
  for (const query of [rows, series]) {
    const headers = { authorization: `Bearer ${acme.M.key}`, 'content-type': 'application/json' };
    const body = JSON.stringify({ query });
    const response = await fetch(`${api.url}${base}/query/?format=csv`, { method: 'POST', headers, body });
    const text = await response.text();
    expect(text).toContain(`"'=HYPERLINK(""https://evil.example"",""Open"")"`);
    expect(text).not.toMatch(/(^|,)"?[=@]/m);
  }
});

it.each(['\\x00', '\\p{L}', '[^]', 'a{256}'])(
  'returns 400 for the regular expression %s, which not every database supports',
  async (value) => {
    const properties = [{ key: 'plan', value, operator: 'regex', type: 'event' }];
    const body = { query: { ...source, properties } };
    const response = await api.send('POST', `${base}/query/`, { key: acme.M.key, body });
    expect(response).toMatchObject({ status: 400, body: { detail: expect.stringContaining('properties.0.value') } });
  },
);

test('does not return results of an insight to another organization', async () => {
  const { id } = await made('insights', { query });
  await get(`insights/${id}/?refresh=blocking`);
  const other = await createActors(api.database);
  const theirs = await api.send('POST', `/api/projects/${other.projectId}/insights/`, {
    key: other.M.key,
    body: { query },
  });
  const shown = await api.get(`/api/projects/${other.projectId}/insights/${theirs.body.id}/`, other.M.key);
  expect(shown.body).toMatchObject({ result: null, is_cached: false });
});
