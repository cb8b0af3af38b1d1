import { eventually, type KafkaFaultProxy, startKafkaFaultProxy, testServers } from '@millrace/testing';
import { waitUntilDrained } from './support/log-progress.ts';
import { type RunningServices, startServices } from './support/start-services.ts';
import { startSteadyLoad } from './support/steady-load.ts';

/**
 * With EVENT_LOG_FALLBACK=postgres, the gateway accepts events during a Kafka outage
 * (docs/decisions/016-fallback-log.md).
 */
let kafka: KafkaFaultProxy;
let services: RunningServices;

beforeAll(async () => {
  kafka = await startKafkaFaultProxy(testServers().kafkaBrokers);
  services = await startServices({
    eventLog: 'kafka',
    brokers: kafka.brokers,
    managementApi: false,
    settings: { EVENT_LOG_FALLBACK: 'postgres', EVENT_LOG_FALLBACK_AFTER_MS: '1000' },
  });
});
afterAll(async () => {
  await services?.stop();
  await kafka?.stop();
});

test('stores every acknowledged event once and in order when Kafka fails and the consumer is killed', async () => {
  const { database, tenant } = services;
  const load = startSteadyLoad(services.ingestUrl, tenant.projectApiKey);
  const phase = async () => (await database.query('SELECT phase FROM event_log_fallback')).rows[0]?.phase;
  const waitForResponses = async (count: number) => {
    const from = load.attempts.length;
    await eventually(() => load.attempts.slice(from).filter(({ status }) => status === 200).length >= count, {
      what: `Getting ${count} responses with 200`,
    });
  };
  try {
    await waitForResponses(50);
    await kafka.refuse();
    await eventually(async () => (await phase()) === 'open', { what: 'Opening the fallback' });
    await waitForResponses(200);
    await services.consumers[0]?.kill();
    await waitForResponses(50);
    services.consumers.splice(0, 1, await services.startConsumer());
    await kafka.pass();
    await eventually(async () => (await phase()) === 'closed', { what: 'Closing the fallback' });
    await waitForResponses(50);
  } finally {
    await load.stop();
  }
  const refused = load.attempts.filter(({ status }) => status !== 200);
  expect(new Set(refused.map(({ status }) => status))).toEqual(new Set([503]));
  expect(refused.every(({ retryAfter }) => Number(retryAfter) > 0)).toBe(true);

  await waitUntilDrained(services);
  const { rows } = await database.query<{ uuid: string; count: number; at: Date }>(
    'SELECT uuid, count(*)::int AS count, min(created_at) AS at FROM event GROUP BY uuid',
  );
  const stored = new Map(rows.map(({ uuid, at }) => [uuid, at]));
  expect(rows.filter(({ count }) => count !== 1)).toEqual([]);
  const acknowledged = load.attempts.filter(({ status }) => status === 200);
  expect(acknowledged.filter(({ uuid }) => !stored.has(uuid))).toEqual([]);
  // Attempts are in the order of their responses. Each client waits for a response before its next request.
  const clients = new Map<string, number>();
  for (const { uuid, client } of acknowledged) {
    const at = stored.get(uuid)?.getTime() ?? 0;
    expect(at).toBeGreaterThanOrEqual(clients.get(client) ?? 0);
    clients.set(client, at);
  }
});
