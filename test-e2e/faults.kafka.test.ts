import {
  createFaultProxy,
  createTestTenant,
  eventually,
  type FaultProxy,
  type KafkaFaultProxy,
  startKafkaFaultProxy,
  testServers,
} from '@millrace/testing';
import { awaitDrained, consumedRecords } from './support/log-progress.ts';
import { type RunningServices, startServices } from './support/start-services.ts';
import { type Attempt, type SteadyLoad, startSteadyLoad } from './support/steady-load.ts';

/**
 * docs/architecture.md#failure-modes: with servers that go away under load. Every service reaches its
 * servers through a proxy the test can slam; the test itself looks at the servers directly.
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

describe('on Kafka', () => {
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
    'broker %s: 503 in time, no 200 without a stored event, recovery by itself',
    async (fault) => {
      await answers(load, 50, 200);
      await kafka[fault]();
      await everyClientIsRefused(load);
      // From here to the end of the fault nothing but refusals: what was under way before it is answered.
      const during = load.attempts.length;
      await answers(load, 8, 503);
      const refused = load.attempts.slice(during);
      expect(new Set(refused.map(({ status }) => status))).toEqual(new Set([503]));
      expect(refused.every(({ retryAfter }) => Number(retryAfter) > 0)).toBe(true);
      await kafka.pass();
      await answers(load, 50, 200);
      await load.stop();
      expect(statuses(load)).toEqual(new Set([200, 503]));
      await expectStored(services, load);
    },
    300_000,
  );

  test.each(faults)(
    'PostgreSQL %s: known keys are still answered with 200, nothing is lost',
    async (fault) => {
      const stranger = await createTestTenant(services.databaseUrl);
      await answers(load, 50, 200);
      await postgres[fault]();
      await answers(load, 1000, 200);
      // A key no cache has seen cannot be checked now. Where PostgreSQL refuses it is taken, and decided by the consumer
      // (docs/architecture.md#life-of-an-event); where it only says nothing, the client has to come again.
      const unchecked = startSteadyLoad(services.ingestUrl, stranger.projectApiKey, { clients: 1 });
      const isSilent = fault === 'blackHole';
      await answers(unchecked, 1, isSilent ? 503 : 200);
      if (!isSilent) await unchecked.stop();
      await postgres.pass();
      if (isSilent) await answers(unchecked, 1, 200);
      await unchecked.stop();
      await answers(load, 50, 200);
      await load.stop();
      expect(statuses(load)).toEqual(new Set([200]));
      await expectStored(services, unchecked);
      await expectStored(services, load);
    },
    300_000,
  );

  test('PostgreSQL forgets its connections: nothing waits for them to time out, and their locks are free', async () => {
    const [consumer] = services.consumers;
    await answers(load, 50, 200);
    const before = await consumedRecords(services);
    postgres.forget();
    await eventually(
      async () => {
        const after = await consumedRecords(services);
        if (after <= before + 50) throw new Error(`${after} records are consumed. It said: ${consumer?.output()}`);
      },
      // A statement's answer is waited for 35 s, and a statement for a lock 30 s.
      { what: 'Consuming on' },
    );
    await answers(load, 50, 200);
    await load.stop();
    expect(statuses(load)).toEqual(new Set([200]));
    await expectStored(services, load);
  });
});

describe('on the embedded log', () => {
  beforeAll(async () => {
    services = await startServices({
      eventLog: 'postgres',
      databaseUrlForServices: throughProxy,
      managementApi: false,
    });
  });
  afterAll(() => services?.stop());

  test.each(faults)(
    'PostgreSQL %s: 503 in time, no 200 without a stored event, recovery by itself',
    async (fault) => {
      await answers(load, 50, 200);
      await postgres[fault]();
      await answers(load, 8, 503);
      await postgres.pass();
      await answers(load, 50, 200);
      await load.stop();
      expect(statuses(load)).toEqual(new Set([200, 503]));
      await expectStored(services, load);
    },
    300_000,
  );
});

/** Waits for that many more answers with this status. */
async function answers(load: SteadyLoad, count: number, status: number): Promise<void> {
  const from = load.attempts.length;
  const since = () => load.attempts.slice(from);
  await eventually(
    () => {
      const found = tally(since());
      if ((found[status] ?? 0) < count) throw new Error(`answers by status: ${JSON.stringify(found)}`);
    },
    { what: `Getting ${count} answers with ${status}` },
  );
}

/** Each client waits for its answer before it asks again. */
async function everyClientIsRefused(load: SteadyLoad): Promise<void> {
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

/** Every acknowledged event is there once; what was refused may be there, once too. */
async function expectStored(services: RunningServices, load: SteadyLoad): Promise<void> {
  await awaitDrained(services);
  const { rows } = await services.database.query<{ uuid: string; count: number }>(
    'SELECT uuid, count(*)::int AS count FROM event WHERE uuid = ANY($1::uuid[]) GROUP BY uuid',
    [load.attempts.map(({ uuid }) => uuid)],
  );
  const stored = new Set(rows.map(({ uuid }) => uuid));
  expect(rows.filter(({ count }) => count !== 1)).toEqual([]);
  expect(load.attempts.filter(({ uuid, status }) => status === 200 && !stored.has(uuid))).toEqual([]);
}
