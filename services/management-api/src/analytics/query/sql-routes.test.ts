// Tests SQL queries through the API: table descriptions, cached results, and many concurrent queries.

import { createTestTenant, eventually, type TestTenant } from '@millrace/testing';
import { lockTable } from '../../testing/lock-table.ts';
import { startTestApi, type TestApi } from '../../testing/start-test-api.ts';

let api: TestApi;
let own: TestTenant;
beforeAll(async () => {
  api = await startTestApi();
  own = await createTestTenant(api.database);
});
afterAll(() => api.stop());

const sqlQuery = (query: string) => ({ kind: 'HogQLQuery', query });
const ask = (query: object) =>
  api.send('POST', `/api/projects/${own.projectId}/query/`, { key: own.personalApiKey, body: { query } });

test('DatabaseSchemaQuery describes the tables, and each described column can be selected', async () => {
  const { status, body } = await ask({ kind: 'DatabaseSchemaQuery' });
  expect([status, body]).toMatchObject([200, { joins: [], is_cached: false }]);
  const { tables, functions } = body;
  expect(functions).toEqual(
    expect.arrayContaining([
      { name: 'countIf', type: 'aggregate' },
      { name: 'row_number', type: 'window' },
      { name: 'toStartOfWeek', type: 'scalar' },
    ]),
  );
  expect(Object.keys(tables)).toEqual([
    ...['events', 'persons', 'person_distinct_ids', 'groups', 'cohort_people', 'sessions'],
  ]);
  expect(tables.events).toMatchObject({ id: 'events', name: 'events', type: 'posthog' });
  expect(tables.events.fields).toMatchObject({
    timestamp: { name: 'timestamp', hogql_value: 'timestamp', type: 'datetime', schema_valid: true },
    properties: { type: 'json' },
    team_id: { type: 'integer' },
    person: { type: 'lazy_table', table: 'persons', fields: ['id', 'created_at', 'properties'] },
    poe: { type: 'virtual_table', table: 'events', fields: ['id', 'created_at', 'properties'] },
    group_4: { type: 'lazy_table', table: 'groups', fields: ['index', 'key', 'created_at', 'properties'] },
  });
  expect(tables.persons.fields.is_identified).toMatchObject({ type: 'boolean' });
  type Field = { hogql_value: string; fields?: string[] };
  const queries = Object.entries(tables as Record<string, { fields: Record<string, Field> }>).map(
    ([table, { fields }]) => {
      const columns = Object.values(fields).flatMap(({ hogql_value: name, fields: below }) =>
        below === undefined
          ? [name]
          : below.filter((one) => !(name === 'pdi' && one === 'person')).map((one) => `${name}.${one}`),
      );
      return `SELECT ${columns.join(', ')} FROM ${table}`;
    },
  );
  for (const query of queries) {
    const checked = await ask({ kind: 'HogQLMetadata', language: 'hogQL', query });
    expect([query, checked.body.errors]).toEqual([query, []]);
  }
});

test('computes a cached query again when the type of a property in it changes', async () => {
  const { sql } = api.database;
  const define = (type: string) =>
    sql.query(
      `INSERT INTO property_definition (project_id, type, group_type_index, name, property_type, last_seen_at)
       VALUES ($1, 1, -1, 'size', $2, now())
       ON CONFLICT (project_id, type, group_type_index, name) DO UPDATE SET property_type = excluded.property_type`,
      [own.environmentId, type],
    );
  const typesOf = async () => {
    const { body } = await ask(sqlQuery('SELECT properties.size FROM events'));
    return [body.types, body.is_cached];
  };
  await define('String');
  expect(await typesOf()).toEqual([[['size', 'Nullable(String)']], false]);
  expect(await typesOf()).toEqual([[['size', 'Nullable(String)']], true]);
  await define('Numeric');
  expect(await typesOf()).toEqual([[['size', 'Nullable(Float64)']], false]);
});

test('leaves a connection for other projects while a project sends twenty SQL queries at the same time', async () => {
  const other = await createTestTenant(api.database);
  const lock = await lockTable(api.database, 'cohort_member');
  const all = Array.from({ length: 20 }, (_, at) => ask(sqlQuery(`SELECT count() + ${at} AS n FROM cohort_people`)));
  const running = async () => {
    const [row] = await api.database.sql.query<{ count: number }>(
      `SELECT count(*)::int AS count FROM pg_stat_activity
        WHERE datname = current_database() AND wait_event_type = 'Lock' AND query LIKE '%cohort_member%'`,
    );
    return row?.count;
  };
  // The test API has only two connections for queries.
  await eventually(async () => expect(await running()).toBe(1));
  const key = other.personalApiKey;
  const list = await api.get(`/api/projects/${other.projectId}/events/?limit=10`, key);
  const body = { query: sqlQuery('SELECT count() AS n FROM events') };
  const counted = await api.send('POST', `/api/projects/${other.projectId}/query/`, { key, body });
  expect([list, counted]).toMatchObject([
    { status: 200, body: { results: [] } },
    { status: 200, body: { results: [[0]] } },
  ]);
  expect(await running()).toBe(1);
  await lock.release();
  const statuses = (await Promise.all(all)).map(({ status }) => status);
  expect(statuses).toContain(200);
  expect(statuses).toContain(429);
  expect(statuses.filter((status) => status >= 500 && status !== 503)).toEqual([]);
});
