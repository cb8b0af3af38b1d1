import { randomUUID } from 'node:crypto';
import { topicNames } from '@millrace/contracts';
import { compilePrograms, testServers } from '@millrace/testing';
import { askWithoutEnd, besideReport } from './e2e/beside-questions.ts';
import type { PreparedAnswer, PrepareMessage, SentAnswer, StartMessage } from './e2e/e2e-load.ts';
import { eventsPerRequest, type Marker, requestProperty } from './e2e/stamped-requests.ts';
import { fillQuestions } from './insights/fill.ts';
import { unlimited } from './insights/over-api.ts';
import { backendCpuBetween, readBackendCpu } from './process/backend-cpu.ts';
import { type MeasuredProcess, startMeasured, waitUntilReady } from './process/measured-process.ts';
import { environmentFacts, everyRun, percentile, readable, report, textTable } from './report/report.ts';
import { type BenchDatabase, createBenchDatabase } from './topic/bench-project.ts';
import { type BenchTopics, connectBenchTopics } from './topic/bench-topics.ts';

export interface E2eBenchOptions {
  /** Events per second. */
  rate: number;
  /** Length of the part that is measured. */
  seconds: number;
  /** Stored events about which questions are asked meanwhile, in a second run; null: only one run. */
  askedAbout: number | null;
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
    if (options.askedAbout !== null) await fillQuestions(database, options.askedAbout);
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
      ...unlimited,
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
    const parts = { options, topics, prefix };
    const run = await measure(system, { ...parts, seed: 1 }, database);
    print('');
    print(e2eReport(run));
    if (options.askedAbout === null) return;
    print(`During queries over ${options.askedAbout} events`);
    const asking = askWithoutEnd(system.management, database);
    const beside = await measure(system, { ...parts, seed: 2 }, database);
    const asked = await asking.stop();
    print('');
    print(e2eReport(beside));
    const p95 = ({ visibleAfterMs }: E2eMeasurement) => percentile(visibleAfterMs, 0.95);
    const { maxRssBytes } = await system.management.usage();
    print(
      besideReport(
        { ...asked, maxRssBytes },
        { growth: p95(beside) / p95(run), refused: beside.sent - beside.acknowledged },
      ),
    );
  } finally {
    for (const one of started.reverse()) await one.stop();
    await topics.stop();
    await database.drop();
    await removePrograms();
  }
}

async function measure(
  system: System,
  { options, topics, prefix, seed }: { options: E2eBenchOptions; topics: BenchTopics; prefix: string; seed: number },
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
      seed,
    } satisfies PrepareMessage,
    'prepared',
  );
  const measured = markers.filter(({ dueAfterMs }) => dueAfterMs >= warmUpMs);
  const startAtMs = performance.timeOrigin + performance.now() + 500;
  const sinceMs = Date.now();
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
    ...(await countStored(database, sent.unacknowledged, sinceMs)),
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

/** Of what was sent since then. */
async function countStored(database: BenchDatabase, unacknowledged: number[], sinceMs: number) {
  const [found] = await database.query<{ rows: number; uuids: number; uuidsAcknowledged: number }>(
    `SELECT count(*)::int AS rows, count(DISTINCT uuid)::int AS uuids,
            (count(DISTINCT uuid) FILTER (WHERE NOT (properties->>'${requestProperty}')::int = ANY($1)))::int
              AS "uuidsAcknowledged"
       FROM event WHERE captured_at >= to_timestamp($2::float8 / 1000)`,
    [unacknowledged, sinceMs],
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
  if (!response.ok) throw new Error(`The management API returned ${response.status}: ${await response.text()}`);
  return (await response.text()).includes(marker.uuid);
}

export interface E2eMeasurement {
  /** Events per second that were due. */
  rate: number;
  /** From due to visible in PostgreSQL, milliseconds, one for each marker; Infinity = never seen. */
  visibleAfterMs: number[];
  /** From due to the answer, of requests. */
  answerP50Ms: number;
  answerP99Ms: number;
  sent: number;
  acknowledged: number;
  /** Rows and different uuids at the end; `uuidsAcknowledged` without those of requests nobody acknowledged. */
  rows: number;
  uuids: number;
  uuidsAcknowledged: number;
  /** Whether the last marker is listed by the management API. */
  isListed: boolean;
  processes: { name: string; cpuMicrosPerEvent: number; maxRssBytes: number }[];
}

export function e2eReport(run: E2eMeasurement): string {
  const shares = [0.5, 0.95, 0.99, 1].map((share) => percentile(run.visibleAfterMs, share));
  const lost = run.acknowledged - run.uuidsAcknowledged;
  const doubled = run.rows - run.uuids;
  const times = textTable([
    ['', 'p50 ms', 'p95 ms', 'p99 ms', 'max ms'],
    ['visible in PostgreSQL', ...shares.map(readable)],
    ['request completed', readable(run.answerP50Ms), '', readable(run.answerP99Ms), ''],
  ]);
  const counts = everyRun([run], () => 'events', {
    sent: () => run.sent,
    acknowledged: () => run.acknowledged,
    stored: () => run.rows,
    lost: () => lost,
    doubled: () => doubled,
  });
  const processes = everyRun(run.processes, ({ name }) => name, {
    'cpu µs/event': (one) => one.cpuMicrosPerEvent,
    'max RSS MB': (one) => one.maxRssBytes / 2 ** 20,
  });
  const title = `At ${readable(run.rate)} events/s, from the moment a request was due (${readable(run.visibleAfterMs.length)} events looked up)`;
  return report(
    [
      [title, times],
      ['', counts],
      ['', processes],
    ],
    [
      [`ms until visible at ${readable(run.rate)} events/s, p95`, shares[1] ?? Number.NaN, { atMost: 1000 }],
      ['events acknowledged but not stored', lost, { atMost: 0 }],
      ['events stored more than once', doubled, { atMost: 0 }],
      ['markers missing from the management API', run.isListed ? 0 : 1, { atMost: 0 }],
    ],
  );
}

const lookEveryMs = 10;
/** A marker that is not visible so long after the last was due is given up. */
const patienceMs = 60_000;

/**
 * Follows markers until all are visible in the database. Looks every 10 ms, by primary key and only at those that are
 * due, so that looking does not slow down what is measured. A marker counts as visible when the answer that shows it
 * is here: the figures are too large by up to 10 ms and never too small.
 *
 * @param startedAtMs when the load started, on the wall clock.
 * @returns milliseconds from due to visible in the order of `markers`; Infinity for one that was given up.
 */
async function watchMarkers(
  database: BenchDatabase,
  markers: readonly Marker[],
  startedAtMs: number,
): Promise<number[]> {
  const waited = markers.map(() => Number.POSITIVE_INFINITY);
  const indexes = new Map(markers.map(({ uuid }, index) => [uuid, index]));
  const pending = new Set(markers);
  const endsAfterMs = (markers.at(-1)?.dueAfterMs ?? 0) + patienceMs;
  while (pending.size > 0 && sinceStart() < endsAfterMs) {
    await new Promise((resolve) => setTimeout(resolve, lookEveryMs));
    const askedAfterMs = sinceStart();
    const due = [...pending].filter(({ dueAfterMs }) => dueAfterMs <= askedAfterMs);
    if (due.length === 0) continue;
    const visible = await findVisible(
      database,
      due.map(({ uuid }) => uuid),
    );
    const answeredAfterMs = sinceStart();
    for (const marker of due) {
      if (!visible.has(marker.uuid)) continue;
      waited[indexes.get(marker.uuid) ?? -1] = answeredAfterMs - marker.dueAfterMs;
      pending.delete(marker);
    }
  }
  return waited;

  function sinceStart(): number {
    return performance.timeOrigin + performance.now() - startedAtMs;
  }
}

async function findVisible(database: BenchDatabase, uuids: string[]): Promise<Set<string>> {
  // LATERAL with LIMIT: one look into an index for each, where a join may come to read a whole table.
  const rows = await database.query<{ uuid: string }>(
    `SELECT event.uuid
       FROM unnest($2::uuid[]) AS sought (uuid)
      CROSS JOIN LATERAL (SELECT i.timestamp FROM event_identity i
                           WHERE i.project_id = $1 AND i.uuid = sought.uuid LIMIT 1) AS identity
      CROSS JOIN LATERAL (SELECT e.uuid FROM event e
                           WHERE e.project_id = $1 AND e.timestamp = identity.timestamp AND e.uuid = sought.uuid
                           LIMIT 1) AS event`,
    [database.projectId, uuids],
  );
  return new Set(rows.map(({ uuid }) => uuid));
}
