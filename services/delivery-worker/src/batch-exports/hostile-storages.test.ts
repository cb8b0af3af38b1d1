import {
  afterHeaders,
  brokenTls,
  createTestTenant,
  eventually,
  type HostileServer,
  httpMisbehaviors,
  patienceMs,
  startHostileServer,
} from '@millrace/testing';
import { runOneRound } from '../testing/one-round.ts';
import { storeEvents, storeExport } from '../testing/stored-export.ts';
import { startWorkerFixture, type WorkerFixture } from '../testing/worker-fixture.ts';
import { planRun } from './plan.ts';
import { createExportMetrics, type ExportRunDeps, runDueExports } from './run.ts';

/**
 * Misbehaving HTTP servers. The S3 SDK retries a request without a response and reads response bodies, so its outcomes
 * can differ from those in the table.
 */
const cases = [
  ...httpMisbehaviors.map(({ status, ...rest }) => ({ ...rest, scheme: 'http', outcome: status })),
  ...brokenTls.map(([id, title, script]) => ({ id, title, script, scheme: 'https', outcome: 'tls' })),
];
/** Cases in which the SDK waits until its time limit. */
const slow = new Set(['hostile-008', 'hostile-038', 'hostile-039', 'hostile-064']);
const isSlow = ({ id, outcome }: { id: string; outcome: string }) => outcome === 'late' || slow.has(id);
const good = afterHeaders((socket) => void socket.end('HTTP/1.1 200 OK\r\netag: "a"\r\ncontent-length: 0\r\n\r\n'));

interface Run {
  name: string;
  status: string;
  latest_error: string | null;
}
let fixture: WorkerFixture;
let deps: ExportRunDeps;
const servers = new Map<string, HostileServer>();
const [before, after] = [new Map<string, Run>(), new Map<string, Run>()];

beforeAll(async () => {
  fixture = await startWorkerFixture();
  deps = { ...fixture, mayBePrivate: true, counter: createExportMetrics(fixture.metrics) };
  for (const { id, script } of cases) servers.set(id, await startHostileServer(script));
  await exportAll(cases.filter(isSlow), 1000);
  await exportAll(
    cases.filter((one) => !isSlow(one)),
    patienceMs,
  );
});
afterAll(async () => {
  for (const server of servers.values()) await server.stop();
  await fixture.stop();
});

async function exportAll(some: typeof cases, responseTimeoutMs: number): Promise<void> {
  const { sql } = fixture.database;
  const { environmentId } = await createTestTenant(fixture.database);
  await storeEvents(sql, environmentId, { count: 1, from: '2026-11-10T10:00:00Z' });
  for (const { id, scheme } of some) {
    await storeExport(sql, environmentId, {
      ...{ name: id, destination_type: 'S3', end_at: '2026-11-10T11:00:00Z' },
      destination_config: { bucket_name: 'b', endpoint_url: `${scheme}://127.0.0.1:${servers.get(id)?.port}` },
      destination_secrets: { aws_access_key_id: 'a', aws_secret_access_key: 'b' },
    });
  }
  while (await planRun(fixture));
  const run = async (outcomes: Map<string, Run>, timeoutMs: number) => {
    const stopping = new AbortController().signal;
    const begin = (slots: Parameters<typeof runDueExports>[2]) =>
      runDueExports({ ...deps, responseTimeoutMs: timeoutMs }, stopping, slots);
    while (await oneRoundOfAll(begin));
    const rows = await sql.query<Run>(
      `SELECT e.name, r.status, r.latest_error FROM batch_export_run r JOIN batch_export e ON e.id = r.batch_export_id`,
    );
    for (const row of rows) outcomes.set(row.name, row);
  };
  await run(before, responseTimeoutMs);
  for (const { id } of some) servers.get(id)?.behave(good);
  await sql.query(
    `UPDATE batch_export_run SET attempt_at = now() FROM batch_export e
      WHERE e.id = batch_export_id AND status = 'FailedRetryable' AND e.destination_config->>'endpoint_url' LIKE 'http:%'`,
  );
  await run(after, patienceMs);
  await sql.query('DELETE FROM batch_export');
}

function oneRoundOfAll(begin: (slots: Parameters<typeof runDueExports>[2]) => Promise<boolean>): Promise<boolean> {
  return runOneRound(
    async (slots) => {
      let hasBegun = false;
      while (await begin(slots)) hasBegun = true;
      return hasBegun;
    },
    { max: 200, maxEach: 200 },
  );
}

describe('exporting to a misbehaving storage server', () => {
  it.each(cases)('$id: $title', async ({ id, outcome, scheme }) => {
    const server = servers.get(id);
    const run = before.get(id);
    // The SDK also reads the response body, so the outcome may depend on the body.
    if (outcome !== 'ok' || run?.status !== 'Completed') {
      expect(run).toMatchObject({
        status: 'FailedRetryable',
        latest_error: expect.stringMatching(/^The object storage failed: (no answer in time|[\w.-]+)( \(\d{3}\))?\.$/),
      });
      if (scheme === 'http') expect(after.get(id)).toMatchObject({ status: 'Completed', latest_error: null });
    }
    await eventually(() => expect(server?.openConnections()).toBe(0));
    expect(server?.bytesSent()).toBeLessThan(32 * 1024 * 1024);
  });
});
