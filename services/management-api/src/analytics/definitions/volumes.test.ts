import { createTestTenant, type TestTenant } from '@millrace/testing';
import { startTestApi, type TestApi } from '../../testing/start-test-api.ts';
import { createMonths, storeEvent } from '../../testing/stored-data.ts';

const day = 24 * 60 * 60 * 1000;
const daysAgo = (days: number) => new Date(Date.now() - days * day).toISOString();

let api: TestApi;
let own: TestTenant;
beforeAll(async () => {
  api = await startTestApi();
  own = await createTestTenant(api.database);
  const { sql } = api.database;
  await createMonths(sql, daysAgo(70).slice(0, 7), daysAgo(-1).slice(0, 7));
  const stored = [
    { event: 'order', timestamp: daysAgo(1), properties: { amount: 1, plan: null } },
    { event: 'order', timestamp: daysAgo(29), properties: { amount: 2 } },
    { event: 'order', timestamp: daysAgo(31), properties: { amount: 3 } },
    { event: 'visit', timestamp: daysAgo(2), properties: { plan: 'pro' } },
    // Use a time in the future, as if the device's clock were wrong.
    { event: 'visit', timestamp: new Date(Date.now() + day / 2).toISOString() },
  ];
  for (const one of stored) await storeEvent(sql, own.projectId, one);
  const other = await createTestTenant(api.database);
  await storeEvent(sql, other.projectId, { event: 'order', timestamp: daysAgo(1), properties: { amount: 1 } });
  for (const name of ['order', 'visit', 'never']) {
    await sql.query('INSERT INTO event_definition (project_id, name, last_seen_at) VALUES ($1, $2, now())', [
      ...[own.projectId, name],
    ]);
  }
  for (const [type, name] of [
    [1, 'amount'],
    [1, 'plan'],
    [2, 'plan'],
  ]) {
    await sql.query(
      'INSERT INTO property_definition (project_id, type, name, last_seen_at) VALUES ($1, $2, $3, now())',
      [...[own.projectId, type, name]],
    );
  }
  const series = [{ kind: 'EventsNode', event: 'order', math: 'sum', math_property: 'amount', name: 'visit' }];
  const properties = [{ key: 'plan', value: 'amount', type: 'event' }];
  const query = { kind: 'InsightVizNode', source: { kind: 'TrendsQuery', series, properties } };
  await storeInsight({ query });
  await storeInsight({ query: { kind: 'TrendsQuery', series, breakdownFilter: { breakdown: 'plan' } } });
  await storeInsight({ query, deleted: true });
  const old = await storeInsight({ query });
  await sql.query(`UPDATE insight SET last_modified_at = now() - interval '31 days' WHERE id = $1`, [old]);
});
afterAll(() => api.stop());

async function storeInsight(body: object): Promise<number> {
  const path = `/api/projects/${own.projectId}/insights/`;
  return (await api.send('POST', path, { key: own.personalApiKey, body })).body.id;
}
async function volumes(path: string): Promise<unknown[]> {
  const { status, body } = await api.get(`/api/projects/${own.projectId}/${path}`, own.personalApiKey);
  expect([status, body.detail]).toEqual([200, undefined]);
  return body.results.map((one: Record<string, unknown>) => [
    ...[one.name, one.volume_30_day, one.volume_is_estimated, one.query_usage_30_day],
  ]);
}

test('with volumes=true, counts events of the last 30 days and the insights that use them', async () => {
  expect(await volumes('event_definitions/?volumes=true')).toEqual([
    ['never', 0, false, 0],
    ['order', 2, false, 2],
    ['visit', 1, false, 0],
  ]);
  expect(await volumes('event_definitions/?volumes=true&search=ord')).toEqual([['order', 2, false, 2]]);
  expect(await volumes('event_definitions/')).toEqual(
    ['never', 'order', 'visit'].map((name) => [name, null, false, null]),
  );
});

test('with volumes=true, counts event properties with any value, but no person properties', async () => {
  expect(await volumes('property_definitions/?volumes=true')).toEqual([
    ['amount', 2, false, 2],
    ['plan', 2, false, 2],
  ]);
  expect(await volumes('property_definitions/')).toEqual(['amount', 'plan'].map((name) => [name, null, false, null]));
  expect(await volumes('property_definitions/?type=person&volumes=true')).toEqual([['plan', null, false, null]]);
});

describe('the list of property definitions', () => {
  const seen = async (query: string) => {
    const { body } = await api.get(`/api/projects/${own.projectId}/property_definitions/?${query}`, own.personalApiKey);
    return body.results.map((one: { name: string; is_seen_on_filtered_events: boolean | null }) => [
      one.name,
      one.is_seen_on_filtered_events,
    ]);
  };

  test('shows which properties the requested events have, and filters by these events', async () => {
    expect(await seen('event_names=["order"]&filter_by_event_names=true')).toEqual([
      ['amount', true],
      ['plan', true],
    ]);
    expect(await seen('event_names=["visit"]&filter_by_event_names=true')).toEqual([['plan', true]]);
    expect(await seen('event_names=["visit"]')).toEqual([
      ['amount', false],
      ['plan', true],
    ]);
    expect(await seen('event_names=visit&filter_by_event_names=true')).toEqual([['plan', true]]);
    expect(await seen('event_names=["never"]&filter_by_event_names=true')).toEqual([]);
    expect(await seen('event_names=[]&filter_by_event_names=false')).toEqual([
      ['amount', null],
      ['plan', null],
    ]);
  });

  test('filters property definitions by name, verification, core properties and feature flag properties', async () => {
    const { sql } = api.database;
    const names = ['$browser', '$feature/beta', 'utm_source'];
    await sql.query(
      `INSERT INTO property_definition (project_id, type, name, last_seen_at) SELECT $1, 1, unnest($2::text[]), now()`,
      [own.projectId, names],
    );
    const listed = async (query: string) => (await seen(query)).map(([name]: [string]) => name);
    const all = ['$browser', '$feature/beta', 'amount', 'plan', 'utm_source'];
    expect(await listed('')).toEqual(all);
    expect(await listed('exclude_core_properties=true')).toEqual(['amount', 'plan']);
    expect(await listed('exclude_core_properties=false')).toEqual(all);
    expect(await listed('is_feature_flag=true')).toEqual(['$feature/beta']);
    expect(await listed('is_feature_flag=false')).toEqual(all.filter((name) => name !== '$feature/beta'));
    expect(await listed('excluded_properties=["plan","$browser"]')).toEqual(['$feature/beta', 'amount', 'utm_source']);
    expect(await listed('exclude_hidden=true&verified=false')).toEqual(all);
    expect(await listed('verified=true')).toEqual([]);
    await sql.query('DELETE FROM property_definition WHERE project_id = $1 AND name = ANY ($2)', [
      own.projectId,
      names,
    ]);
  });

  test.each([
    ['filter_by_event_names=true', 'filter_by_event_names'],
    ['event_names=[order', 'event_names'],
    ['event_names=["a"]&type=person', 'event_names'],
    ['excluded_properties=plan', 'excluded_properties'],
    ['excluded_properties=[1]', 'excluded_properties'],
  ])('returns 400 for %s', async (query, attr) => {
    const path = `/api/projects/${own.projectId}/property_definitions/?${query}`;
    const { status, body } = await api.get(path, own.personalApiKey);
    expect([status, body.attr]).toEqual([400, attr]);
  });
});

test('counts an insight that was opened in the last 30 days as a use of its events', async () => {
  const { sql } = api.database;
  await sql.query(
    `INSERT INTO insight_view (insight_id, user_id, last_viewed_at)
     SELECT id, $2, now() FROM insight WHERE project_id = $1 AND last_modified_at < now() - interval '30 days'`,
    [own.projectId, own.userId],
  );
  expect(await volumes('event_definitions/?volumes=true&search=order')).toEqual([['order', 2, false, 3]]);
});
