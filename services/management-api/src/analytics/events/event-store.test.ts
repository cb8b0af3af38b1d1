import { createDatabase, type Database, type Sql } from '@millrace/db';
import { type Condition, createEventStore, createSqlEngine } from '@millrace/insights';
import { createLogger } from '@millrace/runtime';
import { createTestDatabase, type TestDatabase } from '@millrace/testing';
import { createMonths } from '../../testing/stored-data.ts';
import { findEventKeys } from './reads.ts';
import type { EventFilter, EventWindow } from './store.ts';

/** These tests check the query plans of the event list in PostgreSQL, with four monthly partitions and two projects. */
let testDatabase: TestDatabase;
let database: Database;
beforeAll(async () => {
  testDatabase = await createTestDatabase();
  database = createDatabase({ url: testDatabase.url, logger: createLogger('test', 'error') });
  await createMonths(database.sql, '2026-08', '2026-11');
  await database.sql.query(
    `INSERT INTO event (project_id, timestamp, uuid, event, distinct_id, person_id, properties, captured_at)
     SELECT 1 + n % 2, timestamptz '2026-08-01Z' + n * interval '3 minutes', gen_random_uuid(), 'e' || n % 3, 'd' || n % 5000,
            gen_random_uuid(), jsonb_build_object('n', n % 3), now()
       FROM generate_series(1, 57000) AS n`,
  );
  for (const [table, columns, values] of [
    [
      'person',
      'uuid, main_distinct_id, properties, created_at',
      `gen_random_uuid(), 'd' || n, jsonb_build_object('plan', n / 2 % 2), now()`,
    ],
    [
      'person_distinct_id',
      'distinct_id, person_uuid, version',
      `'d' || n, (SELECT uuid FROM person WHERE main_distinct_id = 'd' || n), 1`,
    ],
  ]) {
    await database.sql.query(
      `INSERT INTO ${table} (project_id, ${columns}) SELECT 1, ${values} FROM generate_series(0, 4999) AS n`,
    );
  }
  await database.sql.query('ANALYZE event, person, person_distinct_id');
});
afterAll(async () => {
  await database.stop();
  await testDatabase.drop();
});

interface PlanNode {
  'Node Type': string;
  'Relation Name'?: string;
  'Index Name'?: string;
  'Actual Loops': number;
  Plans?: PlanNode[];
}

async function executedNodes(run: (sql: Sql) => Promise<unknown>): Promise<PlanNode[]> {
  const plans: PlanNode[] = [];
  const explaining: Sql = {
    query: async (text, values) => {
      const [row] = await database.sql.query(`EXPLAIN (ANALYZE, FORMAT JSON) ${text}`, values);
      plans.push(row?.['QUERY PLAN'][0].Plan);
      return database.sql.query(text, values);
    },
  };
  await run(explaining);
  const flatten = (node: PlanNode): PlanNode[] => [node, ...(node.Plans ?? []).flatMap(flatten)];
  return plans.flatMap(flatten).filter((node) => node['Actual Loops'] > 0);
}

const monthsRead = (nodes: PlanNode[]) =>
  [...new Set(nodes.flatMap((node) => node['Relation Name'] ?? []))].filter((name) => name.startsWith('event_'));
const findKeys = (sql: Sql, projectId: number, filter: EventFilter, window: EventWindow) => {
  const store = { events: createEventStore(createSqlEngine(sql, { isRepeated: true })), maxMs: 10_000 };
  return findEventKeys({ store, sql, projectId, signal: new AbortController().signal }, filter, window);
};
const first: EventWindow = { behind: null, limit: 100, offset: 0, isOldestFirst: false };
const everything: EventFilter = { properties: null };

test('reads the newest events only from the newest monthly partition, using its primary key', async () => {
  const nodes = await executedNodes((sql) => findKeys(sql, 1, everything, first));
  expect(monthsRead(nodes)).toEqual(['event_2026_11']);
  const scans = nodes.filter((node) => node['Relation Name']?.startsWith('event_2026'));
  expect(new Set(scans.map((node) => node['Index Name']))).toEqual(new Set(['event_2026_11_pkey']));
});

test('reads the oldest events only from the oldest monthly partition', async () => {
  const nodes = await executedNodes((sql) => findKeys(sql, 1, everything, { ...first, isOldestFirst: true }));
  expect(monthsRead(nodes)).toEqual(['event_before_2015', 'event_2026_08']);
});

test("reads the page after a cursor only from the cursor's monthly partition", async () => {
  const behind = { timestamp: new Date('2026-09-15T00:00:00Z'), id: '80000000-0000-4000-8000-000000000000' };
  const nodes = await executedNodes((sql) => findKeys(sql, 1, everything, { ...first, behind }));
  expect(monthsRead(nodes)).toEqual(['event_2026_09']);
});

const equal = (property: Extract<Condition, { property: unknown }>['property'], value: string): Condition => ({
  property,
  test: { is: 'equal', values: [value] },
});

test.each<[string, Partial<EventFilter>, string[]]>([
  ['after', { after: new Date('2026-11-02') }, ['event_2026_11']],
  ['before', { before: new Date('2026-09-02') }, ['event_2026_09']],
  ['a common name', { event: 'e1' }, ['event_2026_11']],
  ['a property', { properties: equal({ of: 'event', key: 'n' }, '1') }, ['event_2026_11']],
  ['a property of the person', { properties: equal({ of: 'shown person', key: 'plan' }, '1') }, ['event_2026_11']],
])('reads no more monthly partitions than necessary with the filter: %s', async (_case, filter, months) => {
  expect(monthsRead(await executedNodes((sql) => findKeys(sql, 1, { ...everything, ...filter }, first)))).toEqual(
    months,
  );
});

test('finds the events of a rare distinct ID through an index, without a sequential scan', async () => {
  const filter = { ...everything, distinct_id: 'd77' };
  const nodes = await executedNodes((sql) => findKeys(sql, 2, filter, first));
  const scans = nodes.filter((node) => node['Relation Name']?.startsWith('event_2026'));
  expect(scans.filter((scan) => scan['Index Name']?.includes('distinct_id'))).toHaveLength(4);
  for (const scan of scans) expect(scan['Node Type']).toBe('Index Scan');
});
