import { randomBytes } from 'node:crypto';
import { createActors, type OrganizationActors } from '../../testing/organization-actors.ts';
import { noLimits, signInAs, startTestApi, type TestApi, type TestResponse } from '../../testing/start-test-api.ts';
import { createMonths, storeEvent, storePerson } from '../../testing/stored-data.ts';

/**
 * These tests check that visitors without a working public link get no data, and that visitors with a link get only the
 * results on its page.
 */
let api: TestApi;
let acme: OrganizationActors;
beforeAll(async () => {
  api = await startTestApi();
  await createMonths(api.database.sql, '2026-11', '2026-11');
});
afterAll(() => api.stop());
beforeEach(async () => {
  acme = await createActors(api.database);
});

type Method = 'GET' | 'POST' | 'PATCH' | 'PUT' | 'DELETE' | 'HEAD';
const send = (method: Method, path: string, body?: object, key = acme.M.key) =>
  api.send(method, `/api/projects/${acme.projectId}/${path}`, { key, ...(body && { body }) });
async function create(kind: 'insights' | 'dashboards', body: object) {
  const { status, body: made } = await send('POST', `${kind}/`, body);
  expect([status, made.detail]).toEqual([201, undefined]);
  return made.id as number;
}
async function share(kind: 'insights' | 'dashboards', id: number): Promise<string> {
  const { status, body } = await send('PATCH', `${kind}/${id}/sharing/`, { enabled: true });
  expect([status, body.detail]).toEqual([200, undefined]);
  return body.access_token;
}
const visit = (path: string, options: Parameters<TestApi['send']>[2] = {}) =>
  api.send('GET', `/api/shared/${path}`, options);
const numbersOf = async (token: string, at = 0) => (await visit(`${token}/tiles/${at}`)).body;

const dateRange = { date_from: '2026-11-10', date_to: '2026-11-12' };
const trends = { kind: 'TrendsQuery', dateRange, series: [{ kind: 'EventsNode', event: 'order' }] };
const storeOrders = async () => {
  const personId = await storePerson(api.database.sql, acme.projectId, { distinctIds: ['visitor-ada'] });
  for (const day of ['10', '12', '12']) {
    const properties = { plan: 'paid', $email: 'visitor@example.com' };
    const event = { event: 'order', personId, timestamp: `2026-11-${day}T12:00:00Z`, properties };
    await storeEvent(api.database.sql, acme.projectId, event);
  }
};

const seen = ({ status, headers, body }: TestResponse) => {
  const { date: _, 'x-request-id': __, ...others } = Object.fromEntries(headers);
  return { status, headers: others, body };
};

it('visitor-001 returns the same response for every public link that does not work', async () => {
  const insight = await create('insights', { name: 'Orders', query: trends });
  const rotated = await share('insights', insight);
  const current = (await send('POST', `insights/${insight}/sharing/refresh/`)).body.access_token as string;
  const other = await create('insights', { name: 'Off', query: trends });
  const off = await share('insights', other);
  await send('PATCH', `insights/${other}/sharing/`, { enabled: false });
  const swapped = current.replace(/[a-z]/i, (letter) =>
    letter === letter.toLowerCase() ? letter.toUpperCase() : letter.toLowerCase(),
  );
  const wrong = [
    ...[randomBytes(32).toString('base64url'), rotated, off, swapped, current.slice(1), `${current}A`],
    ...[`${current}%00`, `${current}.json`, `${current}%20`, `${current}%2ftiles`, '%2e%2e%2fprojects', '@current'],
    ...['a', 'null', String(insight), "1' OR '1'='1", 'x'.repeat(5000)],
  ];
  const [first, ...others] = await Promise.all(wrong.map(async (path) => seen(await visit(path))));
  expect(first).toMatchObject({ status: 404, body: { code: 'not_found', detail: 'Not found.', attr: null } });
  for (const response of others) expect(response).toEqual(first);
  const tiles = await Promise.all(wrong.map(async (path) => seen(await visit(`${path}/tiles/0`))));
  for (const response of tiles) expect(response).toEqual(first);
  expect((await visit(current)).status).toBe(200);
});

it('visitor-002 shows only the documented fields, and nothing that identifies the counted persons', async () => {
  await storeOrders();
  const cohort = (await send('POST', 'cohorts/', { name: 'Cohort of visitors', is_static: true })).body.id;
  const properties = [
    { key: '$email', type: 'event', operator: 'icontains', value: 'visitor@example.com' },
    { key: 'secret_property', type: 'event', operator: 'is_not', value: 'secret-value' },
  ];
  const dashboard = await create('dashboards', { name: 'Board', description: 'All orders', filters: { properties } });
  const all = {
    properties: [{ key: 'id', type: 'cohort', operator: 'not_in', value: cohort }],
    filterTestAccounts: true,
  };
  const funnel = { kind: 'FunnelsQuery', dateRange, series: [trends.series[0], trends.series[0]] };
  const retention = {
    kind: 'RetentionQuery',
    dateRange,
    retentionFilter: { targetEntity: { id: 'order', type: 'events' } },
  };
  for (const source of [
    {
      ...trends,
      ...all,
      compareFilter: { compare: true },
      breakdownFilter: { breakdown: 'plan', breakdown_type: 'event' },
    },
    { ...trends, ...all, trendsFilter: { display: 'BoldNumber', aggregationAxisPrefix: '$' } },
    { ...funnel, ...all },
    { ...funnel, ...all, funnelsFilter: { funnelVizType: 'time_to_convert' } },
    { ...retention, ...all },
    { kind: 'LifecycleQuery', dateRange, series: trends.series, ...all },
  ]) {
    await create('insights', { name: source.kind, query: { kind: 'InsightVizNode', source }, dashboards: [dashboard] });
  }
  await send('PATCH', `dashboards/${dashboard}/`, { tiles: [{ text: { body: 'Hello' } }] });
  const token = await share('dashboards', dashboard);
  const { body: page } = await visit(token);
  expect(Object.keys(page)).toEqual(['type', 'name', 'description', 'timezone', 'theme', 'tiles']);
  expect(page).toMatchObject({ type: 'dashboard', name: 'Board', description: 'All orders', timezone: 'UTC' });
  expect(page.tiles).toHaveLength(7);
  for (const tile of page.tiles) expect(Object.keys(tile)).toEqual(['text', 'name', 'layouts']);
  const tiles: TestResponse['body'][] = [];
  for (const at of page.tiles.keys()) if (page.tiles[at].text === null) tiles.push(await numbersOf(token, at));
  for (const tile of tiles) {
    expect(tile.status).toBe('ready');
    expect(Object.keys(tile)).toEqual(['status', 'name', 'query', 'result', 'columns', 'types', 'last_refresh']);
  }
  const keys = (value: unknown): string[] =>
    Array.isArray(value)
      ? value.flatMap(keys)
      : typeof value === 'object' && value !== null
        ? Object.entries(value).flatMap(([key, one]) => [key, ...keys(one)])
        : [];
  const keysOf = (part: 'query' | 'result') => [...new Set(tiles.flatMap((tile) => keys(tile[part])))].sort();
  expect(keysOf('query')).toEqual(
    ['aggregationAxisPrefix', 'compare', 'compareFilter', 'display', 'funnelVizType', 'funnelsFilter', 'kind'].concat(
      'retentionFilter',
      'trendsFilter',
    ),
  );
  expect(keysOf('result')).toEqual([
    ...['action', 'aggregated_value', 'average_conversion_time', 'bins', 'breakdown_value', 'compare', 'compare_label'],
    ...['count', 'custom_name', 'data', 'date', 'days', 'label', 'math', 'median_conversion_time', 'name', 'order'],
    ...['status', 'values'],
  ]);
  expect(tiles[0].result[0].data).toEqual([1, 0, 2]);
  const text = JSON.stringify([page, tiles]);
  const secrets = [
    'visitor',
    '@example.com',
    'secret',
    'cohort',
    acme.M.uuid,
    acme.M.email,
    'Ada',
    'created_by',
    token,
  ];
  for (const secret of [...secrets, `"id":${dashboard}`]) expect(text).not.toContain(secret);
});

it('visitor-003 returns 400 for query parameters and 405 for methods other than GET, and ignores credentials', async () => {
  await storeOrders();
  const token = await share('insights', await create('insights', { name: 'Orders', query: trends }));
  const before = await numbersOf(token);
  for (const path of [token, `${token}/tiles/0`]) {
    for (const query of ['refresh=force_blocking', 'filters_override={}', 'date_from=-1d', 'a=b']) {
      const { status, body } = await visit(`${path}?${query}`);
      expect([query, status, body.code]).toEqual([query, 400, 'unknown_parameter']);
    }
    for (const method of ['POST', 'PATCH', 'PUT', 'DELETE'] as const) {
      const [known, unknown] = await Promise.all(
        [path, path.replace(token, randomBytes(32).toString('base64url'))].map(async (at) =>
          seen(await api.send(method, `/api/shared/${at}`, { body: { enabled: false } })),
        ),
      );
      expect(known).toMatchObject({ status: 405 });
      expect(unknown).toEqual(known);
    }
  }
  const anonymous = seen(await visit(token));
  expect(anonymous.headers).toMatchObject({
    ...{ 'cache-control': 'no-store', 'x-robots-tag': 'noindex', 'referrer-policy': 'no-referrer' },
    'content-security-policy': "default-src 'none'",
  });
  expect(anonymous.headers).not.toHaveProperty('set-cookie');
  expect(anonymous.headers).not.toHaveProperty('access-control-allow-origin');
  for (const key of [acme.W.key, acme.off.personalApiKey, await signInAs(api, acme.W.userId)]) {
    expect(seen(await visit(token, { key }))).toEqual(anonymous);
  }
  expect(await numbersOf(token)).toEqual(before);
  for (const path of ['users/@me/', `projects/${acme.projectId}/`, `projects/${acme.projectId}/insights/`]) {
    expect((await api.get(`/api/${path}`, token)).status).toBe(401);
  }
});

it('visitor-015 shows the columns and rows of an SQL insight, but not its SQL, variables and filters', async () => {
  await storeOrders();
  const source = {
    ...{
      kind: 'HogQLQuery',
      query: 'SELECT event AS name, count() AS n FROM events WHERE {filters} AND event != {hiddenvalue} GROUP BY 1',
    },
    values: { hiddenvalue: 'hiddentext' },
    filters: { dateRange, properties: [{ key: 'plan', value: 'paid', operator: 'exact', type: 'event' }] },
  };
  const chartSettings = {
    xAxis: { column: 'name' },
    yAxis: [{ column: 'n', settings: { display: { label: 'hiddentext' } } }],
  };
  const query = { kind: 'DataVisualizationNode', display: 'ActionsBar', source, chartSettings };
  const dashboard = await create('dashboards', { name: 'Board' });
  await create('insights', { name: 'SQL', query, dashboards: [dashboard] });
  const rows = { kind: 'HogQLQuery', query: 'SELECT arrayJoin(range(1500)) AS n LIMIT 1500' };
  await create('insights', { name: 'Many rows', query: rows, dashboards: [dashboard] });
  const token = await share('dashboards', dashboard);
  const first = await numbersOf(token);
  expect(first).toEqual({
    status: 'ready',
    name: 'SQL',
    query: {
      kind: 'DataVisualizationNode',
      source: { kind: 'HogQLQuery', query: '' },
      display: 'ActionsBar',
      chartSettings: { xAxis: { column: 'name' }, yAxis: [{ column: 'n' }] },
    },
    result: [['order', 1]],
    columns: ['name', 'n'],
    types: expect.arrayContaining([['n', 'UInt64']]),
    last_refresh: expect.any(String),
  });
  expect(JSON.stringify(first)).not.toMatch(/hidden|paid|SELECT/);
  const many = await numbersOf(token, 1);
  expect([many.result.length, many.result[0], many.query.chartSettings]).toEqual([1000, [0], {}]);
});

it('visitor-004 hides deleted tiles, tiles that members cannot see, tiles of other projects and lists of persons', async () => {
  await storeOrders();
  const dashboard = await create('dashboards', { name: 'Board' });
  const add = (name: string, query: object = trends) => create('insights', { name, query, dashboards: [dashboard] });
  const [open, closed, list, deleted] = [
    await add('Open'),
    await add('Closed'),
    await add('List', { kind: 'DataTableNode', source: { kind: 'EventsQuery', select: ['*'] } }),
    await add('Deleted'),
  ];
  await send('PATCH', `dashboards/${dashboard}/`, { tiles: [{ text: { body: 'Hello' } }] });
  const token = await share('dashboards', dashboard);
  const shown = async () => {
    const { tiles } = (await visit(token)).body;
    return Promise.all(tiles.map(async (_: unknown, at: number) => visit(`${token}/tiles/${at}`)));
  };
  const statusOf = ({ status, body }: TestResponse) => (status === 200 ? `${body.name}: ${body.status}` : status);
  expect((await shown()).map(statusOf)).toEqual([
    'Open: ready',
    'Closed: ready',
    'List: hidden',
    'Deleted: ready',
    404,
  ]);
  await send('PUT', `insights/${closed}/access_controls/`, { access_level: 'none' }, acme.A.key);
  await send('PATCH', `insights/${deleted}/`, { deleted: true });
  expect((await shown()).map(statusOf)).toEqual(['Open: ready', 'null: hidden', 'List: hidden', 404]);
  const hidden = { query: null, result: null, columns: null, types: null, last_refresh: null };
  for (const { body } of (await shown()).slice(1, 3)) expect(body).toMatchObject(hidden);
  for (const at of ['4', '-1', '1000', '99999', '1.0', '01', 'x', `${open}`, `${list}`]) {
    const { status, body } = await visit(`${token}/tiles/${at}`);
    expect([at, status, body.detail]).toEqual([at, 404, 'Not found.']);
  }
});

describe('a public link stops working immediately, even if results are cached', () => {
  const cases: [string, string, (id: number) => Promise<unknown>][] = [
    ['visitor-005', 'it is turned off', (id) => send('PATCH', `insights/${id}/sharing/`, { enabled: false })],
    ['visitor-006', 'it is replaced', (id) => send('POST', `insights/${id}/sharing/refresh/`)],
    ['visitor-007', 'its insight is deleted', (id) => send('PATCH', `insights/${id}/`, { deleted: true })],
    [
      'visitor-008',
      'its insight is closed to members',
      (id) => send('PUT', `insights/${id}/access_controls/`, { access_level: 'none' }, acme.A.key),
    ],
    ['visitor-009', 'its project is deleted', () => send('DELETE', '', undefined, acme.W.key)],
    [
      'visitor-010',
      'the organization forbids public links',
      () =>
        api.send('PATCH', `/api/organizations/${acme.organizationId}/`, {
          key: acme.W.key,
          body: { allow_publicly_shared_resources: false },
        }),
    ],
  ];
  it.each(cases)('%s when %s', async (_no, _what, end) => {
    await storeOrders();
    const id = await create('insights', { name: 'Orders', query: trends });
    const token = await share('insights', id);
    expect(await numbersOf(token)).toMatchObject({ status: 'ready' });
    const { status } = (await end(id)) as TestResponse;
    expect([200, 204]).toContain(status);
    const never = seen(await visit(randomBytes(32).toString('base64url')));
    for (const path of [token, `${token}/tiles/0`]) expect(seen(await visit(path))).toEqual(never);
  });
});

it('visitor-011 computes only results that are not fresh, and a failing result at most three times a minute', async () => {
  await storeOrders();
  const id = await create('insights', { name: 'Orders', query: trends });
  const token = await share('insights', id);
  const first = await numbersOf(token);
  expect(first).toMatchObject({ status: 'ready', last_refresh: expect.any(String) });
  for (let visits = 0; visits < 5; visits += 1) expect(await numbersOf(token)).toEqual(first);

  const change = (value: number) =>
    send('PATCH', `insights/${id}/`, { query: { ...trends, properties: [{ key: 'id', type: 'cohort', value }] } });
  const cohort = (await send('POST', 'cohorts/', { name: 'Closed', is_static: true })).body.id;
  await change(cohort);
  // After this change, members cannot use the cohort. The link must then not show results that depend on the cohort.
  await send('PUT', `cohorts/${cohort}/access_controls/`, { access_level: 'none' }, acme.A.key);
  const refused = await numbersOf(token);
  expect(refused).toMatchObject({ status: 'failed', result: null });
  expect(JSON.stringify(refused)).not.toContain(String(cohort));

  const broken = await share('insights', await create('insights', { name: 'Broken', query: trends }));
  await api.database.sql.query("UPDATE insight SET query = query::jsonb || $1::jsonb WHERE name = 'Broken'", [
    JSON.stringify({ series: [{ kind: 'EventsNode', event: 'order', math: 'sum' }] }),
  ]);
  const statuses: string[] = [];
  while (statuses.length < 5) statuses.push((await numbersOf(broken)).status);
  expect(statuses).toEqual(['failed', 'failed', 'failed', 'pending', 'pending']);
});

it("visitor-014 serves the same page with each link's status, and lets other sites frame only embedded pages", async () => {
  const html = '<!doctype html><title>Shared page</title>';
  const pages = await startTestApi({ sharedHtml: Buffer.from(html) }, { databaseUrl: api.databaseUrl });
  const token = await share('insights', await create('insights', { name: 'Orders', query: trends }));
  const open = async (path: string, method = 'GET') => {
    const response = await fetch(`${pages.url}${path}`, { method });
    return { status: response.status, headers: Object.fromEntries(response.headers), text: await response.text() };
  };
  const wrong = randomBytes(32).toString('base64url');
  for (const path of [`/shared/${token}`, `/shared/${token}/?theme=dark`, `/embedded/${token}`]) {
    const { status, headers, text } = await open(path);
    expect([path, status, text]).toEqual([path, 200, html]);
    expect(headers).toMatchObject({
      ...{ 'cache-control': 'no-store', 'x-robots-tag': 'noindex', 'referrer-policy': 'no-referrer' },
      'x-content-type-options': 'nosniff',
    });
    const isFramed = path.startsWith('/embedded/');
    expect(headers['content-security-policy']).toContain(`frame-ancestors ${isFramed ? '*' : "'none'"}`);
    expect(headers['content-security-policy']).not.toContain('unsafe');
    expect(headers['x-frame-options']).toBe(isFramed ? undefined : 'DENY');
    expect(headers).not.toHaveProperty('set-cookie');
  }
  for (const path of [wrong, token.toLowerCase(), '..%2fconsole', "'", `${token}%00`, 'x'.repeat(3000)]) {
    for (const start of ['shared', 'embedded']) {
      const { status, text } = await open(`/${start}/${path}`);
      expect([path, status, text]).toEqual([path, 404, html]);
    }
  }
  for (const method of ['POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']) {
    const [known, unknown] = [await open(`/shared/${token}`, method), await open(`/shared/${wrong}`, method)];
    expect([method, known.status, known.text]).toEqual([method, unknown.status, unknown.text]);
    expect(known.text).not.toContain('Shared page');
  }
  await send('POST', `insights/${(await send('GET', 'insights/')).body.results[0].id}/sharing/refresh/`);
  expect((await open(`/shared/${token}`)).status).toBe(404);
  await pages.stop();
});

describe('rate limits of public links', () => {
  let limited: TestApi;
  beforeAll(async () => {
    const limits = { ...noLimits, wrongKeysPerMinute: 5, requestsPerMinute: 30 };
    limited = await startTestApi({ limits, trustedProxies: 1 }, { databaseUrl: api.databaseUrl });
  });
  afterAll(() => limited.stop());
  const from = (address: string, path: string) =>
    limited.send('GET', `/api/shared/${path}`, { headers: { 'x-forwarded-for': address } });
  const statuses = async (address: string, path: () => string, count: number) => {
    const found: number[] = [];
    while (found.length < count) found.push((await from(address, path())).status);
    return found;
  };
  const guess = () => randomBytes(32).toString('base64url');

  it('visitor-012 blocks an IP address that guesses links, except for links that were opened recently', async () => {
    const [known, other] = [
      await share('insights', await create('insights', { name: 'One', query: trends })),
      await share('insights', await create('insights', { name: 'Two', query: trends })),
    ];
    expect(await statuses('192.0.2.1', () => known, 1)).toEqual([200]);
    expect(await statuses('192.0.2.1', guess, 8)).toEqual([404, 404, 404, 404, 404, 404, 429, 429]);
    // After an IP address has been blocked, only recently opened links still work. The responses for other links do not
    // show whether they exist.
    expect(await statuses('192.0.2.1', () => other, 1)).toEqual([429]);
    expect(await statuses('192.0.2.1', () => known, 1)).toEqual([200]);
    expect(await statuses('192.0.2.2', () => other, 1)).toEqual([200]);
  });

  it('visitor-013 limits the requests from an IP address', async () => {
    const token = await share('insights', await create('insights', { name: 'One', query: trends }));
    const found = await statuses('192.0.2.3', () => token, 35);
    expect(found.filter((status) => status === 200)).toHaveLength(30);
    expect(found.at(-1)).toBe(429);
    expect(await statuses('192.0.2.4', () => token, 1)).toEqual([200]);
  });
});
