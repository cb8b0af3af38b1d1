import { randomUUID } from 'node:crypto';
import type { Route } from '@millrace/http';
import { declaredRoutes } from '../testing/declared-routes.ts';
import { permissionDenied } from '../testing/expected-errors.ts';
import { createActors, type OrganizationActors } from '../testing/organization-actors.ts';
import { startTestApi, type TestApi } from '../testing/start-test-api.ts';
import type { Caller } from './caller.ts';
import { type GovernedKind, governedKindNames, governedKinds } from './record-rights.ts';

/**
 * Tests that a member cannot use records without access to them. Covers every path and every request field that refers
 * to a record (docs/api/access.md#access-to-records). New routes under a record are covered automatically.
 */
let api: TestApi;
let acme: OrganizationActors;
/** Records that only their creator, an administrator, can access. */
const closed = {} as Record<GovernedKind, string>;
let shortId: string;
const own = {} as Record<'insight' | 'dashboard' | 'feature_flag', number>;
/** An insight and a dashboard of the administrator that use the restricted cohort, but that all members can access. */
let openInsight: number;
let openDashboard: number;
let openSubscription: number;

type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
const send = (method: Method, rest: string, body?: object, key = acme.M.key) => {
  const [path, query = ''] = rest.split('?');
  return api.send(method, `/api/projects/${acme.projectId}/${path}/?${query}`, { key, ...(body && { body }) });
};
const make = async (path: string, body: object, key = acme.A.key) => {
  const made = await send('POST', path, body, key);
  expect([path, made.status, made.body.detail]).toEqual([path, 201, undefined]);
  return made.body;
};

const trend = { kind: 'TrendsQuery', series: [{ kind: 'EventsNode', event: 'a' }] };
const report = { target_type: 'email', target_value: 'ada@example.com', frequency: 'daily' };
const exported = {
  name: 'Export',
  interval: 'hour',
  destination: { type: 'Postgres', config: { host: 'h', database: 'd', user: 'u', password: 'p' } },
};
const begins = { ...report, start_date: '2026-11-02T09:00:00Z' };
const bodies: Record<GovernedKind, object> = {
  cohort: { name: 'Closed', is_static: true },
  dashboard: { name: 'Closed' },
  early_access_feature: { name: 'Closed feature', stage: 'beta' },
  feature_flag: {
    key: 'closed',
    is_remote_configuration: true,
    filters: { groups: [{}], payloads: { true: '"secret"' } },
  },
  insight: { name: 'Closed', saved: true, query: trend },
};

beforeAll(async () => {
  api = await startTestApi();
  acme = await createActors(api.database);
  for (const kind of governedKindNames) {
    const made = await make(governedKinds[kind].path, bodies[kind]);
    closed[kind] = String(made.id);
    if (kind === 'insight') shortId = made.short_id;
    const rule = { access_level: 'none' };
    await send('PUT', `${governedKinds[kind].path}/${made.id}/access_controls`, rule, acme.A.key);
  }
  own.insight = (await make('insights', { name: 'Own', saved: true, query: trend }, acme.M.key)).id;
  own.dashboard = (await make('dashboards', { name: 'Own' }, acme.M.key)).id;
  own.feature_flag = (await make('feature_flags', { key: 'own' }, acme.M.key)).id;
  openDashboard = (await make('dashboards', { name: 'Open' })).id;
  const query = { ...trend, properties: [inCohort(Number(closed.cohort))] };
  openInsight = (await make('insights', { name: 'Open', saved: true, query, dashboards: [openDashboard] })).id;
  openSubscription = (await make('subscriptions', { ...begins, insight: Number(closed.insight) })).id;
});
afterAll(() => api.stop());

const inCohort = (value: unknown, type = 'cohort') => ({ key: 'id', type, value });
const refused = (level = 'viewer') => permissionDenied(`You do not have ${level} access to this resource.`);

describe('requests for restricted records by their own paths', () => {
  const kindOf = ({ path }: Route<Caller>) =>
    governedKindNames.find((kind) => path.startsWith(`/api/projects/:project_id/${governedKinds[kind].path}/:id`));
  const routes = declaredRoutes().filter((route) => kindOf(route) !== undefined && route.successStatus !== 405);

  test.each(routes.map((route) => [`${route.method} ${route.path}`, route] as const))('%s', async (_name, route) => {
    const kind = kindOf(route) as GovernedKind;
    const call = (id: string) =>
      api.send(
        route.method,
        `${route.path.replace(':project_id', String(acme.projectId)).replace(':id', encodeURIComponent(id))}/`,
        {
          key: acme.M.key,
          ...(route.body !== undefined && { body: route.examples.request ?? {} }),
        },
      );
    const names = [closed[kind], ...(kind === 'insight' ? [shortId] : [])];
    if (route.path.endsWith('/remote_config')) names.push('closed');
    for (const name of names) {
      const response = await call(name);
      expect([name, response.status, response.body.code]).toEqual([name, 403, 'permission_denied']);
    }
    for (const name of [`0${closed[kind]}`, `+${closed[kind]}`, `${closed[kind]}.0`, ` ${closed[kind]}`]) {
      expect([name, (await call(name)).status]).toEqual([name, 404]);
    }
  });
});

/** Values that a parser could interpret as the cohort's ID. */
const spellings: [string, (id: number) => unknown][] = [
  ['its ID', (id) => id],
  ['its ID as a string', (id) => `${id}`],
  ['0<id>', (id) => `0${id}`],
  ['+<id>', (id) => `+${id}`],
  ['<id>.0', (id) => `${id}.0`],
  ['" <id>"', (id) => ` ${id}`],
  ['<id>e0', (id) => `${id}e0`],
  ['hexadecimal digits', (id) => `0x${id.toString(16)}`],
  [
    'full-width digits',
    (id) => String(id).replaceAll(/\d/g, (digit) => String.fromCharCode(digit.charCodeAt(0) + 0xfee0)),
  ],
  ['a list', (id) => [id]],
  ['a list with its ID as a string', (id) => [`${id}`]],
];
const types = ['cohort', 'static-cohort', 'precalculated-cohort'];
const parameter = (filter: object) => encodeURIComponent(JSON.stringify({ properties: [filter] }));
const conditions = (filter: object) => ({ groups: [{ properties: [{ ...filter, operator: 'in' }] }] });

const evaluating: [string, (filter: object) => [Method, string, object?]][] = [
  ['a query', (filter) => ['POST', 'query', { query: { ...trend, properties: [filter] } }]],
  [
    'a series of a query',
    (filter) => ['POST', 'query', { query: { ...trend, series: [{ ...trend.series[0], properties: [filter] }] } }],
  ],
  [
    'filters on top of a query',
    (filter) => ['POST', 'query', { query: trend, filters_override: { properties: [filter] } }],
  ],
  [
    'the actors of a query',
    (filter) => [
      'POST',
      'query',
      {
        query: {
          kind: 'ActorsQuery',
          source: { kind: 'InsightActorsQuery', source: { ...trend, properties: [filter] } },
        },
      },
    ],
  ],
  ['filters of actors', (filter) => ['POST', 'query', { query: { kind: 'ActorsQuery', properties: [filter] } }]],
  ['the condition of a flag', (filter) => ['POST', 'feature_flags', { key: 'new', filters: conditions(filter) }]],
  ['a change of a flag', (filter) => ['PATCH', `feature_flags/${own.feature_flag}`, { filters: conditions(filter) }]],
  [
    'a blast radius',
    (filter) => ['POST', 'feature_flags/user_blast_radius', { condition: conditions(filter).groups[0] }],
  ],
  [
    'a cohort',
    (filter) => ['POST', 'cohorts', { name: 'New', filters: { properties: { type: 'OR', values: [filter] } } }],
  ],
  ['the groups of a cohort', (filter) => ['POST', 'cohorts', { name: 'New', groups: [{ properties: [filter] }] }]],
];

test.each(evaluating)(
  'returns 403 for a restricted cohort in %s, however its ID is written',
  async (_place, request) => {
    const responses: unknown[] = [];
    for (const type of types) {
      for (const [spelling, spell] of spellings) {
        const [method, rest, body] = request(inCohort(spell(Number(closed.cohort)), type));
        const { status } = await send(method, rest, body);
        responses.push([type, spelling, status === 403 || status === 400]);
      }
    }
    expect(responses).toEqual(types.flatMap((type) => spellings.map(([spelling]) => [type, spelling, true])));
    const [method, rest, body] = request(inCohort(Number(closed.cohort)));
    expect(await send(method, rest, body)).toMatchObject(refused());
  },
);

const storing: [string, (filter: object) => [Method, string, object?]][] = [
  ['an insight', (filter) => ['POST', 'insights', { query: { ...trend, properties: [filter] } }]],
  [
    'a change of an insight',
    (filter) => ['PATCH', `insights/${own.insight}`, { query: { ...trend, properties: [filter] } }],
  ],
  ['filters on an insight', (filter) => ['GET', `insights/${own.insight}?filters_override=${parameter(filter)}`]],
  ['a dashboard', (filter) => ['POST', 'dashboards', { name: 'New', filters: { properties: [filter] } }]],
  [
    'a change of a dashboard',
    (filter) => ['PATCH', `dashboards/${own.dashboard}`, { filters: { properties: [filter] } }],
  ],
  ['filters on a dashboard', (filter) => ['GET', `dashboards/${own.dashboard}?filters_override=${parameter(filter)}`]],
  ['the filters of a batch export', (filter) => ['POST', 'batch_exports', { ...exported, filters: [filter] }]],
  ['the test account filters', (filter) => ['PATCH', '.', { test_account_filters: [filter] }]],
];

test.each(storing)('returns 403 for a restricted cohort in %s', async (_place, request) => {
  for (const type of types) {
    for (const value of [Number(closed.cohort), closed.cohort]) {
      const [method, rest, body] = request(inCohort(value, type));
      const path = rest === '.' ? `/api/projects/${acme.projectId}/` : undefined;
      const response = path ? await api.send(method, path, { key: acme.M.key, body }) : await send(method, rest, body);
      expect([type, value, response]).toMatchObject([type, value, refused()]);
    }
  }
});

test('returns 400 for a cohort ID with leading zeros', async () => {
  const query = { ...trend, properties: [inCohort(`0${closed.cohort}`)] };
  const none = { status: 400, body: { detail: expect.stringMatching(/Cohort 0\d+ does not exist/) } };
  expect(await send('POST', 'insights', { query })).toMatchObject(none);
  expect(await send('POST', 'query', { query })).toMatchObject(none);
});

test('returns 403 for SQL that could read a restricted cohort', async () => {
  const ask = (query: string, key?: string) => send('POST', 'query', { query: { kind: 'HogQLQuery', query } }, key);
  const texts = [
    `SELECT count() FROM persons WHERE id IN COHORT ${closed.cohort}`,
    'SELECT count() FROM cohort_people',
    'SELECT count() FROM "Cohort_people"',
    'SELECT count() FROM "coh\\ort_people"',
  ];
  for (const text of texts) expect([text, await ask(text)]).toMatchObject([text, refused()]);
  expect((await ask('SELECT count() FROM persons')).status).toBe(200);
  expect((await ask('SELECT count() FROM cohort_people', acme.A.key)).status).toBe(200);
});

test.each<[string, (text: string) => object]>([
  ['a filter', (key) => ({ ...trend, properties: [{ type: 'hogql', key }] })],
  [
    'a filter within a group',
    (key) => ({ ...trend, properties: { type: 'AND', values: [{ type: 'OR', values: [{ type: 'hogql', key }] }] } }),
  ],
  ['a breakdown', (breakdown) => ({ ...trend, breakdownFilter: { breakdown_type: 'hogql', breakdown } })],
  [
    'one of two breakdowns',
    (property) => ({ ...trend, breakdownFilter: { breakdowns: [{ type: 'hogql', property }] } }),
  ],
  [
    'a measure',
    (text) => ({ ...trend, series: [{ ...trend.series[0], math: 'hogql', math_hogql: `countIf(${text})` }] }),
  ],
  ['a column', (text) => ({ kind: 'EventsQuery', select: [text] })],
  ['a condition', (text) => ({ kind: 'EventsQuery', select: ['event'], where: [text] })],
  ['an order', (text) => ({ kind: 'EventsQuery', select: ['event'], orderBy: [text] })],
])('returns 403 for an SQL expression that could read a restricted cohort in %s', async (_place, queryOf) => {
  const ask = (text: string, key?: string) => send('POST', 'query', { query: queryOf(text) }, key);
  expect(await ask(`person_id IN COHORT ${closed.cohort}`)).toMatchObject(refused());
  expect(await ask('person_id IN (SELECT person_id FROM "coh\\u006frt_people")')).toMatchObject(refused());
  expect((await ask(`person_id IN COHORT ${closed.cohort}`, acme.A.key)).status).toBe(200);
  expect((await ask("event = 'x'")).status).toBe(200);
});

test("does not reveal a restricted cohort's results through another user's insight or filters", async () => {
  expect(await send('GET', `insights/${openInsight}?refresh=blocking`)).toMatchObject(refused());
  const one = encodeURIComponent(JSON.stringify({ properties: [{ key: 'email', type: 'person', value: 'a@b.c' }] }));
  expect(await send('GET', `insights/${openInsight}?refresh=blocking&filters_override=${one}`)).toMatchObject(
    refused(),
  );
  const { body } = await send('GET', `dashboards/${openDashboard}?refresh=blocking`);
  expect(body.tiles[0].insight).toMatchObject({
    result: null,
    query_status: { error: true, error_message: 'You do not have viewer access to this resource.' },
  });
  const asAdministrator = await send('GET', `insights/${openInsight}?refresh=blocking`, undefined, acme.A.key);
  expect([asAdministrator.status, asAdministrator.body.detail]).toEqual([200, undefined]);
  for (const about of [{ insight: openInsight }, { dashboard: openDashboard }]) {
    expect(await send('POST', 'subscriptions', { ...begins, ...about })).toMatchObject(refused());
  }
  // `test_account_filters` apply to a query only if the query requests them.
  const settings = { test_account_filters: [inCohort(Number(closed.cohort))] };
  await api.send('PATCH', `/api/projects/${acme.projectId}/`, { key: acme.A.key, body: settings });
  expect(await send('POST', 'query', { query: { ...trend, filterTestAccounts: true } })).toMatchObject(refused());
  expect((await send('POST', 'query', { query: trend })).status).toBe(200);
  const asSql = { test_account_filters: [{ type: 'hogql', key: `person_id IN COHORT ${closed.cohort}` }] };
  expect((await api.send('PATCH', `/api/projects/${acme.projectId}/`, { key: acme.A.key, body: asSql })).status).toBe(
    200,
  );
  expect(await send('POST', 'query', { query: { ...trend, filterTestAccounts: true } })).toMatchObject(refused());
});

test('a user receives the result of a query that they started in the background', async () => {
  const id = randomUUID();
  const query = { ...trend, properties: [inCohort(Number(closed.cohort))] };
  const asked = { query, refresh: 'async', client_query_id: id };
  expect((await send('POST', 'query', asked, acme.A.key)).status).toBe(202);
  expect((await send('GET', `query/${id}`)).status).toBe(404);
  expect((await send('GET', `query/${id}`, undefined, acme.A.key)).status).toBeLessThan(300);
});

describe('restricted insights and dashboards', () => {
  const sent = randomUUID();
  beforeAll(async () => {
    const content = {
      ...{ kind: 'insight', id: Number(closed.insight), name: 'Closed', description: '', timezone: 'UTC', total: 1 },
      due_at: '2026-11-02T09:00:00Z',
      insights: [
        {
          ...{ id: Number(closed.insight), short_id: shortId, name: 'Closed', description: '', error: null },
          ...{ query_kind: 'TrendsQuery', date_from: null, date_to: null, figures: [], chart: null },
          ...{ table: { columns: [], rows: [] }, left_out: { rows: 0, figures: 0 } },
        },
      ],
    };
    const { sql } = api.database;
    await sql.query(
      `INSERT INTO subscription_report (id, subscription_id, due_at, content, attempt_at)
       VALUES ($1, $2, '2026-11-02T09:00:00Z', $3, now())`,
      [randomUUID(), openSubscription, JSON.stringify(content)],
    );
    await sql.query(
      `INSERT INTO subscription_delivery (id, subscription_id, occasion, due_at, target, status)
       VALUES ($1, $2, 'scheduled', '2026-11-02T09:00:00Z', 'ada@example.com', 'delivered')`,
      [sent, openSubscription],
    );
  });

  test('requests that refer to a restricted insight or dashboard return 403', async () => {
    const [insight, dashboard] = [Number(closed.insight), Number(closed.dashboard)];
    const requests: [Method, string, object?][] = [
      ['POST', 'subscriptions', { ...begins, insight }],
      ['POST', 'subscriptions', { ...begins, dashboard }],
      ['GET', `subscriptions/preview?insight=${insight}`],
      ['GET', `subscriptions/preview?insight=0${insight}`],
      ['GET', `subscriptions/preview?dashboard=${dashboard}`],
      ['POST', 'dashboards', { use_dashboard: dashboard }],
      ['POST', `dashboards/${own.dashboard}/copy_tile`, { fromDashboardId: dashboard, tileId: 1 }],
      ['PATCH', `dashboards/${own.dashboard}/move_tile`, { tile: { id: 1 }, toDashboard: dashboard }],
      ['PATCH', `insights/${own.insight}`, { dashboards: [dashboard] }],
      ['POST', 'insights', { query: trend, dashboards: [dashboard] }],
    ];
    const statuses = [];
    for (const request of requests) statuses.push([...request.slice(0, 2), (await send(...request)).status]);
    expect(statuses).toEqual(requests.map((request) => [...request.slice(0, 2), 403]));
  });

  test('does not record a view of a restricted insight', async () => {
    await send('POST', 'insights/viewed', { insight_ids: [Number(closed.insight), own.insight] });
    const rows = await api.database.sql.query('SELECT insight_id FROM insight_view WHERE user_id = $1', [
      acme.M.userId,
    ]);
    expect(rows).toEqual([{ insight_id: own.insight }]);
  });

  test('sent reports of a restricted insight stay restricted when the subscription changes to another insight', async () => {
    const delivery = `subscriptions/${openSubscription}/deliveries/${sent}`;
    expect(await send('GET', delivery)).toMatchObject(refused());
    // The member cannot change the subscription while it refers to the restricted insight. After another user has
    // replaced the insight, the report that was already sent still contains it.
    expect(await send('PATCH', `subscriptions/${openSubscription}`, { insight: own.insight })).toMatchObject(refused());
    await send('PATCH', `subscriptions/${openSubscription}`, { insight: own.insight }, acme.A.key);
    expect((await send('GET', `subscriptions/${openSubscription}`)).body.insight).toBe(own.insight);
    expect(await send('GET', delivery)).toMatchObject(refused());
    expect((await send('GET', delivery, undefined, acme.A.key)).status).toBe(200);
  });
});

describe('restricted flags', () => {
  const onFlag = (key: unknown) => ({
    groups: [{ properties: [{ key, type: 'flag', operator: 'flag_evaluates_to', value: true }] }],
  });

  test('returns an error for a flag that depends on a restricted flag, however its ID is written', async () => {
    const id = closed.feature_flag;
    expect(await send('POST', 'feature_flags', { key: 'on', filters: onFlag(id) })).toMatchObject(refused());
    expect(await send('PATCH', `feature_flags/${own.feature_flag}`, { filters: onFlag(id) })).toMatchObject(refused());
    for (const [spelling, spell] of spellings.slice(2)) {
      const { status } = await send('POST', 'feature_flags', { key: 'on', filters: onFlag(spell(Number(id))) });
      expect([spelling, status]).toEqual([spelling, 400]);
    }
  });

  test('copies a flag only if its cohorts and flags are accessible in both projects', async () => {
    const named = conditions(inCohort(Number(closed.cohort)));
    await make('feature_flags', { key: 'with-cohort', filters: named });
    await make('feature_flags', { key: 'with-flag', filters: onFlag(closed.feature_flag) });
    const project = { name: 'Second' };
    const second = (await api.send('POST', '/api/projects/', { key: acme.W.key, body: project })).body.id;
    for (const key of ['with-cohort', 'with-flag']) {
      const body = { feature_flag_key: key, from_project: acme.projectId, target_project_ids: [second] };
      const path = `/api/organizations/${acme.organizationId}/feature_flags/copy_flags/`;
      const response = await api.send('POST', path, { key: acme.M.key, body });
      expect(response.body).toMatchObject({
        success: [],
        failed: [{ project_id: second, errors: 'You do not have viewer access to this resource.' }],
      });
    }
  });

  test("refuses to create a cohort from a flag with a restricted cohort, without revealing that cohort's name", async () => {
    const { id } = await make('feature_flags', { key: 'open', filters: conditions(inCohort(Number(closed.cohort))) });
    const named = (body: { filters: { groups: { properties: { cohort_name?: string }[] }[] } }) =>
      body.filters.groups[0]?.properties[0]?.cohort_name;
    expect(named((await send('GET', `feature_flags/${id}`)).body)).toBeUndefined();
    expect(named((await send('GET', `feature_flags/${id}`, undefined, acme.A.key)).body)).toBe('Closed');
    expect(await send('POST', `feature_flags/${id}/create_static_cohort_for_flag`)).toMatchObject(refused());
  });
});

test('only project administrators can set the targets of reports', async () => {
  const path = `/api/projects/${acme.projectId}/`;
  const webhook = 'https://hooks.slack.com/services/T0/B0/x';
  const set = (key: string, value: string | null) =>
    api.send('PATCH', path, { key, body: { slack_incoming_webhook: value, anonymize_ips: true } });
  const denied = permissionDenied('Only project administrators can change slack_incoming_webhook.');
  expect(await set(acme.M.key, webhook)).toMatchObject(denied);
  expect((await set(acme.A.key, webhook)).body.slack_incoming_webhook).toBe(webhook);
  expect(await set(acme.M.key, 'https://elsewhere.example/x')).toMatchObject(denied);
  expect(await set(acme.M.key, null)).toMatchObject(denied);
  const shown = (await api.get(path, acme.M.key)).body.slack_incoming_webhook;
  expect((await set(acme.M.key, shown)).status).toBe(200);
  expect((await api.get(path, acme.A.key)).body.slack_incoming_webhook).toBe(webhook);
  const environment = `/api/environments/${acme.projectId}/`;
  const body = { slack_incoming_webhook: null };
  expect(await api.send('PATCH', environment, { key: acme.M.key, body })).toMatchObject(denied);
  const demo = { name: 'Demo', is_demo: true, slack_incoming_webhook: webhook };
  expect(await api.send('POST', '/api/projects/', { key: acme.M.key, body: demo })).toMatchObject(denied);
});
