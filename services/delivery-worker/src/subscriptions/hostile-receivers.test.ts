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
import { storeSubscription } from '../testing/stored-subscription.ts';
import { startWorkerFixture, type WorkerFixture } from '../testing/worker-fixture.ts';
import { createDueReports } from './create-reports.ts';
import { createDeliveryMetrics, type DeliverDueDeps, deliverDueReports } from './deliver.ts';
import { scheduleDueReports } from './schedule.ts';

/**
 * The expected delivery error for each outcome in the table of misbehaving servers. The table assumes clients that read
 * only the status.
 */
const errors: Record<string, RegExp | null> = {
  ok: null,
  invalid: /^The webhook URL did not send a valid HTTP response \((EBADSTATUS|HPE_\w+)\)\.$/,
  late: /^The webhook URL did not respond in time \(ETIMEDOUT\)\.$/,
  cut: /^The webhook URL closed the connection before the end of its response \(ECONNRESET\)\.$/,
  refused: /^The webhook URL responded with \d{3}\.$/,
  tls: /^The webhook URL .+ \((EPROTO|ERR_SSL_\w+|ECONNRESET|ETIMEDOUT)\)\.$/,
};
const cases = [
  ...httpMisbehaviors.map(({ status, ...rest }) => ({ ...rest, scheme: 'http', outcome: status })),
  ...brokenTls.map(([id, title, script]) => ({ id, title, script, scheme: 'https', outcome: 'tls' })),
];
const good = afterHeaders((socket) => void socket.end('HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n'));

interface Delivery {
  target: string;
  status: string;
  error: string | null;
}
let fixture: WorkerFixture;
let counter: DeliverDueDeps['counter'];
const servers = new Map<string, HostileServer>();
const [before, after] = [new Map<string, Delivery>(), new Map<string, Delivery>()];

beforeAll(async () => {
  fixture = await startWorkerFixture();
  counter = createDeliveryMetrics(fixture.metrics);
  for (const { id, script } of cases) servers.set(id, await startHostileServer(script));
  await deliverAll(cases.filter(isLate), 1000);
  await deliverAll(
    cases.filter((one) => !isLate(one)),
    patienceMs,
  );
});

const isLate = ({ outcome, title }: { outcome: string; title: string }) =>
  outcome === 'late' || title.startsWith('silence');

async function deliverAll(some: typeof cases, postTimeoutMs: number): Promise<void> {
  const { sql } = fixture.database;
  const { environmentId } = await createTestTenant(fixture.database);
  for (const { id, scheme } of some) {
    const target = `${scheme}://127.0.0.1:${servers.get(id)?.port}/${id}`;
    await storeSubscription(sql, environmentId, { target_type: 'webhook', target_value: target });
  }
  await scheduleDueReports(fixture.database, new Date('2026-11-10T12:00:00Z'));
  const stopping = new AbortController().signal;
  while (await runOneRound((slots) => createDueReports({ ...fixture, stopping }, slots)));
  const deliver = async (outcomes: Map<string, Delivery>, timeoutMs: number) => {
    const deps = { ...fixture, mailsPerHour: 0, publicAppUrl: undefined, publicApiUrl: undefined, mayBePrivate: true };
    await sql.query(
      `UPDATE subscription_delivery SET attempt_at = now()
        WHERE status = 'pending' AND (attempts = 0 OR target LIKE 'http:%')`,
    );
    const isBusy = () =>
      runOneRound((slots) => deliverDueReports({ ...deps, postTimeoutMs: timeoutMs, counter }, slots), {
        max: 200,
        maxEach: 200,
      });
    while (await isBusy());
    const rows = await sql.query<Delivery>('SELECT target, status, error FROM subscription_delivery');
    for (const row of rows) outcomes.set(row.target.split('/').at(-1) ?? '', row);
  };
  await deliver(before, postTimeoutMs);
  for (const { id, scheme } of some) if (scheme === 'http') servers.get(id)?.behave(good);
  await deliver(after, patienceMs);
  await sql.query('DELETE FROM subscription');
}
afterAll(async () => {
  for (const server of servers.values()) await server.stop();
  await fixture.stop();
});

describe('delivering to a misbehaving webhook server', () => {
  it.each(cases)('$id: $title', async ({ id, outcome, scheme }) => {
    const expected = errors[outcome];
    const server = servers.get(id);
    if (expected) expect(before.get(id)?.error).toMatch(expected);
    else expect(before.get(id)).toMatchObject({ status: 'delivered', error: null });
    const isRetried = before.get(id)?.status === 'pending' && scheme === 'http';
    if (isRetried) expect(after.get(id)).toMatchObject({ status: 'delivered', error: null });
    await eventually(() => expect(server?.openConnections()).toBe(0));
    expect(server?.bytesSent()).toBeLessThan(8 * 1024 * 1024);
  });
});
