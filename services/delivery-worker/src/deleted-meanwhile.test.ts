import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createTestTenant, patienceMs } from '@millrace/testing';
import { planRun } from './batch-exports/plan.ts';
import { createExportMetrics, runDueExports } from './batch-exports/run.ts';
import { deleteEnvironmentData } from './deletion/delete-data.ts';
import { createDueReports } from './subscriptions/create-reports.ts';
import { createDeliveryMetrics, deliverDueReports } from './subscriptions/deliver.ts';
import { runOneRound } from './testing/one-round.ts';
import { storeEvents, storeExport } from './testing/stored-export.ts';
import { storeSubscription } from './testing/stored-subscription.ts';
import { startWorkerFixture, type WorkerFixture } from './testing/worker-fixture.ts';

let fixture: WorkerFixture;
let server: Server;
let url: string;
/** Resolves when the server receives a request. Call the resulting function to send the response. */
let asked: Promise<() => void>;
beforeAll(async () => {
  fixture = await startWorkerFixture();
  let tell: (answer: () => void) => void = () => {};
  asked = new Promise((resolve) => {
    tell = resolve;
  });
  server = createServer((request, response) => {
    request.resume();
    tell(() => response.end('{}'));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
});
afterAll(async () => {
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
  await fixture.stop();
});

const deleteProject = (projectId: number) =>
  fixture.database.sql.query('DELETE FROM project WHERE id = $1', [projectId]);

test('stops sending a report, without an error, when its project is deleted', async () => {
  const { sql } = fixture.database;
  const [deleted, other] = [await createTestTenant(fixture.database), await createTestTenant(fixture.database)];
  const target = { target_type: 'webhook', target_value: url };
  const subscription = await storeSubscription(sql, deleted.environmentId, target);
  const kept = await storeSubscription(sql, other.environmentId);
  for (const id of [subscription, kept]) {
    await sql.query(
      `INSERT INTO subscription_delivery (id, subscription_id, occasion, due_at, target, attempt_at)
       VALUES (gen_random_uuid(), $1, 'scheduled', now(), $2, now() - make_interval(secs => $3))`,
      [id, id === subscription ? url : 'ada@example.com', id === subscription ? 2 : 1],
    );
  }
  const counter = createDeliveryMetrics(fixture.metrics);
  const deps = {
    ...fixture,
    mailsPerHour: 0,
    mayBePrivate: true,
    publicAppUrl: undefined,
    publicApiUrl: undefined,
    postTimeoutMs: patienceMs,
    counter,
  };
  await runOneRound((slots) => createDueReports({ ...fixture, stopping: new AbortController().signal }, slots));
  const delivering = runOneRound((slots) => deliverDueReports(deps, slots));
  const answer = await asked;
  await deleteProject(deleted.projectId);
  answer();
  await delivering;
  const rows = await sql.query('SELECT subscription_id, status FROM subscription_delivery');
  expect(rows).toEqual([{ subscription_id: kept, status: 'delivered' }]);
});

test('exports nothing if the project is deleted during the export, and completes the cleanup', async () => {
  const { sql } = fixture.database;
  const [gone, other] = [await createTestTenant(fixture.database), await createTestTenant(fixture.database)];
  const { hostname, port, username, password, pathname } = new URL(fixture.databaseUrl);
  const count = 20_000;
  await storeEvents(sql, gone.environmentId, { count, from: '2026-11-10T00:00:00Z' });
  await storeEvents(sql, other.environmentId, { count: 10, from: '2026-11-10T00:00:00Z' });
  const id = await storeExport(sql, gone.environmentId, {
    interval: 'day',
    next_interval_start: '2026-11-10T00:00:00Z',
    next_interval_end: '2026-11-11T00:00:00Z',
    destination_config: { host: hostname, port: Number(port), database: pathname.slice(1), table_name: 'exported' },
    destination_secrets: { user: username, password: decodeURIComponent(password) },
    end_at: '2026-11-11T00:00:00Z',
  });
  expect(await planRun({ ...fixture, settledUntil: fixture.atOnce })).toBe(true);
  const deps = { ...fixture, mayBePrivate: true, counter: createExportMetrics(fixture.metrics) };
  let release = () => {};
  const deleted = new Promise<void>((resolve) => {
    release = resolve;
  });
  let tellFirstPage = () => {};
  const firstPage = new Promise<void>((resolve) => {
    tellFirstPage = resolve;
  });
  const held = {
    ...sql,
    async query<Row extends Record<string, unknown>>(text: string, values?: unknown[]): Promise<Row[]> {
      const rows = await sql.query<Row>(text, values);
      if (text.includes('SET records_completed')) {
        tellFirstPage();
        await deleted;
      }
      return rows;
    },
  };
  const exporting = runOneRound((slots) =>
    runDueExports({ ...deps, database: { ...fixture.database, sql: held } }, new AbortController().signal, slots),
  );
  await firstPage;
  const runs = await sql.query('SELECT records_completed AS n FROM batch_export_run WHERE batch_export_id = $1', [id]);
  expect(runs).toEqual([{ n: expect.any(Number) }]);
  expect(runs[0]?.n).toBeLessThan(count);
  await deleteProject(gone.projectId);
  release();
  expect(await exporting).toBe(true);
  expect(await sql.query("SELECT to_regclass('public.exported') AS found")).toEqual([{ found: null }]);
  expect(await sql.query('SELECT 1 FROM batch_export_run')).toEqual([]);
  expect(await runOneRound((slots) => runDueExports(deps, new AbortController().signal, slots))).toBe(false);
  // Skip the delay during which consumers may still store data.
  await sql.query('UPDATE environment_cleanup SET not_before = now()');
  for (let rounds = 0; await deleteEnvironmentData(fixture.database, { limit: 5000 }); rounds += 1)
    expect(rounds).toBeLessThan(100);
  const remaining = await sql.query('SELECT project_id, count(*)::int AS n FROM event GROUP BY project_id');
  expect(remaining).toEqual([{ project_id: other.environmentId, n: 10 }]);
  expect(await sql.query('SELECT 1 FROM environment_cleanup')).toEqual([]);
});
