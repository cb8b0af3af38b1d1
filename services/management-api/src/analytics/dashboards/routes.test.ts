import { notFound, permissionDenied, validationError } from '../../testing/expected-errors.ts';
import { createActors, type OrganizationActors } from '../../testing/organization-actors.ts';
import { startTestApi, type TestApi } from '../../testing/start-test-api.ts';

let api: TestApi;
let acme: OrganizationActors;
let base: string;
beforeAll(async () => {
  api = await startTestApi();
});
afterAll(() => api.stop());
beforeEach(async () => {
  acme = await createActors(api.database);
  base = `/api/projects/${acme.projectId}`;
});

interface Tile {
  id: number;
  insight: { id: number; name: string } | null;
  text: { body: string } | null;
  layouts: object;
}
const send = (method: 'POST' | 'PATCH' | 'DELETE', path: string, body: object = {}, key = acme.M.key) =>
  api.send(method, `${base}/${path}/`, { key, body });
const change = (id: number, body: object, key?: string) => send('PATCH', `dashboards/${id}`, body, key);
const read = (id: number) => api.get(`${base}/dashboards/${id}/`, acme.M.key);
const tilesOf = async (id: number): Promise<Tile[]> => (await read(id)).body.tiles;
const query = { kind: 'TrendsQuery', series: [{ kind: 'EventsNode', event: 'sign up' }] };
async function made(kind: 'dashboards' | 'insights', body: object = {}) {
  const response = await send('POST', kind, kind === 'insights' ? { query, ...body } : body);
  expect([response.status, response.body.detail]).toEqual([201, undefined]);
  return response.body;
}
const board = async (body: object = { name: 'Board' }): Promise<number> => (await made('dashboards', body)).id;
const insight = async (...dashboards: number[]): Promise<number> =>
  (await made('insights', { name: `i${Math.random()}`, dashboards })).id;
const insightsOn = async (id: number) => (await tilesOf(id)).map((tile) => tile.insight?.id ?? null);
const place = (x: number, y: number) => ({ layouts: { sm: { x, y, w: 6, h: 5 } } });

describe.each(['projects', 'environments'])('dashboard routes under %s', (family) => {
  test('insight-266: returns the same fields when a dashboard is created, read and listed', async () => {
    const where = `/api/${family}/${acme.projectId}/dashboards/`;
    const created = await api.send('POST', where, { key: acme.M.key, body: { name: ' Growth ', tags: ['b', 'A'] } });
    const basic = {
      id: expect.any(Number),
      name: 'Growth',
      description: '',
      pinned: false,
      created_at: expect.stringMatching(/Z$/),
      created_by: expect.objectContaining({ email: acme.M.email }),
      last_accessed_at: null,
      last_viewed_at: null,
      last_refresh: null,
      is_shared: false,
      deleted: false,
      creation_mode: 'default',
      tags: ['b', 'A'],
      restriction_level: 21,
      effective_restriction_level: 21,
      effective_privilege_level: 37,
      user_access_level: 'editor',
      access_control_version: 'v2',
      team_id: acme.projectId,
      tiles: null,
    };
    const full = {
      ...basic,
      filters: {},
      variables: null,
      persisted_filters: {},
      persisted_variables: null,
      breakdown_colors: null,
      data_color_theme_id: null,
      quick_filter_ids: null,
      tiles: [],
    };
    expect(created).toMatchObject({ status: 201, body: full });
    expect(Object.keys(created.body).sort()).toEqual(Object.keys(full).sort());
    const list = (await api.get(where, acme.M.key)).body;
    expect(list).toMatchObject({ count: 1, results: [basic] });
    expect(Object.keys(list.results[0]).sort()).toEqual(Object.keys(basic).sort());
    const shown = (await api.get(`${where}${created.body.id}/`, acme.M.key)).body;
    const at = expect.stringMatching(/Z$/);
    expect(shown).toEqual({ ...created.body, last_accessed_at: at, last_viewed_at: at });
  });
});

test('keeps dashboard fields that a request omits, and clears fields that are null', async () => {
  const variables = { a: { code_name: 'plan', value: 'pro' } };
  const id = await board({ name: 'One', description: 'about', filters: { date_from: '-30d' }, variables });
  expect((await change(id, { pinned: true })).body).toMatchObject({
    name: 'One',
    description: 'about',
    pinned: true,
    filters: { date_from: '-30d' },
    variables,
  });
  expect((await change(id, { name: null, description: null, filters: null, variables: null })).body).toMatchObject({
    name: null,
    description: '',
    pinned: true,
    filters: {},
    variables: null,
  });
});

test('insight-267: returns 405 for DELETE of a dashboard', async () => {
  const id = await board();
  expect((await send('DELETE', `dashboards/${id}`)).status).toBe(405);
  expect((await read(id)).status).toBe(200);
});

test('insight-255, insight-256: adds an insight to the dashboards in `dashboards`, and restores its former layout', async () => {
  const [id, other] = [await board(), await board()];
  const one = await insight();
  const placed = await send('PATCH', `insights/${one}`, { dashboards: [id, other] });
  const [tile] = await tilesOf(id);
  expect(placed.body.dashboards).toEqual([id, other]);
  expect(placed.body.dashboard_tiles[0]).toEqual({ id: tile?.id, dashboard_id: id, deleted: false });
  expect(tile).toMatchObject({ insight: { id: one }, text: null, layouts: {} });
  await change(id, { tiles: [{ id: tile?.id, ...place(3, 4), color: 'blue' }] });
  expect((await send('PATCH', `insights/${one}`, { dashboards: [] })).body.dashboards).toEqual([]);
  expect([await tilesOf(id), await tilesOf(other)]).toEqual([[], []]);
  await send('PATCH', `insights/${one}`, { dashboards: [id] });
  expect(await tilesOf(id)).toMatchObject([{ id: tile?.id, ...place(3, 4), color: 'blue' }]);
});

test.each([
  ['insight-257: a dashboard of another project', async () => (await theirs()).id],
  ['a dashboard that does not exist', async () => 2_000_000_000],
  [
    'a deleted dashboard',
    async () => {
      const id = await board();
      await change(id, { deleted: true });
      return id;
    },
  ],
])('returns 400 for adding an insight to a dashboard: %s', async (_what, find) => {
  const [id, own] = [await find(), await board()];
  const one = await insight(own);
  const refused = validationError('does_not_exist', 'dashboards', `Invalid pk "${id}" - object does not exist.`);
  expect(await send('PATCH', `insights/${one}`, { dashboards: [id] })).toMatchObject(refused);
  expect(await send('POST', 'insights', { query, dashboards: [id] })).toMatchObject(refused);
  expect(await insightsOn(own)).toEqual([one]);
});

async function theirs() {
  const { projectId, personalApiKey: key } = acme.off;
  const path = `/api/projects/${projectId}/dashboards/`;
  const { id } = (await api.send('POST', path, { key, body: { name: 'Theirs' } })).body;
  const body = { tiles: [{ text: { body: 'secret' } }] };
  const [tile] = (await api.send('PATCH', `${path}${id}/`, { key, body })).body.tiles;
  const read = async () => (await api.get(`${path}${id}/`, key)).body.tiles;
  return { id, tile, read };
}

test('insight-252, insight-253: removes the tiles of a deleted insight, and does not restore them with the insight', async () => {
  const id = await board();
  const [one, two] = [await insight(id), await insight(id)];
  await send('PATCH', `insights/${one}`, { deleted: true });
  expect(await insightsOn(id)).toEqual([two]);
  expect((await send('PATCH', `insights/${one}`, { deleted: false })).body.dashboards).toEqual([]);
  expect(await insightsOn(id)).toEqual([two]);
});

test('insight-261: lists the insights that are on all given dashboards', async () => {
  const [id, other] = [await board(), await board()];
  const [both, one] = [await insight(id, other), await insight(id)];
  await insight();
  const list = async (query: string) =>
    (await api.get(`${base}/insights/?${query}`, acme.M.key)).body.results.map((found: { id: number }) => found.id);
  expect(await list(`dashboards=[${id}]`)).toEqual([one, both]);
  expect(await list(`dashboards=[${id},${other}]`)).toEqual([both]);
  expect(await list('saved=true')).toEqual([one, both]);
});

test('insight-268, insight-270, insight-271: adds texts, changes only the layout of a tile, and removes a tile', async () => {
  const id = await board();
  const one = await insight(id);
  const [tile] = await tilesOf(id);
  const body = '  hi\n';
  const added = await change(id, { tiles: [{ text: { body }, layouts: { sm: { x: 0, y: 0, w: 6, h: 2 } } }] });
  const [text] = added.body.tiles.filter((found: Tile) => found.text !== null);
  expect(added.body.tiles).toHaveLength(2);
  expect(text).toMatchObject({
    text: { body, team: acme.projectId, created_by: { email: acme.M.email }, last_modified_at: expect.any(String) },
    insight: null,
    layouts: { sm: { x: 0, y: 0, w: 6, h: 2 } },
  });
  const odd = { sm: { h: 2.5, x: 0, static: null, y: 7 }, unknown: [1, { b: 1, a: 2 }] };
  // The PostHog web application sends the complete tile.
  const whole = { ...tile, layouts: odd, is_cached: true, order: 99, insight: { id: 1 } };
  const changed = (await change(id, { tiles: [whole] })).body.tiles.find((found: Tile) => found.id === tile?.id);
  expect(JSON.stringify(changed.layouts)).toBe(JSON.stringify(odd));
  expect(changed).toEqual({ ...tile, layouts: odd, order: changed.order });
  await change(id, { tiles: [{ id: text.id, text: { body: 'new' }, color: '', show_description: false }] }, acme.A.key);
  const now = (await tilesOf(id)).find((found) => found.id === text.id);
  expect(now).toMatchObject({
    text: { body: 'new', created_by: { email: acme.M.email }, last_modified_by: { email: acme.A.email } },
    color: '',
    show_description: false,
    layouts: text.layouts,
  });
  await change(id, {
    tiles: [
      { id: text.id, deleted: true },
      { id: tile?.id, deleted: true },
    ],
  });
  expect(await tilesOf(id)).toEqual([]);
  expect((await api.get(`${base}/insights/${one}/`, acme.M.key)).status).toBe(200);
});

test('creates two tiles for two texts with the same body', async () => {
  const id = await board();
  const tiles = [{ text: { body: 'a' } }, { text: { body: 'a' } }];
  const { body } = await change(id, { tiles });
  expect(new Set(body.tiles.map((tile: Tile) => tile.id)).size).toBe(2);
});

test('sorts tiles by y and then by x, and puts tiles without a layout last', async () => {
  const id = await board();
  const tiles = [
    { text: { body: 'none' } },
    { text: { body: 'below' }, ...place(0, 5) },
    { text: { body: 'right' }, ...place(6, 0) },
    { text: { body: 'first' }, ...place(0, 0) },
  ];
  await change(id, { tiles });
  expect((await tilesOf(id)).map(({ text }) => text?.body)).toEqual(['first', 'right', 'below', 'none']);
});

const small = { kind: 'x'.repeat(128 * 1024) };
test.each<[string, object, object]>([
  [
    'insight-269: text that is too long',
    { tiles: [{ text: { body: 'x'.repeat(4001) } }] },
    validationError('max_length', 'tiles__0__text__body', 'Text body cannot exceed 4000 characters'),
  ],
  [
    'text without a body',
    { tiles: [{ text: {} }] },
    validationError('required', 'tiles__0__text__body', 'This field is required.'),
  ],
  [
    'a new tile without text',
    { tiles: [place(0, 0)] },
    validationError(
      'required',
      'tiles__0__id',
      'Only text tiles can be added here. To add an insight, set `dashboards` on the insight.',
    ),
  ],
  [
    'an unknown tile',
    { tiles: [{ id: 2_000_000_000, color: 'red' }] },
    validationError('does_not_exist', 'tiles__0__id', 'Invalid pk "2000000000" - object does not exist.'),
  ],
  [
    'a layout that is too long',
    { tiles: [{ text: { body: '' }, layouts: small }] },
    { status: 400, body: { attr: 'tiles__0__layouts' } },
  ],
  [
    'insight-276: filters that are not an object',
    { filters: 'x' },
    { status: 400, body: { attr: 'filters', code: 'not_a_dict' } },
  ],
  [
    'filters that are too long',
    { filters: small },
    validationError('max_length', 'filters', 'Filters must not exceed 128 KiB.'),
  ],
  ['an unknown restriction level', { restriction_level: 3 }, { status: 400, body: { attr: 'restriction_level' } }],
  [
    'a name that is too long',
    { name: 'x'.repeat(401) },
    validationError('max_length', 'name', 'Ensure this field has no more than 400 characters.'),
  ],
])('rejects a dashboard: %s', async (_what, body, refused) => {
  const id = await board();
  await insight(id);
  const before = (await read(id)).body;
  expect(await change(id, body)).toMatchObject(refused);
  expect((await read(id)).body).toEqual(before);
});

test('returns 400 when text is added to the tile of an insight', async () => {
  const id = await board();
  await insight(id);
  const [tile] = await tilesOf(id);
  const response = await change(id, { tiles: [{ id: tile?.id, text: { body: 'x' } }] });
  expect(response).toMatchObject({ status: 400, body: { attr: 'tiles__0__text' } });
});

test('insight-272: returns an error and changes nothing when a request contains a tile of another dashboard', async () => {
  const [id, other] = [await board(), await board()];
  await change(other, { tiles: [{ text: { body: 'mine' } }] });
  const [mine] = await tilesOf(other);
  const foreign = await theirs();
  for (const tileId of [mine?.id, foreign.tile.id]) {
    const refused = validationError(
      'does_not_exist',
      'tiles__1__id',
      `Invalid pk "${tileId}" - object does not exist.`,
    );
    const tiles = [{ text: { body: 'new' } }, { id: tileId, deleted: true }];
    expect(await change(id, { tiles })).toMatchObject(refused);
    for (const path of [`dashboards/${id}/move_tile`, `dashboards/${id}/reorder_tiles`]) {
      const body = { tile: { id: tileId }, toDashboard: other, tile_order: [tileId] };
      expect(await send(path.endsWith('move_tile') ? 'PATCH' : 'POST', path, body)).toMatchObject(notFound());
    }
  }
  expect([await tilesOf(id), await tilesOf(other), await foreign.read()]).toEqual([[], [mine], [foreign.tile]]);
});

test('returns 400 for more than 200 tiles on a dashboard', async () => {
  const id = await board();
  const texts = (count: number) => ({ tiles: Array.from({ length: count }, () => ({ text: { body: 'x' } })) });
  expect((await change(id, texts(199))).status).toBe(200);
  await insight(id);
  expect(await change(id, texts(1))).toMatchObject({ status: 400, body: { code: 'limit_exceeded' } });
  expect(await send('POST', 'insights', { query, dashboards: [id] })).toMatchObject({
    status: 400,
    body: { attr: 'dashboards' },
  });
  const [tile] = await tilesOf(id);
  expect((await change(id, { tiles: [{ id: tile?.id, deleted: true }, { text: { body: 'y' } }] })).status).toBe(200);
});

test('insight-273: moves a tile to another dashboard with its layout', async () => {
  const [id, other] = [await board(), await board()];
  const one = await insight(id);
  const [tile] = await tilesOf(id);
  await change(id, { tiles: [{ id: tile?.id, ...place(1, 2) }] });
  const move = { tile: { id: tile?.id }, toDashboard: other };
  expect(await send('PATCH', `dashboards/${id}/move_tile`, move)).toMatchObject({
    status: 200,
    body: { id, tiles: [] },
  });
  expect(await tilesOf(other)).toMatchObject([{ id: tile?.id, insight: { id: one }, ...place(1, 2) }]);
  // Add the insight to the other dashboard and remove it again, so that the moved tile replaces a deleted tile.
  await send('PATCH', `insights/${one}`, { dashboards: [other, id] });
  await send('PATCH', `insights/${one}`, { dashboards: [id] });
  const [back] = await tilesOf(id);
  expect((await send('PATCH', `dashboards/${id}/move_tile`, { ...move, tile: { id: back?.id } })).status).toBe(200);
  expect((await tilesOf(other)).map((found) => found.id)).toEqual([back?.id]);
  await send('PATCH', `insights/${one}`, { dashboards: [other, id] });
  const [again] = await tilesOf(id);
  expect(await send('PATCH', `dashboards/${id}/move_tile`, { ...move, tile: { id: again?.id } })).toMatchObject({
    status: 400,
    body: { detail: 'The insight is already on this dashboard.' },
  });
  const foreign = await theirs();
  for (const toDashboard of [foreign.id, 2_000_000_000]) {
    const body = { tile: { id: again?.id }, toDashboard };
    expect(await send('PATCH', `dashboards/${id}/move_tile`, body)).toMatchObject(notFound());
  }
});

test('copies a tile to another dashboard, and returns 400 for a second copy', async () => {
  const [id, other] = [await board(), await board()];
  const one = await insight(id);
  await change(id, { tiles: [{ text: { body: 'a' }, ...place(0, 1) }] });
  const [text, tile] = await tilesOf(id);
  const copy = (tileId: number | undefined, fromDashboardId = id) =>
    send('POST', `dashboards/${other}/copy_tile`, { fromDashboardId, tileId });
  expect((await copy(tile?.id)).body).toMatchObject({ id: other, tiles: [{ insight: { id: one } }] });
  expect((await copy(tile?.id)).status).toBe(400);
  await copy(text?.id);
  expect((await tilesOf(other)).map((found) => [found.text?.body, found.insight?.id])).toEqual([
    ['a', undefined],
    [undefined, one],
  ]);
  expect(await tilesOf(id)).toHaveLength(2);
  const foreign = await theirs();
  expect(await copy(foreign.tile.id, foreign.id)).toMatchObject(notFound());
  expect(await copy(foreign.tile.id)).toMatchObject(notFound());
});

test('reorders tiles without overlaps, and keeps their sizes', async () => {
  const id = await board();
  await change(id, { tiles: ['a', 'b', 'c', 'd'].map((body) => ({ text: { body } })) });
  const [a, b, c, d] = (await tilesOf(id)).map((tile) => tile.id);
  const at = (x: number, y: number, w: number, h: number, xs?: object) => ({ sm: { x, y, w, h }, ...(xs && { xs }) });
  await change(id, {
    tiles: [
      { id: a, layouts: at(0, 0, 12, 3, { x: 0, y: 0, w: 1, h: 3 }) },
      { id: b, layouts: at(0, 3, 4, 7) },
      { id: c, layouts: at(4, 3, 4, 2) },
      { id: d, layouts: at(0, 10, 6, 5) },
    ],
  });
  const { body } = await send('POST', `dashboards/${id}/reorder_tiles`, { tile_order: [d, b] });
  expect(body.tiles.map((tile: Tile) => [tile.id, tile.layouts])).toEqual([
    [d, at(0, 0, 6, 5)],
    [b, at(6, 0, 4, 7)],
    [a, at(0, 7, 12, 3, { x: 0, y: 12, w: 1, h: 3 })],
    [c, at(0, 10, 4, 2)],
  ]);
});

test('arranges tiles of the default size in the given order, two per row', async () => {
  const id = await board();
  await change(id, { tiles: ['a', 'b', 'c'].map((body) => ({ text: { body } })) });
  const ids = (await tilesOf(id)).map((tile) => tile.id).reverse();
  const { body } = await send('POST', `dashboards/${id}/reorder_tiles`, { tile_order: ids });
  expect(body.tiles.map((tile: Tile) => [tile.id, tile.layouts])).toEqual(
    ids.map((tileId, index) => [tileId, place((index % 2) * 6, index < 2 ? 0 : 5).layouts]),
  );
  const twice = { tile_order: [ids[0], ids[0]] };
  expect(await send('POST', `dashboards/${id}/reorder_tiles`, twice)).toMatchObject({
    status: 400,
    body: { attr: 'tile_order' },
  });
});

test('insight-274: copies a dashboard with the same insights, or with copies of them', async () => {
  const id = await board({ name: 'One', filters: { date_from: '-30d' }, pinned: true });
  const one = (await made('insights', { name: 'Sign-ups', query, dashboards: [id] })).id;
  const [tile] = await tilesOf(id);
  await change(id, { tiles: [{ id: tile?.id, ...place(2, 3) }, { text: { body: 'hi' } }] });
  const shared = await made('dashboards', { name: 'Two', use_dashboard: id });
  expect(shared).toMatchObject({
    name: 'Two',
    pinned: false,
    creation_mode: 'duplicate',
    filters: { date_from: '-30d' },
    tiles: [{ insight: { id: one, dashboards: [id, shared.id] }, ...place(2, 3) }, { text: { body: 'hi' } }],
  });
  const copied = await made('dashboards', { name: 'Three', use_dashboard: id, duplicate_tiles: true });
  const [copy] = copied.tiles;
  expect(copy).toMatchObject({ insight: { name: 'Sign-ups (Copy)', query: { kind: 'TrendsQuery' } }, ...place(2, 3) });
  expect(copy.insight.id).not.toBe(one);
  expect(await tilesOf(id)).toHaveLength(2);
});

test('insight-275: returns 400 for creating a dashboard from a template, or from a dashboard outside the project', async () => {
  const id = await board();
  const both = { use_dashboard: id, use_template: 'x' };
  const detail = '`use_dashboard` and `use_template` cannot be used together';
  expect(await send('POST', 'dashboards', both)).toMatchObject(validationError('invalid_input', null, detail));
  expect(await send('POST', 'dashboards', { use_template: 'x' })).toMatchObject({
    status: 400,
    body: { attr: 'use_template' },
  });
  const foreign = await theirs();
  for (const use_dashboard of [foreign.id, 2_000_000_000]) {
    const refused = validationError('invalid_input', 'use_dashboard', 'Invalid value provided');
    expect(await send('POST', 'dashboards', { use_dashboard })).toMatchObject(refused);
  }
});

test('insight-279: lists pinned dashboards first and all others by name, and filters the list', async () => {
  await board({ name: 'b', tags: ['x'] });
  await board({ name: 'c', pinned: true, description: 'All of it' });
  const a = await board({ name: 'a' });
  const d = await board({ name: 'd' });
  await change(d, { deleted: true });
  await board({ use_dashboard: a, name: 'e' });
  const names = async (query: string) =>
    (await api.get(`${base}/dashboards/${query}`, acme.M.key)).body.results.map(({ name }: { name: string }) => name);
  for (const [query, found] of [
    ['', ['c', 'a', 'b', 'e']],
    ['?search=ALL', ['c']],
    ['?pinned=false', ['a', 'b', 'e']],
    ['?tags=["x"]', ['b']],
    ['?creation_mode=duplicate', ['e']],
    ['?exclude_generated=true', ['c', 'a', 'b', 'e']],
    ['?limit=2&offset=1', ['a', 'b']],
    ['?order=name', ['a', 'b', 'c', 'e']],
    ['?order=-name', ['e', 'c', 'b', 'a']],
    ['?order=-created_at', ['e', 'a', 'c', 'b']],
  ] as const) {
    expect([query, await names(query)]).toEqual([query, found]);
  }
  expect(await api.get(`${base}/dashboards/?order=nonsense`, acme.M.key)).toMatchObject({
    status: 400,
    body: { code: 'invalid_choice', attr: 'order' },
  });
});

test('insight-280: lets only the owner and administrators change a restricted dashboard', async () => {
  const mine = await board({ name: 'Mine', restriction_level: 37 });
  const { id } = (await send('POST', 'dashboards', { name: 'Theirs', restriction_level: 37 }, acme.A.key)).body;
  expect((await change(mine, { name: 'Still mine' })).status).toBe(200);
  expect((await change(mine, { name: 'As administrator' }, acme.A.key)).status).toBe(200);
  const refused = permissionDenied("You don't have edit permissions for this dashboard.");
  expect(await change(id, { name: 'x' })).toMatchObject(refused);
  expect(await send('POST', `dashboards/${id}/reorder_tiles`, { tile_order: [] })).toMatchObject(refused);
  expect((await read(id)).body).toMatchObject({
    name: 'Theirs',
    effective_restriction_level: 37,
    effective_privilege_level: 21,
    user_access_level: 'viewer',
    access_control_version: 'v1',
  });
  const one = await insight(mine);
  const add = await send('PATCH', `insights/${one}`, { dashboards: [mine, id] });
  expect(add).toMatchObject(permissionDenied(`You don't have permission to add insights to dashboard: ${id}.`));
  await send('PATCH', `insights/${one}`, { dashboards: [mine, id] }, acme.A.key);
  const remove = await send('PATCH', `insights/${one}`, { dashboards: [mine] });
  expect(remove).toMatchObject(permissionDenied(`You don't have permission to remove insights from dashboard: ${id}.`));
  await send('PATCH', `insights/${one}`, { dashboards: [id] }, acme.A.key);
  expect((await send('PATCH', `insights/${one}`, { name: 'x' })).status).toBe(403);
  expect((await api.get(`${base}/insights/${one}/`, acme.M.key)).body).toMatchObject({
    effective_restriction_level: 37,
    effective_privilege_level: 21,
    user_access_level: 'viewer',
  });
  const open = await board();
  expect((await change(open, { restriction_level: 37 }, acme.W.key)).status).toBe(200);
  expect((await send('POST', 'dashboards', { name: 'o' }, acme.A.key)).body.restriction_level).toBe(21);
  const level = await change((await send('POST', 'dashboards', {}, acme.A.key)).body.id, { restriction_level: 37 });
  expect(level.status).toBe(403);
});

test('insight-281, insight-282: deletes a dashboard with its insights, and restores it with its tiles and insights', async () => {
  const [id, other] = [await board(), await board()];
  const [only, both] = [await insight(id), await insight(id, other)];
  await change(id, { tiles: [{ text: { body: 'off' } }] });
  const off = (await tilesOf(id)).find((tile) => tile.text !== null);
  await change(id, { tiles: [{ id: off?.id, deleted: true }] });
  await api.database.sql.query('UPDATE environment SET primary_dashboard = $2 WHERE id = $1', [acme.projectId, id]);
  const deleted = await change(id, { deleted: true, delete_insights: true });
  expect(deleted).toMatchObject({ status: 200, body: { deleted: true, tiles: [] } });
  expect(await read(id)).toMatchObject(notFound());
  expect((await api.get(`${base}/insights/${only}/`, acme.M.key)).status).toBe(404);
  expect((await api.get(`${base}/insights/${both}/`, acme.M.key)).body.dashboards).toEqual([other]);
  expect((await api.get(`${base}/`, acme.M.key)).body.primary_dashboard).toBeNull();
  expect((await change(id, { deleted: false })).status).toBe(200);
  expect(await insightsOn(id)).toEqual([only, both]);
  expect((await api.get(`${base}/insights/${only}/`, acme.M.key)).status).toBe(200);
});

test('logs every change to a dashboard with only the tiles that changed', async () => {
  const id = await board({ name: 'One' });
  const one = await insight(id);
  const [tile] = await tilesOf(id);
  await change(id, { name: 'Two' });
  await change(id, { name: 'Two', tiles: [{ id: tile?.id, layouts: {} }] });
  await change(id, { tiles: [{ id: tile?.id, ...place(0, 1) }] });
  await change(id, { deleted: true });
  const path = `/api/organizations/${acme.organizationId}/activity/?scope=Dashboard&item_id=${id}`;
  const { results } = (await api.get(path, acme.A.key)).body;
  expect(results.map(({ activity }: { activity: string }) => activity)).toEqual([
    ...['deleted', 'updated', 'updated', 'created'],
  ]);
  expect(results[2].detail.changes).toEqual([
    { type: 'Dashboard', action: 'changed', field: 'name', before: 'One', after: 'Two' },
  ]);
  const was = { id: tile?.id, insight: one, text: null, layouts: {}, color: null };
  expect(results[1].detail.changes).toMatchObject([
    { field: 'tiles', before: [was], after: [{ ...was, ...place(0, 1) }] },
  ]);
});

test('creates only one tile per insight and dashboard for concurrent requests', async () => {
  const ids = [await board(), await board()];
  const insights = await Promise.all(Array.from({ length: 4 }, () => insight()));
  const responses = await Promise.all(
    insights.flatMap((one, index) => [
      send('PATCH', `insights/${one}`, { dashboards: index % 2 ? ids : [...ids].reverse() }),
      change(ids[index % 2] ?? 0, { tiles: [{ text: { body: 'x' } }] }),
      send('PATCH', `insights/${one}`, { dashboards: ids }),
    ]),
  );
  expect(responses.map(({ status }) => status)).toEqual(responses.map(() => 200));
  for (const id of ids) expect(await tilesOf(id)).toHaveLength(6);
});

test.each([
  ['date_from', { date_from: 'last spring' }],
  ['properties.0.operator', { properties: [{ key: 'a', operator: 'near', value: 1 }] }],
  ['breakdown_filter.breakdown', { breakdown_filter: { breakdown: ['a', 'b'] } }],
  ['interval', { interval: 'fortnight' }],
])('returns 400 for dashboard filters with an impossible %s', async (part, filters) => {
  const refused = (attr: string) => ({ status: 400, body: { attr, detail: expect.stringMatching(`^${part}:`) } });
  expect(await send('POST', 'dashboards', { filters })).toMatchObject(refused('filters'));
  const id = await board();
  await insight(id);
  const [tile] = await tilesOf(id);
  expect(await change(id, { filters })).toMatchObject(refused('filters'));
  const tiles = [{ id: tile?.id, filters_overrides: filters }];
  expect(await change(id, { tiles })).toMatchObject(refused('tiles__0__filters_overrides'));
  expect((await read(id)).body.filters).toEqual({});
});

test('accepts dashboard filters with unknown fields, and unchanged filters whose cohort was deleted', async () => {
  const cohort = await send('POST', 'cohorts', { name: 'Pro' });
  const properties = [{ type: 'cohort', key: 'id', value: cohort.body.id }];
  const filters = { date_from: '-7d', date_to: null, newField: 1, properties };
  const id = await board({ filters });
  await send('PATCH', `cohorts/${cohort.body.id}`, { deleted: true });
  expect(await change(id, { filters, name: 'Kept' })).toMatchObject({ status: 200, body: { name: 'Kept', filters } });
  expect((await change(id, { filters: { ...filters, date_from: '-8d' } })).status).toBe(400);
});
