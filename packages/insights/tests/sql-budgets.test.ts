// Tests the hints and warnings for SQL queries, and the cancellation of queries.

import { eventually } from '@millrace/testing';
import { readProjectSettings } from '../src/records-store.ts';
import { checkSql } from '../src/sql/metadata.ts';
import { createParser, type SqlParser } from '../src/sql/parse.ts';
import { runSql } from '../src/sql/run.ts';
import { createSqlWorld, type SqlWorld } from './sql-world.ts';
import { ample, engines, type TestStore } from './test-store.ts';

describe.each(engines)('SQL query limits on $name', (engine) => {
  let store: TestStore;
  let world: SqlWorld;
  let parser: SqlParser;
  beforeAll(async () => {
    store = await engine.open();
    world = await createSqlWorld(store.database);
    parser = createParser();
    await parser.parse('SELECT 1');
  });
  afterAll(async () => {
    await parser.stop();
    await store.stop();
  });

  const request = async (text: string) => {
    const { projectId, now } = world;
    return { projectId, settings: await readProjectSettings(store.database.sql, projectId), now, text };
  };
  const noticesOf = async (text: string) =>
    (await checkSql({ sql: store.database.sql, parser }, await request(text))).notices;
  /** Sets the database's estimate of the number of stored events. */
  const storeEvents = (count: number) =>
    store.database.sql.query("UPDATE pg_class SET reltuples = $1 WHERE relname = 'event_any'", [count]);

  test.each([
    ['SELECT count() FROM events', 20],
    ["SELECT count() FROM events WHERE event = 'order' OR timestamp > '2026-01-01'", 20],
    ["SELECT count() FROM events WHERE timestamp < '2026-01-01'", 20],
    ["SELECT count() FROM persons WHERE id IN (SELECT person_id FROM events WHERE event = 'order')", 63],
    ['WITH t AS (SELECT event FROM events) SELECT count() FROM t', 29],
  ])('returns a hint for %s if more than 5 million events are stored', async (text, start) => {
    await storeEvents(6e6);
    expect(await noticesOf(text)).toEqual([
      { message: expect.stringContaining('no lower bound for timestamp'), start, end: start + 6 },
    ]);
    await storeEvents(4e6);
    expect(await noticesOf(text)).toEqual([]);
  });

  test.each([
    "SELECT count() FROM events WHERE timestamp >= '2026-01-01' AND event = 'order'",
    "SELECT count() FROM events WHERE '2026-01-01' < timestamp",
    "SELECT count() FROM events WHERE toDate(timestamp) = '2026-01-01'",
    "SELECT count() FROM events WHERE timestamp BETWEEN '2026-01-01' AND '2026-02-01'",
    'SELECT count() FROM persons',
  ])('returns no hint for %s', async (text) => {
    await storeEvents(6e6);
    expect(await noticesOf(text)).toEqual([]);
  });

  test('stops a query on the server when the caller aborts it', async () => {
    const series = (name: string) => `(SELECT arrayJoin(range(10000)) AS n) AS ${name}`;
    const text = `SELECT sum(a.n * b.n * c.n) FROM ${series('a')} CROSS JOIN ${series('b')} CROSS JOIN ${series('c')}`;
    const left = new AbortController();
    const deps = { sql: store.database.sql, events: store.events, parser };
    const result = runSql(deps, await request(text), { ...ample(), maxMs: 600_000, signal: left.signal }).catch(
      () => 'ended',
    );
    await eventually(async () => expect(await store.runningJoins()).toBe(1));
    left.abort();
    expect(await result).toBe('ended');
    await eventually(async () => expect(await store.runningJoins()).toBe(0));
  });

  it('reports the types of defined properties in the order the query uses them', async () => {
    await storeEvents(0);
    const text =
      'SELECT p FROM (SELECT person.properties.age AS p, properties.amount, properties.currency FROM events)';
    expect(await noticesOf(text)).toEqual([
      { message: "Person property 'age' is of type 'Float'.", start: 22, end: 43, property: 'age' },
      { message: "Event property 'amount' is of type 'Float'.", start: 50, end: 67, property: 'amount' },
      { message: "Event property 'currency' is of type 'String'.", start: 69, end: 88, property: 'currency' },
    ]);
  });

  it('warns that SAMPLE has no effect', async () => {
    const text = 'SELECT count() FROM events SAMPLE 0.1 WHERE timestamp > now()';
    const { warnings, isValid } = await checkSql({ sql: store.database.sql, parser }, await request(text));
    expect([isValid, warnings]).toEqual([true, [{ message: expect.stringContaining('SAMPLE'), start: 27, end: 37 }]]);
  });
});
