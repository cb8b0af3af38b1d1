import { createDatabase } from '@millrace/db';
import {
  connectClickHouse,
  copyEvents,
  copyPersonPortion,
  deleteEvents,
  openEventStore,
  rebuildEvents,
  requestCopyAfterRestore,
  runQuery,
} from '@millrace/insights';
import {
  createTestTenant,
  eventually,
  installClickHouseOrNull,
  startClickHouse,
  type TestClickHouse,
} from '@millrace/testing';
import { deleteEnvironmentData, deletePersonData } from '../deletion/delete-data.ts';
import { startWorkerFixture, type WorkerFixture } from '../testing/worker-fixture.ts';
import { createCopyMetrics, createEventCopier } from './follow.ts';

const modules = await installClickHouseOrNull();

(modules === null ? describe.skip : describe)('copying events from PostgreSQL to ClickHouse', () => {
  let fixture: WorkerFixture;
  let server: TestClickHouse;
  let client: ReturnType<typeof connectClickHouse>;
  /** This role has exactly the permissions that docs/operations/clickhouse.md lists. */
  let readerUrl: string;
  beforeAll(async () => {
    fixture = await startWorkerFixture();
    server = await startClickHouse(String(modules));
    client = connectClickHouse(server.url);
    const role = `clickhouse_${process.pid}`;
    for (const statement of [
      `CREATE ROLE ${role} LOGIN PASSWORD 'it''s a secret'`,
      `GRANT USAGE ON SCHEMA clickhouse TO ${role}`,
      `GRANT SELECT ON ALL TABLES IN SCHEMA clickhouse TO ${role}`,
    ]) {
      await fixture.database.sql.query(statement);
    }
    const address = new URL(fixture.databaseUrl);
    [address.username, address.password] = [role, encodeURIComponent("it's a secret")];
    readerUrl = address.href;
    await fixture.database.sql.query(
      "CREATE TABLE event_all PARTITION OF event FOR VALUES FROM ('2015-01-01Z') TO ('2100-01-01Z')",
    );
  });
  afterAll(async () => {
    await client.close();
    await server.stop();
    await fixture.database.sql.query(`DROP OWNED BY clickhouse_${process.pid}; DROP ROLE clickhouse_${process.pid}`);
    await fixture.stop();
  });

  const follower = (eventRetentionDays = 0, { settledUntil = fixture.atOnce, minPortionMs = 0 } = {}) =>
    createEventCopier({
      ...{ database: fixture.database, logger: fixture.logger, eventRetentionDays, settledUntil, minPortionMs },
      settleSeconds: 0,
      target: { client, postgres: { url: readerUrl } },
      gauge,
    });
  let gauge: ReturnType<typeof createCopyMetrics>;
  beforeAll(() => {
    gauge = createCopyMetrics(fixture.metrics);
  });
  /**
   * Copies until all currently stored events have been copied. A pass stops at the oldest open transaction that has
   * written something, even if it is an autovacuum transaction, so several passes may be necessary.
   */
  const followAll = async (follow = follower()) => {
    const { sql } = fixture.database;
    const [row] = await sql.query(`SELECT clock_timestamp() + interval '5 ms' AS now`);
    await eventually(
      async () => {
        while (await follow());
        const [copied] = await sql.query(`SELECT copied_until AS at FROM event_store_copy WHERE store = 'clickhouse'`);
        expect(Number(copied?.at)).toBeGreaterThanOrEqual(Number(row?.now));
      },
      { what: 'The copy of all events' },
    );
  };
  /** @param stored how long ago the events were stored, as an SQL interval */
  const store = (projectId: number, ids: readonly string[], { stored = '0 seconds', at = '2026-11-10T12:00Z' } = {}) =>
    fixture.database.sql.query(
      `INSERT INTO event (project_id, timestamp, uuid, event, distinct_id, person_id, properties, captured_at, created_at)
       SELECT $1, $3::timestamptz, gen_random_uuid(), 'order', id, gen_random_uuid(), '{"total": 42.50, "wide": 18446744073709551616}',
              $3::timestamptz, now() - $4::interval FROM unnest($2::text[]) AS id`,
      [projectId, ids, at, stored],
    );
  const inClickhouse = async (projectId: number) => {
    const result = await client.query({
      query: 'SELECT distinct_id, count() AS n FROM events WHERE project_id = {id:Int32} GROUP BY 1 ORDER BY 1',
      query_params: { id: projectId },
      format: 'JSONCompactEachRow',
    });
    return Object.fromEntries((await result.json<[string, number | string]>()).map(([id, n]) => [id, Number(n)]));
  };
  const tenant = async () => (await createTestTenant(fixture.database)).environmentId;

  test('engine-018: ClickHouse contains each stored event once, even if it is copied repeatedly', async () => {
    const project = await tenant();
    await store(project, ['a', 'b'], { stored: '40 days' });
    await store(project, ['a']);
    await followAll();
    expect(await inClickhouse(project)).toEqual({ a: 2, b: 1 });
    await store(project, ['c']);
    await followAll();
    expect(await inClickhouse(project)).toEqual({ a: 2, b: 1, c: 1 });
    // Simulate a worker that copied events without recording it.
    await fixture.database.sql.query('UPDATE event_store_copy SET copied_until = NULL');
    await followAll();
    expect(await inClickhouse(project)).toEqual({ a: 2, b: 1, c: 1 });
  });

  const setPosition = (at: string) =>
    fixture.database.sql.query(`UPDATE event_store_copy SET copied_until = ${at} WHERE store = 'clickhouse'`);

  test('engine-036: stores each event exactly once after a copy was interrupted', async () => {
    const project = await tenant();
    await followAll();
    const [row] = await fixture.database.sql.query<{ at: Date }>(
      "SELECT copied_until AS at FROM event_store_copy WHERE store = 'clickhouse'",
    );
    await store(project, ['a', 'b']);
    await followAll();
    // Simulate a worker that was killed before it recorded its progress, and a ClickHouse server that was killed before
    // it stored all events.
    await client.command({ query: `DELETE FROM events WHERE project_id = ${project} AND distinct_id = 'b'` });
    await setPosition(`'${row?.at.toISOString()}'`);
    await store(project, ['c']);
    await followAll();
    expect(await inClickhouse(project)).toEqual({ a: 1, b: 1, c: 1 });
  });

  test('engine-037: stores each event once when two workers copy the same time span', async () => {
    const project = await tenant();
    await store(project, ['a', 'b']);
    const span = { from: new Date(Date.now() - 60_000), until: new Date(Date.now() + 60_000) };
    const copy = () => copyEvents(client, { url: readerUrl }, span);
    // Make the first statement wait for PostgreSQL, like a statement that continues after its worker has crashed.
    let first: Promise<void> = Promise.resolve();
    await fixture.database.transaction(async (tx) => {
      await tx.query('LOCK TABLE event IN ACCESS EXCLUSIVE MODE');
      first = copy();
      await eventually(
        async () => {
          const waiting = await fixture.database.sql.query(
            `SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`,
          );
          return waiting.length > 0;
        },
        { what: 'The first statement' },
      );
      await expect(copy()).rejects.toThrow('is already running');
      await expect(deleteEvents(client, { projectId: project, distinctIds: null, person: null })).rejects.toThrow(
        'is already running',
      );
    });
    await first;
    await copy();
    expect(await inClickhouse(project)).toEqual({ a: 1, b: 1 });
  });

  test('engine-038: stores each event once after PostgreSQL was restored and has stored events again', async () => {
    const project = await tenant();
    const { sql } = fixture.database;
    await store(project, ['a'], { stored: '20 minutes' });
    await store(project, ['b'], { stored: '5 minutes' });
    await setPosition("now() - interval '30 minutes'");
    await followAll();
    expect(await inClickhouse(project)).toEqual({ a: 1, b: 1 });
    await sql.query(`UPDATE event SET created_at = now() WHERE project_id = $1 AND distinct_id = 'b'`, [project]);
    await setPosition("now() - interval '10 minutes'");
    await requestCopyAfterRestore(sql);
    await followAll();
    expect(await inClickhouse(project)).toEqual({ a: 1, b: 1 });
  });

  test('waits until five seconds of events have accumulated, and copies them in one batch', async () => {
    const project = await tenant();
    await followAll();
    const [row] = await fixture.database.sql.query<{ at: Date }>('SELECT copied_until AS at FROM event_store_copy');
    const begin = Number(row?.at);
    const followUntil = (ms: number) =>
      follower(0, { settledUntil: async () => new Date(begin + ms), minPortionMs: 5000 });
    await fixture.database.sql.query(
      `INSERT INTO event (project_id, timestamp, uuid, event, distinct_id, person_id, properties, captured_at, created_at)
       SELECT $1, now(), gen_random_uuid(), 'order', 'a', gen_random_uuid(), '{}', now(), $2::timestamptz + ms * interval '1 ms'
         FROM unnest('{0,4000}'::int[]) AS ms`,
      [project, row?.at],
    );
    expect(await followUntil(4999)()).toBe(false);
    expect(await inClickhouse(project)).toEqual({});
    expect(await followUntil(5000)()).toBe(false);
    expect(await inClickhouse(project)).toEqual({ a: 2 });
    // Reset the position, which is in the future. Otherwise, the following tests' events would not be copied.
    await fixture.database.sql.query('UPDATE event_store_copy SET copied_until = $1', [row?.at]);
  });

  test('queries read only ClickHouse, and see a merge as soon as it is copied', async () => {
    const project = await tenant();
    await store(project, ['x', 'y']);
    await followAll();
    const copyPersons = async () => {
      const deps = { client, database: fixture.database, postgres: { url: readerUrl } };
      while ((await copyPersonPortion(deps))?.hasMore);
    };
    await copyPersons();
    const reader = createDatabase({ url: fixture.databaseUrl, logger: fixture.logger, poolSize: 1 });
    const opened = openEventStore(
      { eventStore: 'clickhouse', clickhouseUrl: server.url },
      { reader: { read: () => Promise.reject(new Error('PostgreSQL was asked')) }, maxMs: 30_000 },
    );
    expect(opened.maxMs).toBe(15_000);
    const persons = async () => {
      const query = {
        kind: 'TrendsQuery',
        series: [{ kind: 'EventsNode', event: 'order', math: 'dau' }],
        properties: [{ key: 'total', type: 'event', operator: 'exact', value: '42.5' }],
        dateRange: { date_from: '2026-11-10', date_to: '2026-11-10' },
      };
      const asked = { projectId: project, query, now: Date.parse('2026-11-11T00:00Z') };
      const budget = { signal: new AbortController().signal, maxMs: 10_000, maxBytes: 1e6 };
      const { results } = await runQuery({ sql: reader.sql, events: opened.events }, asked, budget);
      return (results as { count: number }[])[0]?.count;
    };
    expect(await persons()).toBe(2);
    await fixture.database.sql.query(
      `INSERT INTO person_distinct_id (project_id, distinct_id, person_uuid, version)
       SELECT $1, id, '00000000-0000-4000-8000-000000000001', 1 FROM unnest('{x,y}'::text[]) AS id`,
      [project],
    );
    expect(await persons()).toBe(2);
    await copyPersons();
    expect(await persons()).toBe(1);
    await opened.stop();
    await reader.stop();
  });

  test("engine-020: removes a deleted person's events, but not those of a new person with the same ID", async () => {
    const project = await tenant();
    const { sql } = fixture.database;
    await store(project, ['gone', 'stays']);
    await followAll();
    await sql.query(
      `WITH deletion AS (
         INSERT INTO person_deletion (id, project_id, person_uuid, delete_events, requested_at)
         VALUES (gen_random_uuid(), $1, gen_random_uuid(), true, now()) RETURNING id)
       INSERT INTO deleted_distinct_id (project_id, id_hash, distinct_id, deletion_id, person_uuid, version, deleted_at)
       SELECT $1, sha256(convert_to('gone', 'UTF8')), 'gone', id, gen_random_uuid(), 1, now() FROM deletion`,
      [project],
    );
    // Store an event of a new person with this distinct ID.
    await store(project, ['gone'], { at: '2099-01-01T00:00Z' });
    await sql.query(`UPDATE event SET captured_at = '2099-01-01' WHERE project_id = $1 AND timestamp > '2098-01-01'`, [
      project,
    ]);
    // Transactions in other databases of the PostgreSQL server can delay the deletion.
    await eventually(
      async () => {
        await deletePersonData(fixture.database, { isCopied: true });
        expect(await sql.query('SELECT distinct_id FROM event_store_removal')).toEqual([{ distinct_id: 'gone' }]);
      },
      { what: 'The deletion' },
    );
    await followAll();
    expect(await inClickhouse(project)).toEqual({ gone: 1, stays: 1 });
    expect(await sql.query('SELECT 1 FROM event_store_removal')).toEqual([]);
  });

  test("removes a deleted project's events from ClickHouse", async () => {
    const { environmentId: project, projectId } = await createTestTenant(fixture.database);
    await store(project, ["it's", 'b\\c']);
    await followAll();
    expect(await inClickhouse(project)).toEqual({ "it's": 1, 'b\\c': 1 });
    await fixture.database.sql.query('DELETE FROM project WHERE id = $1', [projectId]);
    await fixture.database.sql.query('UPDATE environment_cleanup SET not_before = now()');
    while (await deleteEnvironmentData(fixture.database, { isCopied: true }));
    await followAll();
    expect(await inClickhouse(project)).toEqual({});
  });

  test("removes events from ClickHouse after their environment's retention period", async () => {
    const project = await tenant();
    await store(project, ['old'], { at: '2020-01-01T00:00Z' });
    await store(project, ['new'], { at: new Date().toISOString() });
    await followAll();
    expect(await inClickhouse(project)).toEqual({ new: 1, old: 1 });
    await fixture.database.sql.query('UPDATE environment SET event_retention_days = 30 WHERE id = $1', [project]);
    await followAll();
    expect(await inClickhouse(project)).toEqual({ new: 1 });
  });

  test("only one worker copies at a time, and a crashed worker's claim expires", async () => {
    const project = await tenant();
    await store(project, ['a']);
    const { sql } = fixture.database;
    await sql.query(`UPDATE event_store_copy SET claimed_until = now() + interval '1 minute'`);
    expect(await follower()()).toBe(false);
    expect(await inClickhouse(project)).toEqual({});
    await sql.query(`UPDATE event_store_copy SET claimed_until = now() - interval '1 second'`);
    await followAll();
    expect(await inClickhouse(project)).toEqual({ a: 1 });
  });

  test('loses no events while ClickHouse is unavailable, and continues the copy where it stopped', async () => {
    const project = await tenant();
    const follow = follower();
    await followAll(follow);
    await store(project, ['a'], { stored: '0 seconds' });
    const unreachable = createEventCopier({
      ...{
        database: fixture.database,
        logger: fixture.logger,
        eventRetentionDays: 0,
        minPortionMs: 0,
        settleSeconds: 0,
        settledUntil: fixture.atOnce,
        gauge,
      },
      target: { client: connectClickHouse('http://127.0.0.1:9'), postgres: { url: readerUrl } },
    });
    await fixture.database.sql.query(`UPDATE event_store_copy SET copied_until = now() - interval '1 hour'`);
    await expect(unreachable()).rejects.toThrow();
    expect((await gauge.get()).values[0]?.value).toBeGreaterThan(3500);
    await followAll(follow);
    expect(await inClickhouse(project)).toEqual({ a: 1 });
  });

  test('rebuilds the table, or continues an interrupted rebuild, without events that were deleted during it', async () => {
    const project = await tenant();
    const { sql } = fixture.database;
    await store(project, ['a', 'b', 'c'], { stored: '10 minutes' });
    const progress: number[] = [];
    const options = { client, sql, postgres: { url: readerUrl }, mayLose: false };
    const rebuild = (more: object = {}) =>
      rebuildEvents({ ...options, onProgress: (_, share) => void progress.push(share), ...more });
    await rebuild({ mayLose: true });
    expect(await inClickhouse(project)).toEqual({ a: 1, b: 1, c: 1 });
    expect(progress.at(-1)).toBe(1);
    expect(await sql.query(`SELECT 1 FROM event_store_copy WHERE store = 'clickhouse rebuild'`)).toEqual([]);

    // Interrupt the rebuild after its first batch, while a deletion waits for the rebuild.
    await sql.query(
      `UPDATE event SET created_at = now() - interval '20 days' WHERE project_id = $1 AND distinct_id = 'a'`,
      [project],
    );
    const interrupted = rebuild({
      onProgress: () => {
        throw new Error('broken off');
      },
    });
    await expect(interrupted).rejects.toThrow('broken off');
    expect(await inClickhouse(project)).toEqual({ a: 1, b: 1, c: 1 });
    await sql.query(`DELETE FROM event WHERE project_id = $1 AND distinct_id = 'a'`, [project]);
    await sql.query(`INSERT INTO event_store_removal (project_id, distinct_id) VALUES ($1, 'a')`, [project]);
    await followAll();
    expect(await sql.query('SELECT distinct_id FROM event_store_removal')).toEqual([{ distinct_id: 'a' }]);
    await rebuild({ mayLose: true });
    await followAll();
    expect(await inClickhouse(project)).toEqual({ b: 1, c: 1 });
  });

  test('rejects a rebuild when PostgreSQL has fewer events than ClickHouse, and names the months', async () => {
    const project = await tenant();
    await store(project, ['a', 'b'], { at: '2021-07-15T00:00Z' });
    await followAll();
    await fixture.database.sql.query(`DELETE FROM event WHERE project_id = $1 AND distinct_id = 'a'`, [project]);
    const refused = rebuildEvents({
      ...{ client, sql: fixture.database.sql, postgres: { url: readerUrl } },
      ...{ mayLose: false, onProgress: () => {} },
    });
    await expect(refused).rejects.toMatchObject({
      months: expect.arrayContaining([{ month: '202107', here: 1, there: 2 }]),
    });
    expect(await inClickhouse(project)).toEqual({ a: 1, b: 1 });
  });
});
