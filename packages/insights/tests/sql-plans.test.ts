// Checks that PostgreSQL uses the same plans for SQL queries as for equivalent insight queries and lists.

import { createTestTenant } from '@millrace/testing';
import { renderPostgresStatement } from '../src/event-store/postgres/engine.ts';
import { readProjectSettings } from '../src/records-store.ts';
import { createParser, type SqlParser } from '../src/sql/parse.ts';
import { printStatement } from '../src/sql/print/query.ts';
import { prepareSql } from '../src/sql/run.ts';
import { engines, type TestStore } from './test-store.ts';

let store: TestStore;
let parser: SqlParser;
let projectId: number;
beforeAll(async () => {
  const [postgres] = engines;
  if (postgres === undefined) throw new Error('There is no engine.');
  store = await postgres.open();
  ({ environmentId: projectId } = await createTestTenant(store.database));
  parser = createParser();
});
afterAll(async () => {
  await parser.stop();
  await store.stop();
});

/** Returns the text of the plan that PostgreSQL would use for a large table. */
async function planOf(text: string): Promise<string> {
  const { sql } = store.database;
  const settings = await readProjectSettings(sql, projectId);
  const { resolved } = await prepareSql({ sql, parser }, { projectId, settings, now: Date.now(), text });
  const statement = renderPostgresStatement(printStatement(resolved.query, { engine: 'postgres', projectId }));
  const rows = await store.database.transaction(async (tx) => {
    await tx.query('SET LOCAL enable_seqscan = off');
    await tx.query('SET LOCAL enable_bitmapscan = off');
    return tx.query<{ 'QUERY PLAN': string }>(`EXPLAIN (VERBOSE) ${statement.text}`, statement.values);
  });
  return rows.map((row) => row['QUERY PLAN']).join('\n');
}

test.each(['timestamp DESC', 'timestamp DESC, uuid', 'timestamp DESC, uuid DESC', 'timestamp'])(
  'reads a page of events by %s from an index instead of sorting all events',
  async (order) => {
    const plan = await planOf(`SELECT *, person_id FROM events ORDER BY ${order} LIMIT 10`);
    expect(plan).toMatch(/Index Scan (Backward )?using event_any_pkey/);
    expect(plan.replaceAll('Incremental Sort', '')).not.toContain('Sort  (');
  },
);

test.each([
  'SELECT count(DISTINCT person_id) FROM events',
  'SELECT event, uniq(distinct_id), count(), min(timestamp) FROM events GROUP BY event ORDER BY 2 DESC',
  "SELECT uniqIf(distinct_id, event = 'a'), uniq(distinct_id) FROM events HAVING count() > 0",
])('counts distinct values by grouping instead of sorting the events for %s', async (text) => {
  expect(await planOf(text)).not.toContain('DISTINCT');
});

test('computes the start of a day without looking up the time zone by name', async () => {
  expect(await planOf('SELECT toStartOfDay(timestamp), toHour(timestamp) FROM events')).toContain('date_bin');
});
