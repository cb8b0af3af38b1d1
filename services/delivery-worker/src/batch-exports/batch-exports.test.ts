import { randomUUID } from 'node:crypto';
import { createDatabase } from '@millrace/db';
import { createFaultProxy, createTestTenant } from '@millrace/testing';
import { createFairSlots } from '../poll.ts';
import { runOneRound } from '../testing/one-round.ts';
import { storeEvents, storeExport } from '../testing/stored-export.ts';
import { startWarehouse, type Warehouse } from '../testing/warehouse.ts';
import { startWorkerFixture, type WorkerFixture } from '../testing/worker-fixture.ts';
import { planBackfill, planRun } from './plan.ts';
import { createExportMetrics, type ExportRunDeps, runDueExports } from './run.ts';

let fixture: WorkerFixture;
let warehouse: Warehouse;
let deps: ExportRunDeps;
let config: Record<string, unknown>;
beforeAll(async () => {
  fixture = await startWorkerFixture();
  warehouse = await startWarehouse();
  config = warehouse.config;
  deps = { ...fixture, mayBePrivate: true, counter: createExportMetrics(fixture.metrics) };
});
afterAll(async () => {
  await warehouse.stop();
  await fixture.stop();
});

const forever = new AbortController().signal;
const repeatUntilDone = async (work: () => Promise<boolean>) => {
  for (let rounds = 0; await work(); rounds += 1) if (rounds > 200) throw new Error('It does not come to an end.');
};
const runAll = () => repeatUntilDone(() => runOneRound((slots) => runDueExports(deps, forever, slots)));
const runsOf = (id: string) =>
  fixture.database.sql.query(
    `SELECT status, records_completed, bytes_exported::int AS bytes, latest_error, attempts, data_interval_start, data_interval_end, backfill_id
       FROM batch_export_run WHERE batch_export_id = $1 ORDER BY data_interval_start, created_at`,
    [id],
  );
const makeDue = () =>
  fixture.database.sql.query(`UPDATE batch_export_run SET attempt_at = now() WHERE status = 'FailedRetryable'`);
/** Creates an export that writes to its own table, with a single run for the hour that starts at 10:00. */
async function oneRun(fields: Record<string, unknown> = {}, settings: Record<string, unknown> = {}) {
  const { environmentId } = await createTestTenant(fixture.database);
  const table = `t_${randomUUID().slice(0, 8)}`;
  const id = await storeExport(fixture.database.sql, environmentId, {
    destination_config: { ...config, table_name: table, ...settings },
    end_at: '2026-11-10T11:00:00Z',
    ...fields,
  });
  return { environmentId, table, id };
}
const count = async (table: string) => (await warehouse.query(`SELECT count(*)::int AS n FROM "${table}"`))[0]?.n;

test('exports only events that were stored within the interval', async () => {
  const { sql } = fixture.database;
  const { environmentId, table, id } = await oneRun();
  await storeEvents(sql, environmentId, {
    count: 3600,
    from: '2026-11-10T10:00:00Z',
    properties: '{"$ip": "1.2.3.4", "$set": {"a": [1, "b"]}, "text": "ä\\"\\\\ NULL {}"}',
  });
  await storeEvents(sql, environmentId, { count: 5, from: '2026-11-10T09:59:55Z' });
  await storeEvents(sql, environmentId, { count: 5, from: '2026-11-10T11:00:00Z' });
  await repeatUntilDone(() => planRun(fixture));
  await runAll();
  expect(await runsOf(id)).toMatchObject([
    { status: 'Completed', records_completed: 3600, latest_error: null, attempts: 1 },
  ]);
  expect(await count(table)).toBe(3600);
  const [sent] = await warehouse.query(
    `SELECT sum(octet_length(uuid) + octet_length(event) + octet_length(distinct_id) + octet_length(ip)) AS known FROM "${table}"`,
  );
  expect((await runsOf(id))[0]?.bytes).toBeGreaterThan(Number(sent?.known));
  const [first] = await warehouse.query(`SELECT * FROM "${table}" WHERE distinct_id = 'd0'`);
  expect(first).toMatchObject({
    event: 'page',
    team_id: environmentId,
    ip: '1.2.3.4',
    set: { a: [1, 'b'] },
    set_once: null,
    properties: { text: 'ä"\\ NULL {}' },
    timestamp: new Date('2010-01-01T00:00:00Z'),
  });
  const [source] = await sql.query(
    `SELECT uuid FROM event WHERE project_id = $1 AND distinct_id = 'd0' AND created_at = '2026-11-10T10:00Z'`,
    [environmentId],
  );
  expect(first?.uuid).toBe(source?.uuid);
});

test('does not duplicate rows when an interval is exported again', async () => {
  const { environmentId, table, id } = await oneRun();
  await storeEvents(fixture.database.sql, environmentId, { count: 50, from: '2026-11-10T10:00:00Z' });
  await repeatUntilDone(() => planRun(fixture));
  await runAll();
  await fixture.database.sql.query(
    `UPDATE batch_export_run SET status = 'Starting', finished_at = NULL, attempt_at = now() WHERE batch_export_id = $1`,
    [id],
  );
  await runAll();
  expect(await runsOf(id)).toMatchObject([{ status: 'Completed', attempts: 2 }]);
  expect(await count(table)).toBe(50);
});

test("applies an export's include and exclude filters", async () => {
  const { environmentId, table } = await oneRun({}, { include_events: ['a', 'b'], exclude_events: ['b'] });
  for (const event of ['a', 'b', 'c']) {
    await storeEvents(fixture.database.sql, environmentId, { count: 2, from: '2026-11-10T10:00:00Z', event });
  }
  await repeatUntilDone(() => planRun(fixture));
  await runAll();
  expect(await warehouse.query(`SELECT DISTINCT event FROM "${table}"`)).toEqual([{ event: 'a' }]);
});

test('exports the current state of persons, with each of their distinct IDs', async () => {
  const { sql } = fixture.database;
  const { environmentId, table, id } = await oneRun({ model: 'persons' });
  const uuid = randomUUID();
  await sql.query(
    `INSERT INTO person (project_id, uuid, main_distinct_id, properties, version, created_at)
     VALUES ($1, $2, 'ada', '{"name": "Ada"}', 3, '2026-01-01T00:00:00Z')`,
    [environmentId, uuid],
  );
  await sql.query(`INSERT INTO person_distinct_id SELECT $1, unnest(ARRAY['ada', 'anonymous']), $2`, [
    environmentId,
    uuid,
  ]);
  await repeatUntilDone(() => planRun(fixture));
  await runAll();
  expect(await runsOf(id)).toMatchObject([{ status: 'Completed', records_completed: 2 }]);
  expect(await warehouse.query(`SELECT * FROM "${table}" ORDER BY distinct_id`)).toMatchObject([
    { distinct_id: 'ada', person_id: uuid, properties: { name: 'Ada' }, person_version: '3' },
    { distinct_id: 'anonymous', person_id: uuid },
  ]);
});

test('creates exactly one run for every past interval, even with several workers and after a long downtime', async () => {
  const { sql } = fixture.database;
  const { environmentId } = await createTestTenant(fixture.database);
  const id = await storeExport(sql, environmentId, { end_at: '2026-11-10T15:30:00Z' });
  await Promise.all([1, 2, 3].map(() => repeatUntilDone(() => planRun(fixture))));
  const runs = await runsOf(id);
  expect(runs.map((run) => run.data_interval_start.getUTCHours())).toEqual([10, 11, 12, 13, 14]);
  const [stored] = await sql.query('SELECT next_interval_start FROM batch_export WHERE id = $1', [id]);
  expect(stored?.next_interval_start).toBeNull();
  await sql.query('DELETE FROM batch_export WHERE id = $1', [id]);
});

test('creates no export runs for paused, deleted and not yet due exports', async () => {
  const { sql } = fixture.database;
  const { environmentId } = await createTestTenant(fixture.database);
  await storeExport(sql, environmentId, { paused: true });
  await storeExport(sql, environmentId, { deleted: true });
  await storeExport(sql, environmentId, { next_interval_end: new Date(Date.now() + 86_400_000) });
  expect(await planRun(fixture)).toBe(false);
});

test('delays the export of an interval until all transactions that began before its end have ended', async () => {
  const { database } = fixture;
  const { environmentId } = await createTestTenant(database);
  const atOnce = { ...fixture, settledUntil: fixture.atOnce };
  await database.transaction(async (tx) => {
    await storeEvents(tx, environmentId, { count: 1, from: '2026-11-10T10:00:00Z' });
    // Times are precise to a millisecond, so the interval must end at least a millisecond after the transaction began.
    await tx.query('SELECT pg_sleep(0.002)');
    const end = new Date();
    await storeExport(database.sql, environmentId, { next_interval_end: end, end_at: end });
    expect(await planRun(atOnce)).toBe(false);
  });
  expect(await planRun(fixture)).toBe(false);
  expect(await planRun(atOnce)).toBe(true);
});

test("delays an export while a consumer's batch in its interval is open, even if it has not written anything yet", async () => {
  const { sql } = fixture.database;
  const consumer = createDatabase({
    url: fixture.databaseUrl,
    logger: fixture.logger,
    applicationName: 'event-consumer',
  });
  const { environmentId, table, id } = await oneRun({ next_interval_start: null, next_interval_end: null });
  const atOnce = { ...deps, settledUntil: fixture.atOnce };
  const plan = () => planRun(atOnce);
  const run = () => repeatUntilDone(() => runOneRound((slots) => runDueExports(atOnce, forever, slots)));
  await consumer.transaction(async (tx) => {
    await tx.query('SELECT 1');
    // Round up to a full millisecond, so that the end is not before the start of the transaction.
    const end = new Date(Date.now() + 2);
    // Keep the interval within one hour. An export of two intervals would run only the first one here.
    const startOfHour = end.getTime() - 1 - ((end.getTime() - 1) % 3_600_000);
    const start = new Date(Math.max(end.getTime() - 60_000, startOfHour));
    await sql.query(
      'UPDATE batch_export SET next_interval_start = $2, next_interval_end = $3, end_at = $3 WHERE id = $1',
      [id, start, end],
    );
    // A backfill of the same interval must be delayed too.
    await sql.query(
      `INSERT INTO batch_export_backfill (id, batch_export_id, start_at, end_at, next_interval_start, by_stored_time)
       VALUES ('late', $1, $2, $3, $2, true)`,
      [id, start, end],
    );
    expect(await plan()).toBe(false);
    await repeatUntilDone(() => planBackfill(fixture.database));
    await sql.query('UPDATE batch_export_run SET attempt_at = now() WHERE batch_export_id = $1', [id]);
    await run();
    expect((await runsOf(id)).map(({ status }) => status)).toEqual(['Starting']);
    await tx.query(
      `INSERT INTO event (project_id, timestamp, uuid, event, distinct_id, person_id, properties, captured_at)
       VALUES ($1, '2010-01-01', gen_random_uuid(), 'late', 'd', gen_random_uuid(), '{}', now())`,
      [environmentId],
    );
  });
  expect(await plan()).toBe(true);
  await sql.query('UPDATE batch_export_run SET attempt_at = now() WHERE batch_export_id = $1', [id]);
  await run();
  const completed = (await runsOf(id)).filter(({ status }) => status === 'Completed');
  expect(completed.reduce((sum, { records_completed: records }) => sum + Number(records), 0)).toBe(2);
  expect(await count(table)).toBe(1);
  await consumer.stop();
});

test('retries an export whose destination is unavailable and reports the reason, without revealing its password', async () => {
  const proxy = await createFaultProxy({ targetPort: Number(config.port) });
  const { environmentId, table, id } = await oneRun({}, { port: proxy.port });
  await storeEvents(fixture.database.sql, environmentId, { count: 10, from: '2026-11-10T10:00:00Z' });
  await repeatUntilDone(() => planRun(fixture));
  await proxy.refuse();
  await runAll();
  expect(await runsOf(id)).toMatchObject([
    {
      status: 'FailedRetryable',
      attempts: 1,
      latest_error: 'The destination database failed: ECONNREFUSED (connection refused).',
    },
  ]);
  await proxy.pass();
  await makeDue();
  await runAll();
  expect(await runsOf(id)).toMatchObject([{ status: 'Completed', attempts: 2, latest_error: null }]);
  expect(await count(table)).toBe(10);
  await proxy.stop();
});

test('fails an export after five attempts if the destination database does not exist', async () => {
  const { id } = await oneRun({}, { database: 'there_is_no_such_database' });
  await repeatUntilDone(() => planRun(fixture));
  for (let attempt = 1; attempt <= 6; attempt += 1) {
    await runAll();
    await makeDue();
  }
  expect(await runsOf(id)).toMatchObject([
    {
      status: 'Failed',
      attempts: 5,
      latest_error: 'The destination database failed: 3D000 (the database does not exist).',
    },
  ]);
});

test('rejects a destination in a private network unless it is allowed', async () => {
  const { id } = await oneRun();
  await repeatUntilDone(() => planRun(fixture));
  await repeatUntilDone(() => runOneRound((slots) => runDueExports({ ...deps, mayBePrivate: false }, forever, slots)));
  expect(await runsOf(id)).toMatchObject([
    { status: 'Failed', attempts: 1, latest_error: expect.stringContaining('private network') },
  ]);
});

test('leaves nothing at the destination of a cancelled export', async () => {
  const { environmentId, table, id } = await oneRun();
  await storeEvents(fixture.database.sql, environmentId, { count: 200, from: '2026-11-10T10:00:00Z' });
  await repeatUntilDone(() => planRun(fixture));
  const { sql } = fixture.database;
  // The trigger cancels the run after a worker has claimed it and before its first page.
  await sql.query(`CREATE OR REPLACE FUNCTION cancel_run() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN NEW.status = 'Cancelled'; RETURN NEW; END $$`);
  await sql.query(`CREATE TRIGGER cancelling BEFORE UPDATE ON batch_export_run FOR EACH ROW
    WHEN (NEW.records_completed IS NOT NULL) EXECUTE FUNCTION cancel_run()`);
  await runAll();
  await sql.query('DROP TRIGGER cancelling ON batch_export_run');
  expect((await runsOf(id))[0]?.status).toBe('Cancelled');
  expect(await warehouse.query('SELECT to_regclass($1) AS found', [table])).toEqual([{ found: null }]);
});

test('releases the export run of a stopping worker, and does not count the interrupted attempt', async () => {
  const { environmentId, id } = await oneRun();
  await storeEvents(fixture.database.sql, environmentId, { count: 10, from: '2026-11-10T10:00:00Z' });
  await repeatUntilDone(() => planRun(fixture));
  const stopping = new AbortController();
  stopping.abort();
  await runOneRound((slots) => runDueExports(deps, stopping.signal, slots));
  expect(await runsOf(id)).toMatchObject([{ status: 'Starting', attempts: 0 }]);
  await runAll();
  expect(await runsOf(id)).toMatchObject([{ status: 'Completed', attempts: 1 }]);
});

test("exports a backfill by the events' own timestamps, interval by interval, and then completes it", async () => {
  const { sql } = fixture.database;
  const { environmentId, table, id } = await oneRun({ next_interval_start: null, next_interval_end: null });
  await storeEvents(sql, environmentId, { count: 7200, from: '2026-11-10T10:00:00Z' });
  await sql.query(
    `INSERT INTO batch_export_backfill (id, batch_export_id, start_at, end_at, next_interval_start)
     VALUES ('b1', $1, '2010-01-01T00:30:00Z', '2010-01-01T01:45:00Z', '2010-01-01T00:30:00Z')`,
    [id],
  );
  await repeatUntilDone(() => planBackfill(fixture.database));
  await runAll();
  await repeatUntilDone(() => planBackfill(fixture.database));
  expect(await runsOf(id)).toMatchObject([
    { status: 'Completed', records_completed: 1800, backfill_id: 'b1' },
    { status: 'Completed', records_completed: 2700, backfill_id: 'b1' },
  ]);
  expect(await count(table)).toBe(4500);
  const [backfill] = await sql.query(`SELECT status, finished_at FROM batch_export_backfill WHERE id = 'b1'`);
  expect(backfill).toMatchObject({ status: 'Completed', finished_at: expect.any(Date) });
});

test('organizations take turns with their exports, and scheduled runs come before backfills', async () => {
  const { sql } = fixture.database;
  const [first, second] = [await oneRun(), await oneRun()];
  await sql.query(
    `INSERT INTO batch_export_run (id, batch_export_id, data_interval_start, data_interval_end, attempt_at)
     SELECT gen_random_uuid(), $1, '2026-11-09'::timestamptz + n * interval '1 hour',
            '2026-11-09'::timestamptz + (n + 1) * interval '1 hour', '2026-11-09' FROM generate_series(1, 20) n`,
    [first.id],
  );
  await repeatUntilDone(() => planRun(fixture));
  const done = async () => {
    const rows = await sql.query<{ id: string; done: number }>(
      `SELECT batch_export_id AS id, (count(*) FILTER (WHERE status = 'Completed'))::int AS done
         FROM batch_export_run GROUP BY batch_export_id`,
    );
    return [first.id, second.id].map((id) => rows.find((row) => row.id === id)?.done);
  };
  const slots = createFairSlots('test', { max: 1, maxEach: 1, logger: fixture.logger });
  for (let round = 0; round < 2; round += 1) {
    await runDueExports(deps, forever, slots);
    await slots.settle();
  }
  expect(await done()).toEqual([1, 1]);
  await sql.query('DELETE FROM batch_export WHERE id = $1', [first.id]);
});

test("creates a backfill's runs immediately, so that a changed export interval does not affect them", async () => {
  const { sql } = fixture.database;
  const { id } = await oneRun({ next_interval_start: null, next_interval_end: null });
  await sql.query(
    `INSERT INTO batch_export_backfill (id, batch_export_id, start_at, end_at, next_interval_start)
     VALUES ('b4', $1, '2009-01-01T00:00:00Z', '2009-02-01T00:00:00Z', '2009-01-01T00:00:00Z')`,
    [id],
  );
  expect(await planBackfill(fixture.database)).toBe(true);
  await sql.query(`UPDATE batch_export SET "interval" = 'every 5 minutes' WHERE id = $1`, [id]);
  expect(await planBackfill(fixture.database)).toBe(false);
  const runs = await runsOf(id);
  expect(runs.length).toBe(31 * 24);
  expect(runs.at(-1)).toMatchObject({ data_interval_start: new Date('2009-01-31T23:00:00Z') });
  await sql.query('DELETE FROM batch_export WHERE id = $1', [id]);
});

test('selects events by storage time in a backfill of intervals that were missed during a pause', async () => {
  const { sql } = fixture.database;
  const { environmentId, table, id } = await oneRun({ next_interval_start: null, next_interval_end: null });
  await storeEvents(sql, environmentId, { count: 30, from: '2026-11-10T10:00:00Z' });
  await sql.query(
    `INSERT INTO batch_export_backfill (id, batch_export_id, start_at, end_at, next_interval_start, by_stored_time)
     VALUES ('b2', $1, '2026-11-10T10:00:10Z', '2026-11-10T10:00:20Z', '2026-11-10T10:00:10Z', true)`,
    [id],
  );
  await repeatUntilDone(() => planBackfill(fixture.database));
  await runAll();
  expect(await count(table)).toBe(10);
});

test('delays the last run of a backfill that ends in the future until its interval has ended', async () => {
  const { sql } = fixture.database;
  const { id } = await oneRun({ next_interval_start: null, next_interval_end: null });
  await sql.query(
    `INSERT INTO batch_export_backfill (id, batch_export_id, start_at, end_at, next_interval_start)
     VALUES ('b3', $1, now() - interval '1 minute', now() + interval '10 minutes', now() - interval '1 minute')`,
    [id],
  );
  await repeatUntilDone(() => planBackfill(fixture.database));
  await runAll();
  expect((await runsOf(id)).at(-1)?.status).toBe('Starting');
  await sql.query('DELETE FROM batch_export WHERE id = $1', [id]);
});
