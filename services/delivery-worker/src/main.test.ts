import { type ChildProcess, spawn } from 'node:child_process';
import { randomBytes, randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createDatabase } from '@millrace/db';
import { readEnvironment } from '@millrace/runtime';
import {
  type CompiledPrograms,
  compilePrograms,
  createTestDatabase,
  createTestTenant,
  eventually,
} from '@millrace/testing';
import { storeEvents, storeExport } from './testing/stored-export.ts';
import { storeSubscription } from './testing/stored-subscription.ts';
import { startWorkerFixture, type WorkerFixture } from './testing/worker-fixture.ts';

let programs: CompiledPrograms;
let fixture: WorkerFixture;
const children: ChildProcess[] = [];
beforeAll(async () => {
  [fixture, programs] = await Promise.all([
    startWorkerFixture(),
    compilePrograms(['services/delivery-worker/src/main.ts']),
  ]);
});
afterAll(async () => {
  for (const child of children) await end(child, 'SIGKILL');
  await fixture.stop();
  await programs.remove();
});

function spawnWorker(settings: Record<string, string> = {}): ChildProcess {
  const child = spawn(process.execPath, programs.files, {
    env: {
      ...readEnvironment(),
      NODE_OPTIONS: '',
      DATABASE_URL: fixture.databaseUrl,
      HEALTH_PORT: '0',
      HEALTH_HOST: '127.0.0.1',
      SMTP_URL: fixture.mailServer.url,
      ALLOW_PRIVATE_DESTINATIONS: 'true',
      POLL_INTERVAL_MS: '50',
      LOG_LEVEL: 'error',
      SECRETS_KEY: fixture.secretsKey,
      ...settings,
    },
    stdio: ['ignore', 'pipe', 'inherit', 'ipc'],
  });
  children.push(child);
  return child;
}

async function start(): Promise<{ child: ChildProcess; url: string }> {
  const child = spawnWorker();
  child.stdout?.pipe(process.stdout);
  const [message] = (await once(child, 'message')) as [{ type: string; port: number }];
  return { child, url: `http://127.0.0.1:${message.port}` };
}

async function end(child: ChildProcess, signal: 'SIGTERM' | 'SIGKILL'): Promise<number | null> {
  if (child.exitCode !== null || child.signalCode !== null) return child.exitCode;
  const exited = once(child, 'exit');
  child.kill(signal);
  await exited;
  return child.exitCode;
}

test('the worker reports that it is alive and ready, counts its rounds, sends due reports, and exits on SIGTERM', async () => {
  const tenant = await createTestTenant(fixture.database);
  await storeSubscription(fixture.database.sql, tenant.environmentId, { next_delivery_date: new Date() });
  const { child, url } = await start();
  for (const path of ['/_liveness', '/_readiness']) expect((await fetch(url + path)).status).toBe(200);
  const delivered = 'millrace_subscription_deliveries_total{target_type="email",result="delivered"} 1';
  await eventually(async () => expect(await (await fetch(`${url}/metrics`)).text()).toContain(delivered), {
    what: 'The report being counted',
  });
  expect(fixture.mailServer.mails).toHaveLength(1);
  expect(await end(child, 'SIGTERM')).toBe(0);
});

test('exports every event exactly once, even if the worker was killed during the export', async () => {
  const { sql } = fixture.database;
  const warehouse = await createTestDatabase({ isMigrated: false });
  const { environmentId } = await createTestTenant(fixture.database);
  const { hostname, port, username, password, pathname } = new URL(warehouse.url);
  const count = 15_000;
  await storeEvents(sql, environmentId, { count, from: '2026-11-10T00:00:00Z' });
  const id = await storeExport(sql, environmentId, {
    interval: 'day',
    next_interval_start: '2026-11-10T00:00:00Z',
    next_interval_end: '2026-11-11T00:00:00Z',
    end_at: '2026-11-11T00:00:00Z',
    destination_config: { host: hostname, port: Number(port), database: pathname.slice(1) },
    destination_secrets: { user: username, password: decodeURIComponent(password) },
  });
  const run = async () =>
    (
      await sql.query('SELECT status, records_completed AS records FROM batch_export_run WHERE batch_export_id = $1', [
        id,
      ])
    )[0];
  await whilePagesWait(async () => {
    const first = await start();
    await eventually(async () => ((await run())?.records ?? 0) > 0, { what: 'The first page' });
    await end(first.child, 'SIGKILL');
  });
  expect(await run()).toMatchObject({ status: 'Running' });
  // Make the worker's lease on the export run expire.
  await sql.query('UPDATE batch_export_run SET attempt_at = now()');
  const second = await start();
  await eventually(async () => (await run())?.status === 'Completed', { what: 'The export' });
  expect(await end(second.child, 'SIGTERM')).toBe(0);
  expect(await run()).toEqual({ status: 'Completed', records: count });
  const [stored] = await sql.query('SELECT destination_secrets AS secrets FROM batch_export WHERE id = $1', [id]);
  expect(stored?.secrets).toEqual({ sealed: expect.stringMatching(/^v1:/) });
  const copied = await warehouseCount(warehouse.url);
  expect(copied).toEqual({ rows: count, events: count });
  await warehouse.drop();
});

test('the worker does not start without the key that encrypts stored secrets', async () => {
  const { environmentId } = await createTestTenant(fixture.database);
  const id = randomUUID();
  const destination_secrets = fixture.secretBox.seal({ user: 'u', password: 'hunter2' }, id);
  await storeExport(fixture.database.sql, environmentId, { id, destination_secrets });
  const other = randomBytes(32).toString('base64');
  for (const key of ['', other]) {
    const child = spawnWorker({ SECRETS_KEY: key });
    let output = '';
    child.stdout?.on('data', (chunk: Buffer) => {
      output += chunk.toString();
    });
    const [code] = await once(child, 'close');
    expect([code, output]).toEqual([1, expect.stringContaining('SECRETS_KEY does not contain the key')]);
    for (const text of ['hunter2', fixture.secretsKey, other]) expect(output).not.toContain(text);
  }
  await fixture.database.sql.query('DELETE FROM batch_export WHERE id = $1', [id]);
});

/** Pauses every export before it records its second page, until `work` has ended. */
async function whilePagesWait(work: () => Promise<void>): Promise<void> {
  const { sql, transaction } = fixture.database;
  await sql.query(
    `CREATE FUNCTION wait_for_test() RETURNS trigger LANGUAGE plpgsql
      AS $$ BEGIN PERFORM pg_advisory_xact_lock(1); RETURN NEW; END $$`,
  );
  await sql.query(
    `CREATE TRIGGER wait_for_test BEFORE UPDATE OF records_completed ON batch_export_run FOR EACH ROW
       WHEN (OLD.records_completed > 0) EXECUTE FUNCTION wait_for_test()`,
  );
  await transaction(async (tx) => {
    await tx.query('SELECT pg_advisory_xact_lock(1)');
    await work();
    await tx.query(
      `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
        WHERE datname = current_database() AND wait_event_type = 'Lock' AND wait_event = 'advisory'`,
    );
  });
  await sql.query('DROP FUNCTION wait_for_test CASCADE');
}

async function warehouseCount(url: string) {
  const database = createDatabase({ url, logger: fixture.logger, poolSize: 1 });
  const rows = await database.sql.query(
    'SELECT count(*)::int AS rows, count(DISTINCT uuid)::int AS events FROM events',
  );
  await database.stop();
  return rows[0];
}
