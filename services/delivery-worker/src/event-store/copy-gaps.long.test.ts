/**
 * Tests that ClickHouse contains every event after late commits, interruptions, clock changes and unusual timestamps.
 */

import { createDatabase, type Transaction } from '@millrace/db';
import { connectClickHouse, copyEvents, rebuildEvents } from '@millrace/insights';
import {
  createTestTenant,
  eventually,
  installClickHouseOrNull,
  startClickHouse,
  type TestClickHouse,
} from '@millrace/testing';
import { createSettledUntil } from '../batch-exports/read.ts';
import { startWorkerFixture, type WorkerFixture } from '../testing/worker-fixture.ts';
import { createCopyMetrics, createEventCopier } from './follow.ts';

const modules = await installClickHouseOrNull();

(modules === null ? describe.skip : describe)('the copy of events in ClickHouse', () => {
  let fixture: WorkerFixture;
  let server: TestClickHouse;
  let client: ReturnType<typeof connectClickHouse>;
  let gauge: ReturnType<typeof createCopyMetrics>;
  let consumer: ReturnType<typeof createDatabase>;
  beforeAll(async () => {
    fixture = await startWorkerFixture();
    server = await startClickHouse(String(modules));
    client = connectClickHouse(server.url);
    gauge = createCopyMetrics(fixture.metrics);
    const { logger, databaseUrl: url } = fixture;
    consumer = createDatabase({ url, logger, poolSize: 8, applicationName: 'event-consumer' });
    await query("CREATE TABLE event_all PARTITION OF event FOR VALUES FROM ('2015-01-01Z') TO ('2100-01-01Z')");
  });
  afterAll(async () => {
    await consumer.stop();
    await client.close();
    await server.stop();
    await fixture.stop();
  });

  const query = (text: string, values: unknown[] = []) => fixture.database.sql.query(text, values);
  const target = () => ({ client, postgres: { url: fixture.databaseUrl } });
  const follower = ({ settledUntil = fixture.atOnce, settleSeconds = 0, minPortionMs = 0 } = {}) => {
    const { database, logger } = fixture;
    const deps = { database, logger, eventRetentionDays: 0, gauge, target: target() };
    return createEventCopier({ ...deps, settledUntil, settleSeconds, minPortionMs });
  };
  const followAll = async (follow = follower()) => {
    const [row] = await query(`SELECT clock_timestamp() + interval '5 ms' AS now`);
    await eventually(
      async () => {
        while (await follow());
        const [copied] = await query(`SELECT copied_until AS at FROM event_store_copy WHERE store = 'clickhouse'`);
        expect(Number(copied?.at)).toBeGreaterThanOrEqual(Number(row?.now));
      },
      { what: 'The copy of all events' },
    );
  };
  const tenant = async () => (await createTestTenant(fixture.database)).environmentId;
  const inClickhouse = async (projectId: number) => {
    const result = await client.query({
      query: 'SELECT distinct_id, count() AS n FROM events WHERE project_id = {id:Int32} GROUP BY 1 ORDER BY 1',
      query_params: { id: projectId },
      format: 'JSONCompactEachRow',
    });
    return Object.fromEntries((await result.json<[string, number | string]>()).map(([id, n]) => [id, Number(n)]));
  };
  const inPostgres = async (projectId: number) => {
    const rows = await fixture.database.sql.query<{ id: string; n: number }>(
      'SELECT distinct_id AS id, count(*)::int AS n FROM event WHERE project_id = $1 GROUP BY 1 ORDER BY 1',
      [projectId],
    );
    return Object.fromEntries(rows.map(({ id, n }) => [id, n]));
  };
  const store = (
    sql: { query: typeof query } | Transaction,
    { project, ids, times = ['2026-11-10T12:00Z'] }: { project: number; ids: string[]; times?: string[] },
  ) =>
    sql.query(
      `INSERT INTO event (project_id, timestamp, uuid, event, distinct_id, person_id, properties, captured_at)
       SELECT $1, at, gen_random_uuid(), 'order', id, gen_random_uuid(), '{}', now()
         FROM unnest($2::text[]) AS id, unnest($3::timestamptz[]) AS at`,
      [project, ids, times],
    );
  const sleep = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));
  const random = (max: number) => Math.random() * max;

  test('engine-031: copies every event of transactions that commit late, even while workers crash or are replaced', async () => {
    const project = await tenant();
    await followAll();
    const end = Date.now() + 20_000;
    let count = 0;
    /** Acts like a consumer: pauses before it stores events, and before it commits or rolls back. */
    const write = async () => {
      while (Date.now() < end) {
        const ids = Array.from({ length: 1 + Math.floor(random(3)) }, () => String(count++));
        const written = consumer.transaction(async (tx) => {
          if (random(1) < 0.5) await tx.query('SELECT 1');
          await sleep(random(1) < 0.2 ? random(3000) : random(30));
          await store(tx, { project, ids });
          await sleep(random(1) < 0.2 ? random(3000) : random(30));
          if (random(1) < 0.1) throw new Error('rolled back');
        });
        await written.catch(() => {});
      }
    };
    /** Runs workers that are replaced from time to time, or fail to record what they have copied. */
    const work = async () => {
      while (Date.now() < end) {
        const settleSeconds = 0.2;
        const { sql } = fixture.database;
        const settledUntil = createSettledUntil({ sql, logger: fixture.logger, settleSeconds });
        const follow = follower({ settledUntil, settleSeconds, minPortionMs: random(300) });
        for (let rounds = random(10); rounds > 0; rounds -= 1) {
          await follow();
          await sleep(random(50));
        }
        if (random(1) < 0.2)
          await query(`UPDATE event_store_copy SET copied_until = copied_until - interval '1 second'`);
      }
    };
    await Promise.all([...Array.from({ length: 6 }, write), work(), work()]);
    await followAll();
    const stored = await inPostgres(project);
    expect(Object.keys(stored).length).toBeGreaterThan(100);
    expect(await inClickhouse(project)).toEqual(stored);
  });

  test('engine-032: copies events from more than a hundred months in one batch', async () => {
    const project = await tenant();
    const times = Array.from({ length: 130 }, (_, month) => new Date(Date.UTC(2015, month, 15)).toISOString());
    await store(fixture.database.sql, { project, ids: ['a'], times });
    await followAll();
    expect(await inClickhouse(project)).toEqual({ a: 130 });
  });

  test("engine-033: a rebuild copies every event even if the rebuilding computer's clock is ahead", async () => {
    const project = await tenant();
    await store(fixture.database.sql, { project, ids: ['before'] });
    await followAll();
    // Claim the copy, because the test itself acts as the worker that copies the last event to the old table.
    await query(`UPDATE event_store_copy SET claimed_until = now() + interval '1 minute'`);
    const [{ at: from } = {}] = await query('SELECT copied_until AS at FROM event_store_copy');
    const now = Date.now;
    Date.now = () => now() + 300_000;
    let done = 0;
    const { sql } = fixture.database;
    const rebuilding = rebuildEvents({ ...target(), sql, mayLose: false, onProgress: (_, share) => (done = share) });
    await eventually(() => done === 1, { what: 'The last portion' }).finally(() => {
      Date.now = now;
    });
    await store(sql, { project, ids: ['meanwhile'] });
    const [{ at: until } = {}] = await query(`SELECT clock_timestamp() + interval '5 ms' AS at`);
    await copyEvents(client, target().postgres, { from: from as Date, until: until as Date });
    await query('UPDATE event_store_copy SET copied_until = $1, claimed_until = NULL WHERE store = $2', [
      until,
      'clickhouse',
    ]);
    await rebuilding;
    await followAll();
    expect(await inClickhouse(project)).toEqual({ before: 1, meanwhile: 1 });
  });

  test("engine-034: copies events that are stored after PostgreSQL's clock was set back", async () => {
    const project = await tenant();
    await followAll();
    await query(`UPDATE event_store_copy SET copied_until = now() + interval '10 minutes'`);
    await store(fixture.database.sql, { project, ids: ['a'] });
    await followAll();
    expect(await inClickhouse(project)).toEqual({ a: 1 });
  });

  test('engine-035: finds events from before 1970 by their time', async () => {
    const project = await tenant();
    const times = ['1900-01-01T12:00Z', '1969-12-31T12:00Z', '1970-01-01T12:00Z'];
    await store(fixture.database.sql, { project, ids: ['a'], times });
    await followAll();
    const time = (name: string) => `fromUnixTimestamp64Milli({${name}:Int64}, 'UTC')`;
    const result = await client.query({
      query: `SELECT count() AS n FROM events WHERE project_id = {id:Int32} AND timestamp >= ${time('from')} AND timestamp < ${time('to')}`,
      query_params: { id: project, from: Date.UTC(1969, 11, 31), to: Date.UTC(1970, 0, 2) },
      format: 'JSONCompactEachRow',
    });
    expect(Number((await result.json<[number | string]>())[0]?.[0])).toBe(2);
  });

  test("reports the copy's lag while another worker holds the claim, even if that worker has crashed", async () => {
    await followAll();
    await query(
      `UPDATE event_store_copy SET copied_until = now() - interval '10 minutes', claimed_until = now() + interval '1 minute'`,
    );
    gauge.set(0);
    expect(await follower()()).toBe(false);
    expect((await gauge.get()).values[0]?.value).toBeGreaterThan(590);
    await query('UPDATE event_store_copy SET claimed_until = NULL');
  });

  test('a worker whose claim has expired does not change the position of the copy', async () => {
    await followAll();
    const position = () => query(`SELECT copied_until, claimed_until FROM event_store_copy WHERE store = 'clickhouse'`);
    await query(`UPDATE event_store_copy SET copied_until = date_trunc('minute', now()) - interval '1 minute'`);
    const [before] = await position();
    const slow = follower({
      async settledUntil() {
        await query(`UPDATE event_store_copy SET claimed_until = '2100-01-01Z'`);
        return new Date();
      },
    });
    await expect(slow()).rejects.toThrow('Another process has continued copying events');
    expect(await position()).toEqual([{ ...before, claimed_until: new Date('2100-01-01Z') }]);
    await query('UPDATE event_store_copy SET claimed_until = NULL');
    await followAll();
  });

  test('copies each event exactly once after ClickHouse is killed during the copy', async () => {
    const project = await tenant();
    await followAll();
    // ClickHouse stores each month as a separate part.
    const times = Array.from({ length: 60 }, (_, month) => new Date(Date.UTC(2018, month, 15)).toISOString());
    const ids = Array.from({ length: 100 }, (_, at) => String(at));
    await store(fixture.database.sql, { project, ids, times });
    await query(`UPDATE event SET created_at = now() - interval '5 minutes' WHERE project_id = $1`, [project]);
    await query(`UPDATE event_store_copy SET copied_until = now() - interval '10 minutes'`);
    for (const killedAfterMs of [50, 100, 200, 400]) {
      const copying = follower()().catch(() => {});
      await sleep(killedAfterMs);
      await server.kill();
      await copying;
      // Restart the worker while ClickHouse is unavailable.
      await query('UPDATE event_store_copy SET claimed_until = NULL');
      await follower()().catch(() => {});
      const [{ age } = {}] = await query(
        `SELECT extract(epoch FROM now() - copied_until)::float8 AS age FROM event_store_copy WHERE store = 'clickhouse'`,
      );
      expect((await gauge.get()).values[0]?.value).toBeCloseTo(Number(age), -1);
      await server.restart();
      await query(`UPDATE event_store_copy SET copied_until = now() - interval '10 minutes'`);
    }
    await followAll();
    expect(await inClickhouse(project)).toEqual(Object.fromEntries(ids.map((id) => [id, 60])));
  });
});
