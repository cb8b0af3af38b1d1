import { randomBytes } from 'node:crypto';
import { createDatabase, type Database } from '@millrace/db';
import { createLogger } from '@millrace/runtime';
import { createTestTenant, eventually, testServers } from '@millrace/testing';
import { storeExport } from '../testing/stored-export.ts';
import { startWorkerFixture, type WorkerFixture } from '../testing/worker-fixture.ts';
import { planRun } from './plan.ts';
import { createSettledUntil, type SettledUntil } from './read.ts';

/** The worker's database role cannot see the consumers' sessions. */
const role = `worker_${randomBytes(6).toString('hex')}`;
const password = randomBytes(12).toString('hex');
const warnings: string[] = [];
const logger = Object.assign(createLogger('test', 'error'), { warn: (message: string) => void warnings.push(message) });

let fixture: WorkerFixture;
let server: Database;
let worker: Database;
let consumer: Database;
beforeAll(async () => {
  fixture = await startWorkerFixture();
  const quiet = createLogger('test', 'error');
  server = createDatabase({ url: testServers().databaseUrl, logger: quiet, poolSize: 1 });
  await server.sql.query(`CREATE ROLE ${role} LOGIN PASSWORD '${password}'`);
  await fixture.database.sql.query(`GRANT ALL ON ALL TABLES IN SCHEMA public TO ${role}`);
  const url = Object.assign(new URL(fixture.databaseUrl), { username: role, password }).toString();
  worker = createDatabase({ url, logger: quiet });
  consumer = createDatabase({ url: fixture.databaseUrl, logger: quiet, applicationName: 'event-consumer' });
});
afterAll(async () => {
  await Promise.all([worker.stop(), consumer.stop()]);
  await fixture.stop();
  await server.sql.query(`DROP ROLE ${role}`);
  await server.stop();
});
beforeEach(() => {
  warnings.length = 0;
});

const settledOf = (database: Database) => createSettledUntil({ sql: database.sql, logger, settleSeconds: 0 });

async function dueExport(): Promise<string> {
  const { environmentId } = await createTestTenant(fixture.database);
  const end = new Date(Date.now() + 2);
  await eventually(() => Date.now() > end.getTime());
  const start = new Date(end.getTime() - 60_000);
  return storeExport(fixture.database.sql, environmentId, {
    next_interval_start: start,
    next_interval_end: end,
    end_at: end,
  });
}

async function planned(id: string, settledUntil: SettledUntil): Promise<boolean> {
  await planRun({ database: worker, settledUntil });
  return (await fixture.database.sql.query('SELECT FROM batch_export_run WHERE batch_export_id = $1', [id])).length > 0;
}

test("a consumer's batch delays the export of its interval, even if the worker cannot see the consumer's session", async () => {
  const settledUntil = settledOf(worker);
  expect(await settledUntil()).toEqual(expect.any(Date));
  const id = await consumer.transaction(async (tx) => {
    await tx.query('SELECT 1');
    const due = await dueExport();
    for (let look = 0; look < 3; look += 1) expect(await planned(due, settledUntil)).toBe(false);
    // The transaction began before the interval ended, and writes only now.
    await tx.query('SELECT pg_current_xact_id()');
    expect(await planned(due, settledUntil)).toBe(false);
    return due;
  });
  expect(await planned(id, settledUntil)).toBe(true);
  expect(warnings).toEqual([expect.stringContaining('pg_read_all_stats')]);
});

test('a hidden session of a different role delays an export only if it has written something', async () => {
  const settledUntil = settledOf(worker);
  await settledUntil();
  const id = await fixture.database.transaction(async (tx) => {
    await tx.query('SELECT 1');
    const before = await dueExport();
    expect(await planned(before, settledUntil)).toBe(true);
    const due = await dueExport();
    await tx.query('SELECT pg_current_xact_id()');
    expect(await planned(due, settledUntil)).toBe(false);
    return due;
  });
  expect(await planned(id, settledUntil)).toBe(true);
});

test('a continuous stream of consumer batches does not delay an export for long', async () => {
  const settledUntil = settledOf(worker);
  let id = '';
  await consumer.transaction(async (one) => {
    await one.query('SELECT 1');
    expect(await settledUntil()).toBeNull();
    await consumer.transaction(async (two) => {
      await one.query('COMMIT; BEGIN');
      await two.query('SELECT 1');
      expect(await settledUntil()).toEqual(expect.any(Date));
      id = await dueExport();
      await settledUntil();
    });
    await one.query('COMMIT; BEGIN; SELECT 1');
    expect(await planned(id, settledUntil)).toBe(true);
  });
});

test('a worker with `pg_read_all_stats` sees all sessions, so exports are not delayed and no warning is logged', async () => {
  await server.sql.query(`GRANT pg_read_all_stats TO ${role}`);
  await consumer.transaction(async (tx) => {
    const [{ now: startedAt } = { now: null }] = await tx.query<{ now: Date }>('SELECT now()');
    expect(await settledOf(worker)()).toEqual(startedAt);
  });
  expect(warnings).toEqual([]);
});
