import { isDeepStrictEqual } from 'node:util';
import { isObject } from '@millrace/contracts';
import { createActors, type OrganizationActors } from '../../testing/organization-actors.ts';
import { startTestApi, type TestApi } from '../../testing/start-test-api.ts';

/**
 * These tests send the same requests as PostHog's Terraform provider, and compare the responses as the provider does. A
 * plan lists what the provider would change.
 */
let api: TestApi;
let acme: OrganizationActors;
beforeAll(async () => {
  api = await startTestApi();
});
afterAll(() => api.stop());
beforeEach(async () => {
  acme = await createActors(api.database);
});

type Json = Record<string, unknown>;

async function send(method: 'GET' | 'POST' | 'PATCH', path: string, body?: object) {
  const response = await api.send(method, `/api/projects/${acme.projectId}/${path}/`, {
    key: acme.M.key,
    ...(body !== undefined && { body }),
  });
  return { status: response.status, body: response.body };
}
async function ok(method: 'GET' | 'POST' | 'PATCH', path: string, body?: object) {
  const response = await send(method, path, body);
  expect([method, path, response.status, response.body?.detail]).toEqual([
    ...[method, path, method === 'POST' ? 201 : 200, undefined],
  ]);
  return response.body;
}

interface InsightConfig {
  name?: string;
  description?: string;
  query_json: string;
  tags?: string[];
  dashboard_ids?: number[];
}

/** Like the provider, omits empty lists. An empty string clears a field. */
function insightBody({ name, description, query_json, tags = [], dashboard_ids = [] }: InsightConfig): Json {
  return {
    ...(name !== undefined && { name }),
    ...(description !== undefined && { description }),
    query: JSON.parse(query_json),
    ...(tags.length > 0 && { tags }),
    ...(dashboard_ids.length > 0 && { dashboards: dashboard_ids }),
  };
}

/** Like the provider, keeps only the keys that the user wrote. Compares lists by position. */
function cutDown(response: unknown, written: unknown): unknown {
  if (isObject(response) && isObject(written)) {
    const keys = Object.keys(written).filter((key) => Object.hasOwn(response, key));
    return Object.fromEntries(keys.map((key) => [key, cutDown(response[key], written[key])]));
  }
  if (!Array.isArray(response) || !Array.isArray(written)) return response;
  return response.map((item, at) => (at < written.length ? cutDown(item, written[at]) : item));
}

const orNull = (text: unknown) => (typeof text === 'string' && text.trim() !== '' ? text : null);
const asSet = (list: unknown) => (Array.isArray(list) ? [...list].sort() : list);

/** @returns the fields that differ from the configuration, or null if the insight was deleted */
async function planInsight(id: number, config: InsightConfig): Promise<string[] | null> {
  const { status, body } = await send('GET', `insights/${id}`);
  if (status === 404) return null;
  const written = JSON.parse(config.query_json);
  const pairs: Record<string, [unknown, unknown]> = {
    name: [orNull(body.name), orNull(config.name)],
    derived_name: [orNull(body.derived_name), null],
    description: [orNull(body.description), orNull(config.description)],
    query_json: [cutDown(body.query, written), written],
    tags: [asSet(body.tags), asSet(config.tags ?? [])],
    dashboard_ids: [asSet(body.dashboards), asSet(config.dashboard_ids ?? body.dashboards)],
    deleted: [body.deleted, false],
  };
  return Object.keys(pairs).filter((name) => !isDeepStrictEqual(pairs[name]?.[0], pairs[name]?.[1]));
}

const sourceOf = (kind: string, more: object = {}) => ({
  kind: 'InsightVizNode',
  full: true,
  source: { kind, ...more },
});
const trends = sourceOf('TrendsQuery', {
  series: [{ kind: 'EventsNode', event: '$pageview', math: 'dau', math_multiplier: 1.0, properties: null }],
  trendsFilter: { formula: 'A * 2', display: 'ActionsLineGraph' },
  dateRange: { date_from: '-30d' },
  breakdownFilter: { breakdowns: [{ property: 'b' }, { property: 'a' }] },
});

test.each([
  ['trends', trends],
  [
    'a funnel',
    sourceOf('FunnelsQuery', { series: [{ event: 'a' }, { event: 'b' }], funnelsFilter: { funnelVizType: 'steps' } }),
  ],
  ['retention', sourceOf('RetentionQuery', { retentionFilter: { period: 'Week', totalIntervals: 8 } })],
  ['lifecycle', sourceOf('LifecycleQuery', { series: [{ event: 'a', kind: 'EventsNode' }] })],
  ['paths', sourceOf('PathsQuery', { pathsFilter: { includeEventTypes: ['$pageview'] } })],
])("insight-283: Terraform's plan is empty after apply, and destroy deletes the insight: %s", async (_what, query) => {
  const config = { name: 'Sign-ups', query_json: JSON.stringify(query), tags: ['managed-by:terraform', 'B', 'a'] };
  const { id, deleted } = await ok('POST', 'insights', { ...insightBody(config), _create_in_folder: 'Unfiled' });
  expect([typeof id, deleted]).toEqual(['number', false]);
  expect(await planInsight(id, config)).toEqual([]);
  await ok('PATCH', `insights/${id}`, { deleted: true });
  expect(await planInsight(id, config)).toBeNull();
});

test('insight-284, insight-285: applies changed values and fewer tags in one request, so that the plan is empty', async () => {
  const config = { name: 'One', description: 'x', query_json: JSON.stringify(trends), tags: ['a', 'b'] };
  const { id } = await ok('POST', 'insights', insightBody(config));
  const query = { ...trends, source: { ...trends.source, dateRange: { date_from: '-90d' } } };
  const changed = { query_json: JSON.stringify(query), tags: ['b'] };
  expect(await planInsight(id, changed)).toEqual(['name', 'description', 'query_json', 'tags']);
  const response = await ok('PATCH', `insights/${id}`, {
    name: '',
    description: '',
    ...insightBody(changed),
    deleted: false,
  });
  expect(response).toMatchObject({ deleted: false, derived_name: null });
  expect(await planInsight(id, changed)).toEqual([]);
});

interface DashboardConfig {
  name: string;
  description?: string;
  pinned?: boolean;
  tags?: string[];
}

async function planDashboard(id: number, config: DashboardConfig): Promise<string[] | null> {
  const { status, body } = await send('GET', `dashboards/${id}`);
  if (status === 404) return null;
  const pairs: Record<string, [unknown, unknown]> = {
    name: [body.name, config.name],
    description: [orNull(body.description), orNull(config.description)],
    pinned: [body.pinned, config.pinned ?? body.pinned],
    isPinnedKnown: [typeof body.pinned, 'boolean'],
    deleted: [body.deleted, false],
    tags: [asSet(body.tags), asSet(config.tags ?? [])],
  };
  return Object.keys(pairs).filter((name) => !isDeepStrictEqual(pairs[name]?.[0], pairs[name]?.[1]));
}

interface LayoutTile {
  insight_id?: number;
  text_body?: string;
  layouts_json?: string;
  color?: string;
  show_description?: boolean | null;
}
interface AnsweredTile {
  id: number;
  insight: { id: number } | null;
  text: { body: string } | null;
  layouts: Json;
  color: string | null;
  show_description: boolean | null;
}

/**
 * Matches the tiles in the configuration with the tiles in a response by content. Several tiles with the same text are
 * matched in order.
 */
function matched(tiles: AnsweredTile[], config: LayoutTile[]) {
  const left = [...tiles];
  return config.map((wanted) => {
    const at = left.findIndex(({ insight, text }) =>
      wanted.insight_id === undefined ? text?.body === wanted.text_body : insight?.id === wanted.insight_id,
    );
    return { wanted, found: at < 0 ? undefined : left.splice(at, 1)[0] };
  });
}

async function applyLayout(dashboard: number, config: LayoutTile[]): Promise<AnsweredTile[]> {
  const before: AnsweredTile[] = (await ok('GET', `dashboards/${dashboard}`)).tiles;
  for (const { insight_id: insight } of config) {
    if (insight === undefined || before.some((tile) => tile.insight?.id === insight)) continue;
    const { dashboards } = await ok('GET', `insights/${insight}`);
    const placed = await ok('PATCH', `insights/${insight}`, { dashboards: [...dashboards, dashboard] });
    expect(placed.dashboards).toContain(dashboard);
  }
  const tiles: AnsweredTile[] = (await ok('GET', `dashboards/${dashboard}`)).tiles;
  const pairs = matched(tiles, config);
  const named = new Set(pairs.map(({ found }) => found?.id));
  const sent = [
    ...pairs.map(({ wanted, found }) => ({
      ...(found && { id: found.id }),
      ...(wanted.layouts_json !== undefined && { layouts: JSON.parse(wanted.layouts_json) }),
      color: wanted.color ?? '',
      show_description: wanted.show_description ?? null,
      ...(wanted.text_body !== undefined && { text: { body: wanted.text_body } }),
    })),
    ...tiles
      .filter(({ id }) => !named.has(id))
      .map(({ id, text }) =>
        text
          ? { id, color: '', show_description: null, deleted: true }
          : { id, layouts: {}, color: '', show_description: null },
      ),
  ];
  await ok('PATCH', `dashboards/${dashboard}`, { tiles: sent });
  return (await ok('GET', `dashboards/${dashboard}`)).tiles;
}

async function planLayout(dashboard: number, config: LayoutTile[]): Promise<unknown[]> {
  const tiles: AnsweredTile[] = (await ok('GET', `dashboards/${dashboard}`)).tiles;
  return matched(tiles, config).flatMap(({ wanted, found }) => {
    const isSame =
      found !== undefined &&
      JSON.stringify(found.layouts) === (wanted.layouts_json ?? '{}') &&
      (found.color ?? '') === (wanted.color ?? '') &&
      found.show_description === (wanted.show_description ?? null);
    return isSame ? [] : [{ wanted, found }];
  });
}

async function setUp() {
  const board = { name: 'Growth', tags: ['x'] };
  const { id, pinned, deleted } = await ok('POST', 'dashboards', board);
  expect([pinned, deleted]).toEqual([false, false]);
  const query_json = JSON.stringify(trends);
  const one = (await ok('POST', 'insights', insightBody({ name: 'One', query_json }))).id;
  const two = (await ok('POST', 'insights', insightBody({ name: 'Two', query_json }))).id;
  const layout: LayoutTile[] = [
    {
      insight_id: one,
      layouts_json: '{"sm":{"x":0,"y":0,"w":6,"h":5.5},"xs":{"y":0,"x":0,"w":1,"h":5}}',
      color: 'blue',
    },
    { insight_id: two, layouts_json: '{"sm":{"x":6,"y":0,"w":6,"h":5}}', show_description: true },
    { text_body: ' ## Notes\n', layouts_json: '{"sm":{"h":2,"w":12,"x":0,"y":5}}' },
  ];
  return { id, board, one, two, layout, query_json };
}

test('insight-286: the plan is empty for a dashboard with insights, a text and a layout, and destroy deletes it', async () => {
  const { id, board, one, two, layout, query_json } = await setUp();
  await applyLayout(id, layout);
  expect(await planLayout(id, layout)).toEqual([]);
  expect(await planDashboard(id, board)).toEqual([]);
  for (const [insight, name] of [
    [one, 'One'],
    [two, 'Two'],
  ]) {
    expect(await planInsight(insight, { name, query_json, dashboard_ids: [id] })).toEqual([]);
  }
  const ids = (await ok('GET', `dashboards/${id}`)).tiles.map((tile: AnsweredTile) => tile.id);
  await ok('PATCH', `dashboards/${id}`, { ...board, pinned: true, deleted: false });
  expect(await planDashboard(id, { ...board, pinned: true })).toEqual([]);
  const now: AnsweredTile[] = (await ok('GET', `dashboards/${id}`)).tiles;
  expect(now.map((tile) => tile.id)).toEqual(ids);
  // Terraform deletes the layout first, and then the insights and the dashboard.
  const tiles = now.map(({ id: tile, text }) => (text ? { id: tile, deleted: true } : { id: tile, layouts: {} }));
  await ok('PATCH', `dashboards/${id}`, { tiles });
  const left: AnsweredTile[] = (await ok('GET', `dashboards/${id}`)).tiles;
  expect(left.map((tile) => [tile.insight?.id, tile.layouts])).toEqual([
    [one, {}],
    [two, {}],
  ]);
  for (const path of [`insights/${one}`, `insights/${two}`, `dashboards/${id}`]) {
    await ok('PATCH', path, { deleted: true });
    expect((await send('GET', path)).status).toBe(404);
  }
});

test('insight-287: Terraform deletes a text and the layout of an insight that were added in the console', async () => {
  const { id, layout, query_json } = await setUp();
  await applyLayout(id, layout);
  const byHand = { name: 'By hand', query_json, dashboard_ids: [id] };
  const { id: extra } = await ok('POST', 'insights', insightBody(byHand));
  await ok('PATCH', `dashboards/${id}`, { tiles: [{ text: { body: 'by hand' } }] });
  const before: AnsweredTile[] = (await ok('GET', `dashboards/${id}`)).tiles;
  const tile = before.find(({ insight }) => insight?.id === extra);
  await ok('PATCH', `dashboards/${id}`, { tiles: [{ id: tile?.id, layouts: { sm: { x: 0, y: 9, w: 1, h: 1 } } }] });
  const after = await applyLayout(id, layout);
  expect(after.map(({ text }) => text?.body).filter((body) => body !== undefined)).toEqual([' ## Notes\n']);
  expect(after.find(({ insight }) => insight?.id === extra)).toMatchObject({ id: tile?.id, layouts: {} });
  expect(await planLayout(id, layout)).toEqual([]);
});

test('Terraform keeps separate tiles for two texts with the same body', async () => {
  const { id } = await ok('POST', 'dashboards', { name: 'Texts' });
  const layout = [0, 5].map((y) => ({ text_body: 'same', layouts_json: `{"sm":{"x":0,"y":${y},"w":6,"h":5}}` }));
  const first = await applyLayout(id, layout);
  const again = await applyLayout(id, layout);
  expect(again.map((tile) => [tile.id, tile.layouts])).toEqual(first.map((tile) => [tile.id, tile.layouts]));
  expect(new Set(first.map((tile) => tile.id)).size).toBe(2);
  expect(await planLayout(id, layout)).toEqual([]);
});

test("insight-288: Terraform's plan is empty after an import", async () => {
  const { id, board, one, query_json } = await setUp();
  const read = await ok('GET', `insights/${one}`);
  const imported = { name: read.name, query_json: JSON.stringify(read.query), tags: read.tags };
  expect(JSON.stringify(read.query)).toBe(query_json);
  expect(await planInsight(one, imported)).toEqual([]);
  expect(await planDashboard(id, board)).toEqual([]);
});

test('insight-289: Terraform creates resources again that were deleted without Terraform', async () => {
  const { id, board, one, query_json } = await setUp();
  await ok('PATCH', `insights/${one}`, { deleted: true });
  await ok('PATCH', `dashboards/${id}`, { deleted: true });
  expect([await planInsight(one, { query_json }), await planDashboard(id, board)]).toEqual([null, null]);
});
