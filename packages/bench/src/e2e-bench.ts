// Benchmark of the delay between an SDK's request and the stored event.

import { topicNames } from '@millrace/contracts';
import { eventually, installClickHouse, startClickHouse } from '@millrace/testing';
import {
  eventsPerRequest,
  type prepareRequests,
  requestProperty,
  type sendPreparedRequests,
} from './e2e/stamped-requests.ts';
import { watchMarkers } from './e2e/watch-markers.ts';
import { type Bench, programs, type Worker, withBench } from './harness/bench.ts';
import type { Print } from './harness/command.ts';
import type { MeasuredProcess } from './harness/measured-process.ts';
import { formatFigure, formatReport, formatRuns, percentile } from './harness/report.ts';
import { fillInsights } from './insights/fill.ts';
import { runQueryOverApi, simultaneousQueries } from './insights/over-api.ts';
import { dashboardTiles, sqlQueries } from './insights/queries.ts';

export interface E2eBenchOptions {
  /** Events per second. */
  rate: number;
  seconds: number;
  /** Whether to repeat the measurement while insight queries run. */
  queries: boolean;
  /** Whether to open twenty SQL queries instead of insight queries. Three of them run, and the others wait. */
  sql: boolean;
  /** Number of stored events that the queries cover. */
  events: number;
  /** Whether to repeat the measurement while the delivery worker copies events and persons to ClickHouse. */
  copy: boolean;
}

const warmUpMs = 3000;
const markerEveryMs = 50;

/**
 * Measures the time from an SDK's request until the row is visible. Sends batches to the gateway in an open loop. For
 * each marker event, measures the time from when its request is due until the event is visible in PostgreSQL.
 */
export async function benchE2e(options: E2eBenchOptions, print: Print): Promise<void> {
  if (options.sql && !options.queries) throw new Error('--sql needs --queries.');
  if (options.copy && options.queries) throw new Error('Use either --copy or --queries.');
  await withBench(print, async (bench) => {
    if (options.queries) await fillInsights(bench.database, options.events);
    print('compiling and starting the services');
    const gateway = await bench.start(programs.gateway);
    await bench.start(programs.consumer);
    const worker = await bench.startWorker();
    const run = (seed: number) => measure(options, seed, { bench, gateway, worker });
    print(`${options.rate} events/s for ${options.seconds} s, after ${warmUpMs / 1000} s to warm up`);
    const alone = await run(1);
    if (options.copy) return `${formatE2eReport(alone)}\n\n${await measureWithCopy(bench, () => run(3), alone)}`;
    if (!options.queries) return formatE2eReport(alone);
    const api = await bench.start(programs.api);
    print(`during queries over ${options.events} events`);
    const kind = options.sql ? { queries: sqlQueries, count: simultaneousQueries } : insightQueries;
    const queries = runQueriesRepeatedly(api, bench, kind);
    const during = await run(2);
    const { completedMs, failures, rejected } = await queries.stop();
    const { maxRssBytes } = await api.usage();
    const refused = during.sent - during.acknowledged;
    const figures = formatRuns([completedMs], () => `${kind.count} simultaneous queries`, {
      completed: (all) => all.length,
      'p50 ms': (all) => percentile(all, 0.5),
      'p95 ms': (all) => percentile(all, 0.95),
      rejected: () => rejected,
      failed: () => failures,
    });
    return `${formatE2eReport(alone)}\n\n${formatE2eReport(during)}\n\n${formatReport(
      [['Queries during ingestion', figures]],
      [
        [
          'ms until visible, p95, as a multiple of ingestion alone',
          percentile95(during) / percentile95(alone),
          { atMost: 1.2 },
        ],
        ['events not acknowledged', refused, { atMost: 0 }],
        ['queries that failed', failures, { atMost: 0 }],
        ['RSS of the API, MB', maxRssBytes / 2 ** 20, { atMost: 250 }],
      ],
    )}`;
  });
}

/**
 * Measures ingestion again while the delivery worker copies events and persons to ClickHouse, and samples the age of both
 * copies every second.
 */
async function measureWithCopy(
  bench: Bench,
  run: () => Promise<E2eMeasurement>,
  alone: E2eMeasurement,
): Promise<string> {
  const server = await startClickHouse(await installClickHouse());
  bench.onEnd(() => server.stop());
  const worker = await bench.start(programs.deliveryWorker, {
    EVENT_STORE: 'clickhouse',
    CLICKHOUSE_URL: server.url,
  });
  const readLag = async (name: string) => {
    const text = await (await fetch(`http://127.0.0.1:${worker.port}/metrics`)).text();
    return Number(new RegExp(`^${name} (\\S+)$`, 'm').exec(text)?.[1]);
  };
  await eventually(async () => (await readLag(lagMetrics.events)) < 10, { what: 'The first copy', timeoutMs: 60_000 });
  const lags: { events: number; persons: number }[] = [];
  const timer = setInterval(async () => {
    lags.push({ events: await readLag(lagMetrics.events), persons: await readLag(lagMetrics.persons) });
  }, 1000);
  const during = await run();
  clearInterval(timer);
  return `${formatE2eReport(during)}\n\n${formatReport(
    [],
    [
      [
        'ms until visible, p95, as a multiple of ingestion without the copy',
        percentile95(during) / percentile95(alone),
        { atMost: 1.2 },
      ],
      ['longest age of the events in ClickHouse, s', Math.max(...lags.map(({ events }) => events)), { atMost: 15 }],
      ['longest age of the persons in ClickHouse, s', Math.max(...lags.map(({ persons }) => persons)), { atMost: 15 }],
    ],
  )}`;
}

const lagMetrics = {
  events: 'millrace_event_store_lag_seconds',
  persons: 'millrace_event_store_person_lag_seconds',
} as const;

interface Load {
  queries: readonly object[];
  count: number;
}

/** A project may run three queries at the same time. */
const insightQueries: Load = { queries: dashboardTiles, count: 3 };

function runQueriesRepeatedly(api: MeasuredProcess, { database }: Bench, { queries, count }: Load) {
  const completedMs: number[] = [];
  let failures = 0;
  let rejected = 0;
  let isOver = false;
  const run = async (first: number) => {
    for (let at = first; !isOver; at += 1) {
      const startedAt = performance.now();
      const query = queries[at % queries.length];
      const response = await runQueryOverApi(api, database, { query, refresh: 'force_blocking' });
      if (response.ok) completedMs.push(performance.now() - startedAt);
      else if (response.status === 429) rejected += 1;
      else failures += 1;
    }
  };
  const running = Promise.all(Array.from({ length: count }, (_, at) => run(at)));
  return {
    async stop() {
      isOver = true;
      await running;
      return { completedMs, failures, rejected };
    },
  };
}

async function measure(
  options: E2eBenchOptions,
  seed: number,
  { bench, gateway, worker }: { bench: Bench; gateway: MeasuredProcess; worker: Worker },
) {
  const { database } = bench;
  const markers = await worker.perform<typeof prepareRequests>('prepareRequests', {
    projectApiKey: database.projectApiKey,
    requestsPerSecond: options.rate / eventsPerRequest,
    durationMs: warmUpMs + options.seconds * 1000,
    markerEveryMs,
    seed,
  });
  const measured = markers.filter(({ dueAfterMs }) => dueAfterMs >= warmUpMs);
  const startAtMs = performance.timeOrigin + performance.now() + 500;
  const [sent, visibleAfterMs] = await Promise.all([
    worker.perform<typeof sendPreparedRequests>('sendPreparedRequests', gateway.port, startAtMs),
    watchMarkers(database, measured, startAtMs),
  ]);
  await waitUntilDrained(bench);
  return {
    rate: options.rate,
    /**
     * How many milliseconds after its due time each marker became visible. Infinity for a marker that did not appear.
     */
    visibleAfterMs,
    sent: sent.requests * eventsPerRequest,
    acknowledged: (sent.requests - sent.unacknowledged.length) * eventsPerRequest,
    ...(await countStored(bench, sent.unacknowledged, startAtMs)),
  };
}

/** Waits until the consumer has processed all records. @throws Error after two minutes */
async function waitUntilDrained({ topics, prefix, database }: Bench): Promise<void> {
  const { live, historical, overflow } = topicNames(prefix);
  const deadline = performance.now() + 120_000;
  for (;;) {
    const [row] = await database.query<{ done: number }>(
      'SELECT coalesce(sum(next_offset), 0)::float8 AS done FROM consumer_offset WHERE topic = ANY($1)',
      [[live, historical, overflow]],
    );
    let records = 0;
    for (const topic of [live, historical, overflow]) records += await topics.countRecords(topic);
    if (row?.done === records) return;
    if (performance.now() > deadline) {
      throw new Error(`The consumer is at ${row?.done} of ${records} records two minutes after the last was sent.`);
    }
    await new Promise((resolve) => setTimeout(resolve, 250));
  }
}

async function countStored({ database }: Bench, unacknowledged: number[], sinceMs: number) {
  const [found] = await database.query<{ rows: number; uuids: number; uuidsAcknowledged: number }>(
    `SELECT count(*)::int AS rows, count(DISTINCT uuid)::int AS uuids,
            (count(DISTINCT uuid) FILTER (WHERE NOT (properties->>'${requestProperty}')::int = ANY($1)))::int
              AS "uuidsAcknowledged"
       FROM event WHERE captured_at >= to_timestamp($2::float8 / 1000)`,
    [unacknowledged, sinceMs],
  );
  return found ?? { rows: 0, uuids: 0, uuidsAcknowledged: 0 };
}

export type E2eMeasurement = Awaited<ReturnType<typeof measure>>;

const percentile95 = ({ visibleAfterMs }: Pick<E2eMeasurement, 'visibleAfterMs'>) => percentile(visibleAfterMs, 0.95);

export function formatE2eReport(run: E2eMeasurement): string {
  const p95 = percentile95(run);
  const lost = run.acknowledged - run.uuidsAcknowledged;
  const duplicated = run.rows - run.uuids;
  const table = formatRuns([run], () => 'events', {
    'p50 ms': () => percentile(run.visibleAfterMs, 0.5),
    'p95 ms': () => p95,
    'max ms': () => percentile(run.visibleAfterMs, 1),
    sent: () => run.sent,
    acknowledged: () => run.acknowledged,
    stored: () => run.rows,
    lost: () => lost,
    duplicated: () => duplicated,
  });
  const title = `Time until visible in PostgreSQL at ${formatFigure(run.rate)} events/s, from the moment a request was due (${run.visibleAfterMs.length} events looked up)`;
  return formatReport(
    [[title, table]],
    [
      [`ms until visible at ${formatFigure(run.rate)} events/s, p95`, p95, { atMost: 1000 }],
      ['events acknowledged but not stored', lost, { atMost: 0 }],
      ['events stored more than once', duplicated, { atMost: 0 }],
    ],
  );
}
