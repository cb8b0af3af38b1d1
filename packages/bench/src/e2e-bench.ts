import { randomUUID } from 'node:crypto';
import { topicNames } from '@millrace/contracts';
import { compilePrograms, testServers } from '@millrace/testing';
import type { PreparedAnswer, PrepareMessage, SentAnswer, StartMessage } from './e2e/e2e-load.ts';
import { eventsPerRequest, type Marker, requestProperty } from './e2e/stamped-requests.ts';
import { watchMarkers } from './e2e/watch-markers.ts';
import { backendCpuBetween, readBackendCpu } from './process/backend-cpu.ts';
import { type MeasuredProcess, startMeasured } from './process/measured-process.ts';
import { waitUntilReady } from './process/wait-until-ready.ts';
import { type E2eMeasurement, e2eReport } from './report/e2e-report.ts';
import { environmentFacts } from './report/environment-facts.ts';
import { type BenchDatabase, createBenchDatabase } from './topic/bench-project.ts';
import { type BenchTopics, connectBenchTopics } from './topic/bench-topics.ts';

export interface E2eBenchOptions {
  /** Events per second. */
  rate: number;
  /** Length of the part that is measured. */
  seconds: number;
}

interface System {
  gateway: MeasuredProcess;
  consumer: MeasuredProcess;
  management: MeasuredProcess;
  load: MeasuredProcess;
}

const partitions = 8;
const warmUpMs = 3000;
const markerEveryMs = 50;

/**
 * From the SDK's request to the row somebody can read: an open loop of batches against the gateway, and how long after
 * it was due each marker among the events is visible in PostgreSQL.
 */
export async function benchE2e(options: E2eBenchOptions, print: (line: string) => void): Promise<void> {
  const servers = testServers();
  const prefix = `bench-${randomUUID()}.`;
  const database = await createBenchDatabase(`phc_bench_${randomUUID().replaceAll('-', '')}`);
  const topics = await connectBenchTopics(servers.kafkaBrokers);
  const started: MeasuredProcess[] = [];
  let removePrograms = async () => {};
  try {
    await topics.create(Object.values(topicNames(prefix)), partitions);
    for (const line of await environmentFacts(topics, database)) print(line);
    print('compiling and starting gateway, consumer and management API');
    const programs = await compilePrograms([
      'services/ingest-gateway/src/main.ts',
      'services/event-consumer/src/main.ts',
      'services/management-api/src/main.ts',
      'packages/bench/src/e2e/e2e-load.ts',
    ]);
    removePrograms = programs.remove;
    const settings = {
      DATABASE_URL: database.url,
      KAFKA_BROKERS: servers.kafkaBrokers.join(','),
      REDIS_URL: servers.redisUrl,
      EVENT_LOG: 'kafka',
      TOPIC_PREFIX: prefix,
      TOPIC_PARTITIONS: String(partitions),
      LOG_LEVEL: 'warn',
      INGEST_PORT: '0',
      HEALTH_PORT: '0',
      API_PORT: '0',
    };
    const start = async (file = '') => {
      const one = await startMeasured(file, settings);
      started.push(one);
      return one;
    };
    const [gatewayFile, consumerFile, managementFile, loadFile] = programs.files;
    const system: System = {
      gateway: await start(gatewayFile),
      consumer: await start(consumerFile),
      management: await start(managementFile),
      load: await start(loadFile),
    };
    for (const { port } of [system.gateway, system.consumer, system.management]) await waitUntilReady(port);
    print(`${options.rate} events/s for ${options.seconds} s, after ${warmUpMs / 1000} s to warm up`);
    const run = await measure(system, { options, topics, prefix }, database);
    print('');
    print(e2eReport(run));
  } finally {
    for (const one of started.reverse()) await one.stop();
    await topics.stop();
    await database.drop();
    await removePrograms();
  }
}

async function measure(
  system: System,
  { options, topics, prefix }: { options: E2eBenchOptions; topics: BenchTopics; prefix: string },
  database: BenchDatabase,
): Promise<E2eMeasurement> {
  const { gateway, consumer, load } = system;
  const durationMs = warmUpMs + options.seconds * 1000;
  const { markers } = await load.ask<PreparedAnswer>(
    {
      type: 'prepare',
      projectApiKey: database.projectApiKey,
      requestsPerSecond: options.rate / eventsPerRequest,
      durationMs,
      markerEveryMs,
    } satisfies PrepareMessage,
    'prepared',
  );
  const measured = markers.filter(({ dueAfterMs }) => dueAfterMs >= warmUpMs);
  const startAtMs = performance.timeOrigin + performance.now() + 500;
  const sending = load.ask<SentAnswer>(
    { type: 'start', port: gateway.port, connections: 64, startAtMs } satisfies StartMessage,
    'sent',
  );
  const watching = watchMarkers(database, measured, startAtMs);
  const look = async () => ({
    gateway: await gateway.usage(),
    consumer: await consumer.usage(),
    backends: await readBackendCpu(database),
  });
  await new Promise((resolve) => setTimeout(resolve, 500 + warmUpMs));
  const before = await look();
  const sent = await sending;
  const after = await look();
  const visibleAfterMs = await watching;
  await waitUntilDrained(topics, prefix, database);
  const perEvent = (micros: number) => micros / (options.rate * options.seconds);
  return {
    rate: options.rate,
    visibleAfterMs,
    answerP50Ms: sent.p50Ms,
    answerP99Ms: sent.p99Ms,
    sent: sent.requests * eventsPerRequest,
    acknowledged: (sent.requests - sent.unacknowledged.length) * eventsPerRequest,
    ...(await countStored(database, sent.unacknowledged)),
    isListed: await isListed(system.management, database, measured.at(-1)),
    processes: [
      ...(['gateway', 'consumer'] as const).map((name) => ({
        name,
        cpuMicrosPerEvent: perEvent(after[name].cpuMicros - before[name].cpuMicros),
        maxRssBytes: after[name].maxRssBytes,
      })),
      {
        name: 'postgresql (connections of both)',
        cpuMicrosPerEvent: perEvent(backendCpuBetween(before.backends, after.backends)),
        maxRssBytes: Number.NaN,
      },
    ],
  };
}

/** @throws Error when the consumer has not worked off all topics within two minutes. */
async function waitUntilDrained(topics: BenchTopics, prefix: string, database: BenchDatabase): Promise<void> {
  const { live, historical, overflow } = topicNames(prefix);
  const lanes = [live, historical, overflow];
  const deadline = performance.now() + 120_000;
  for (;;) {
    const [row] = await database.query<{ done: number }>(
      'SELECT coalesce(sum(next_offset), 0)::float8 AS done FROM consumer_position WHERE topic = ANY($1)',
      [lanes],
    );
    let records = 0;
    for (const topic of lanes) records += await topics.countRecords(topic);
    if (row?.done === records) return;
    if (performance.now() > deadline) {
      throw new Error(`The consumer is at ${row?.done} of ${records} records two minutes after the last was sent.`);
    }
    await new Promise((resolve) => setTimeout(resolve, 250));
  }
}

async function countStored(database: BenchDatabase, unacknowledged: number[]) {
  const [found] = await database.query<{ rows: number; uuids: number; uuidsAcknowledged: number }>(
    `SELECT count(*)::int AS rows, count(DISTINCT uuid)::int AS uuids,
            (count(DISTINCT uuid) FILTER (WHERE NOT (properties->>'${requestProperty}')::int = ANY($1)))::int
              AS "uuidsAcknowledged"
       FROM event`,
    [unacknowledged],
  );
  return found ?? { rows: 0, uuids: 0, uuidsAcknowledged: 0 };
}

/** Whether an administrator sees the marker too. */
async function isListed(
  management: MeasuredProcess,
  database: BenchDatabase,
  marker: Marker | undefined,
): Promise<boolean> {
  if (marker === undefined) return false;
  const query = new URLSearchParams({ distinct_id: marker.distinctId, limit: '100' });
  const response = await fetch(
    `http://127.0.0.1:${management.port}/api/projects/${database.projectId}/events?${query}`,
    { headers: { authorization: `Bearer ${database.personalApiKey}` } },
  );
  if (!response.ok) throw new Error(`The management API answered ${response.status}: ${await response.text()}`);
  return (await response.text()).includes(marker.uuid);
}
