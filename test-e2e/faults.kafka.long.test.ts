import {
  createFaultProxy,
  createTestTenant,
  eventually,
  type FaultProxy,
  type KafkaFaultProxy,
  startKafkaFaultProxy,
  testServers,
} from '@millrace/testing';
import { countConsumedRecords, waitUntilDrained } from './support/log-progress.ts';
import { type RunningServices, startServices } from './support/start-services.ts';
import { type Attempt, type SteadyLoad, startSteadyLoad } from './support/steady-load.ts';

/**
 * Tests server outages under load (docs/architecture.md#failure-modes). The services connect through proxies that the
 * test can break. The test connects directly.
 */
const faults = ['refuse', 'blackHole'] as const;
let kafka: KafkaFaultProxy;
let postgres: FaultProxy;
let services: RunningServices;
let load: SteadyLoad;

beforeAll(async () => {
  const { hostname, port } = new URL(testServers().databaseUrl);
  kafka = await startKafkaFaultProxy(testServers().kafkaBrokers);
  postgres = await createFaultProxy({ targetHost: hostname, targetPort: Number(port || 5432) });
});
afterAll(() => Promise.all([kafka.stop(), postgres.stop()]));

beforeEach(() => {
  load = startSteadyLoad(services.ingestUrl, services.tenant.projectApiKey);
});
afterEach(async () => {
  await load.stop();
  await Promise.all([kafka.pass(), postgres.pass()]);
});

function throughProxy(url: string): string {
  const changed = new URL(url);
  changed.hostname = postgres.host;
  changed.port = String(postgres.port);
  return changed.toString();
}

describe('services with Kafka as the event log', () => {
  beforeAll(async () => {
    services = await startServices({
      eventLog: 'kafka',
      brokers: kafka.brokers,
      databaseUrlForServices: throughProxy,
      managementApi: false,
    });
  });
  afterAll(() => services?.stop());

  test.each(faults)(
    'services return 503 within the time limit while the broker proxy is in mode %s, and recover automatically',
    async (fault) => {
      await waitForResponses(load, 50, 200);
      await kafka[fault]();
      await waitUntilAllRejected(load);
      // All requests that were in flight when the fault began have received responses. From here until the end of the
      // fault, the gateway rejects every request.
      const during = load.attempts.length;
      await waitForResponses(load, 8, 503);
      const refused = load.attempts.slice(during);
      expect(new Set(refused.map(({ status }) => status))).toEqual(new Set([503]));
      expect(refused.every(({ retryAfter }) => Number(retryAfter) > 0)).toBe(true);
      await kafka.pass();
      await waitForResponses(load, 50, 200);
      await load.stop();
      expect(statuses(load)).toEqual(new Set([200, 503]));
      await expectStored(services, load);
    },
    300_000,
  );

  test.each(faults)(
    'services accept events with known keys without losing any while the PostgreSQL proxy is in mode %s',
    async (fault) => {
      const uncachedTenant = await createTestTenant(services.databaseUrl);
      await waitForResponses(load, 50, 200);
      await postgres[fault]();
      await waitForResponses(load, 1000, 200);
      // The gateway cannot check a key that is not cached. If PostgreSQL refuses connections, the gateway accepts the
      // event and the consumer checks the key (docs/architecture.md#life-of-an-event). If PostgreSQL does not respond,
      // the client must retry.
      const unchecked = startSteadyLoad(services.ingestUrl, uncachedTenant.projectApiKey, { clients: 1 });
      const isSilent = fault === 'blackHole';
      await waitForResponses(unchecked, 1, isSilent ? 503 : 200);
      if (!isSilent) await unchecked.stop();
      await postgres.pass();
      if (isSilent) await waitForResponses(unchecked, 1, 200);
      await unchecked.stop();
      await waitForResponses(load, 50, 200);
      await load.stop();
      expect(statuses(load)).toEqual(new Set([200]));
      await expectStored(services, unchecked);
      await expectStored(services, load);
    },
    300_000,
  );

  test('services do not wait for lost PostgreSQL connections, and release their locks', async () => {
    const [consumer] = services.consumers;
    await waitForResponses(load, 50, 200);
    const before = await countConsumedRecords(services);
    postgres.forget();
    await eventually(
      async () => {
        const after = await countConsumedRecords(services);
        if (after <= before + 50) throw new Error(`${after} records are consumed. It said: ${consumer?.output()}`);
      },
      // A statement takes up to 35 s to fail, or 30 s if it waits for a lock.
      { what: 'Consuming on' },
    );
    await waitForResponses(load, 50, 200);
    await load.stop();
    expect(statuses(load)).toEqual(new Set([200]));
    await expectStored(services, load);
  });
});

describe('services with the embedded event log', () => {
  beforeAll(async () => {
    services = await startServices({
      eventLog: 'postgres',
      databaseUrlForServices: throughProxy,
      managementApi: false,
    });
  });
  afterAll(() => services?.stop());

  test.each(faults)(
    'services return 503 within the time limit while the PostgreSQL proxy is in mode %s, and recover automatically',
    async (fault) => {
      await waitForResponses(load, 50, 200);
      await postgres[fault]();
      await waitForResponses(load, 8, 503);
      await postgres.pass();
      await waitForResponses(load, 50, 200);
      await load.stop();
      expect(statuses(load)).toEqual(new Set([200, 503]));
      await expectStored(services, load);
    },
    300_000,
  );
});

/** Waits for `count` more responses with the given status. */
async function waitForResponses(load: SteadyLoad, count: number, status: number): Promise<void> {
  const from = load.attempts.length;
  const since = () => load.attempts.slice(from);
  await eventually(
    () => {
      const found = tally(since());
      if ((found[status] ?? 0) < count) throw new Error(`responses by status: ${JSON.stringify(found)}`);
    },
    { what: `Getting ${count} responses with ${status}` },
  );
}

/** Waits until each client has received status 503. A client waits for a response before its next request. */
async function waitUntilAllRejected(load: SteadyLoad): Promise<void> {
  const from = load.attempts.length;
  const clients = new Set(load.attempts.map(({ client }) => client));
  await eventually(
    () => {
      const refused = load.attempts.slice(from).filter(({ status }) => status === 503);
      return new Set(refused.map(({ client }) => client)).size === clients.size;
    },
    { what: 'Refusing every client' },
  );
}

function statuses(load: SteadyLoad): Set<number> {
  return new Set(load.attempts.map(({ status }) => status));
}

function tally(attempts: readonly Attempt[]): Record<number, number> {
  const counts: Record<number, number> = {};
  for (const { status } of attempts) counts[status] = (counts[status] ?? 0) + 1;
  return counts;
}

/** Every acknowledged event must be stored exactly once. A rejected event may be stored at most once. */
async function expectStored(services: RunningServices, load: SteadyLoad): Promise<void> {
  await waitUntilDrained(services);
  const { rows } = await services.database.query<{ uuid: string; count: number }>(
    'SELECT uuid, count(*)::int AS count FROM event WHERE uuid = ANY($1::uuid[]) GROUP BY uuid',
    [load.attempts.map(({ uuid }) => uuid)],
  );
  const stored = new Set(rows.map(({ uuid }) => uuid));
  expect(rows.filter(({ count }) => count !== 1)).toEqual([]);
  expect(load.attempts.filter(({ uuid, status }) => status === 200 && !stored.has(uuid))).toEqual([]);
}
