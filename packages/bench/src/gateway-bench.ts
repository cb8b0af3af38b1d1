// Benchmark of the ingest gateway and a simple gateway: how many requests they can handle, and how long they take.

import { gzipSync } from 'node:zlib';
import { topicNames } from '@millrace/contracts';
import { type Bench, programs, type Worker, withBench } from './harness/bench.ts';
import type { Print } from './harness/command.ts';
import type { MeasuredProcess } from './harness/measured-process.ts';
import { type Columns, formatMedians, formatReport, formatRuns, formatStatuses, median } from './harness/report.ts';
import { type LoadJob, measureRequests } from './load/measure-requests.ts';
import { buildRequests, createFillerProperties, type WorkloadName, workloads } from './workload/gateway-workloads.ts';

export interface GatewayBenchOptions {
  pairs: number;
  seconds: number;
}

interface Side {
  name: 'millrace' | 'naive';
  process: MeasuredProcess;
  topic: string;
}

const warmUpMs = 3000;
/**
 * Number of connections in closed loops. If fewer connections sent single events, most of the latency would be the time
 * for which the producer waits for more records.
 */
const closedConnections = { 'single-2kb': 128, 'batch-50x1kb': 8 };
const openConnections = 64;

/**
 * Alternately measures the gateway and the naive gateway on the same broker. First runs a closed loop, which shows how
 * many requests they can handle, and their CPU time. Then runs an open loop at half the rate of the slower gateway,
 * which shows how long clients wait.
 */
export async function benchGateway(options: GatewayBenchOptions, print: Print): Promise<void> {
  await withBench(print, async (bench) => {
    const sides = await startSides(bench);
    const run = { ...options, bench, worker: await bench.startWorker() };
    const measurements: GatewayMeasurement[] = [];
    for (const workload of Object.keys(workloads) as WorkloadName[]) {
      measurements.push(...(await measureWorkload(workload, sides, run)));
    }
    print('small requests, alone and during a gzip batch of 20 MB');
    return gatewayReport(measurements, await measureLargeBatches(sides[0], run));
  });
}

async function startSides({ start, topics, prefix, database }: Bench): Promise<[Side, Side]> {
  const naiveTopic = `${prefix}naive`;
  await topics.create([naiveTopic]);
  const naive = { NAIVE_TOPIC: naiveTopic, NAIVE_PROJECT_API_KEY: database.projectApiKey };
  const naiveProcess = await start('packages/bench/src/naive/naive-gateway.ts', naive);
  return [
    { name: 'millrace', topic: topicNames(prefix).live, process: await start(programs.gateway) },
    { name: 'naive', topic: naiveTopic, process: naiveProcess },
  ];
}

interface Run extends GatewayBenchOptions {
  bench: Bench;
  worker: Worker;
}

async function measureWorkload(
  workload: WorkloadName,
  sides: readonly Side[],
  run: Run,
): Promise<GatewayMeasurement[]> {
  const closed = { connections: closedConnections[workload], requestsPerSecond: null, durationMs: run.seconds * 1000 };
  for (const side of sides) await measure(side, { workload, ...closed, durationMs: warmUpMs }, run);
  const inTurn = async (job: Omit<LoadJob, 'port' | 'requests'>) => {
    const runs: GatewayMeasurement[] = [];
    for (let pair = 1; pair <= run.pairs; pair++) {
      for (const side of sides) {
        const rate = job.requestsPerSecond === null ? '' : ` at ${Math.round(job.requestsPerSecond)} requests/s`;
        run.bench.print(`${workload}${rate}, pair ${pair} of ${run.pairs}: ${side.name}`);
        runs.push(await measure(side, { workload, ...job }, run));
      }
    }
    return runs;
  };
  const asFastAsPossible = await inTurn(closed);
  const halfLoad = Math.min(...asFastAsPossible.map(({ requestsPerSecond }) => requestsPerSecond)) / 2;
  const atHalfLoad = await inTurn({ ...closed, connections: openConnections, requestsPerSecond: halfLoad });
  return [...asFastAsPossible, ...atHalfLoad];
}

async function measure(
  side: Side,
  { workload, ...job }: Omit<LoadJob, 'port' | 'requests'> & { workload: WorkloadName },
  { bench, worker }: Run,
) {
  const { requests, eventsPerRequest } = buildRequests(workload, bench.database.projectApiKey);
  const recordsBefore = await bench.topics.countRecords(side.topic);
  const run = await measureRequests({ server: side.process, worker, bench }, { ...job, requests });
  const recordsAfter = await bench.topics.countRecords(side.topic);
  return {
    side: side.name,
    workload,
    loop: job.requestsPerSecond === null ? 'closed' : 'open',
    ...run,
    eventsPerRequest,
    acknowledgedEvents: run.acknowledged * eventsPerRequest,
    eventsInTopic: recordsAfter - recordsBefore,
  };
}

const batchBytes = 20 * 1000 * 1000;
const eventBytes = 1000;
const pauseMs = 250;
const smallRequests = { workload: 'single-2kb', connections: 64, requestsPerSecond: 300 } as const;

/** Builds a compressed batch of 20 MB. Imports send such batches, and so do servers that were offline for a while. */
function largeBatch(projectApiKey: string): Uint8Array<ArrayBuffer> {
  const batch = Array.from({ length: batchBytes / eventBytes }, (_, index) => ({
    event: 'imported',
    distinct_id: `user-${index}`,
    properties: createFillerProperties(index, eventBytes - 60),
  }));
  return new Uint8Array(gzipSync(JSON.stringify({ api_key: projectApiKey, batch })));
}

type SmallRun = { name: string; p99Ms: number };
const [alone, duringBatches] = ['alone', 'during gzip batches of 20 MB'];

/** Measures the latency of small requests. Runs with and without simultaneous large batches alternate. */
async function measureLargeBatches(side: Side, run: Run): Promise<SmallRun[]> {
  const body = largeBatch(run.bench.database.projectApiKey);
  const measured: SmallRun[] = [];
  const p99OfSmall = async () => (await measure(side, { ...smallRequests, durationMs: run.seconds * 1000 }, run)).p99Ms;

  async function postBatch(): Promise<void> {
    const response = await fetch(`http://127.0.0.1:${side.process.port}/batch/`, { method: 'POST', body });
    if (response.status !== 200) throw new Error(`The large batch returned ${response.status}.`);
    await response.arrayBuffer();
  }

  // The first batch starts the worker thread, which all subsequent batches use.
  await postBatch();
  for (let pair = 0; pair < run.pairs; pair++) {
    measured.push({ name: alone, p99Ms: await p99OfSmall() });
    let isOver = false;
    const small = p99OfSmall().finally(() => {
      isOver = true;
    });
    while (!isOver) {
      await postBatch();
      await new Promise((resolve) => setTimeout(resolve, pauseMs));
    }
    measured.push({ name: duringBatches, p99Ms: await small });
  }
  return measured;
}

type GatewayMeasurement = Awaited<ReturnType<typeof measure>>;

const columns = {
  'cpu µs/event': (run) => run.cpuMicros / run.eventsPerRequest,
  'events/s': (run) => run.requestsPerSecond * run.eventsPerRequest,
  'p50 ms': (run) => run.p50Ms,
  'p99 ms': (run) => run.p99Ms,
  'max RSS MB': (run) => run.maxRssBytes / 2 ** 20,
} satisfies Columns<GatewayMeasurement>;

const nameOf = ({ workload, loop, side }: GatewayMeasurement) => `${workload} ${loop} ${side}`;

function gatewayReport(measurements: readonly GatewayMeasurement[], small: readonly SmallRun[]): string {
  const ours = [...new Set(measurements.map(nameOf))].filter((name) => name.endsWith('millrace'));
  const ratios = ours.map((name) => [name, name.replace('millrace', 'naive')] as const);
  const counts: Columns<GatewayMeasurement> = {
    acknowledged: (run) => run.acknowledgedEvents,
    'in topic': (run) => run.eventsInTopic,
    'other responses': (run) => formatStatuses(run.otherStatuses),
  };
  const of = (name: string, column: keyof typeof columns) =>
    median(measurements.filter((run) => nameOf(run) === name).map(columns[column]));
  const cpu = (name: string) => of(name, 'cpu µs/event');
  const single = cpu('single-2kb closed millrace');
  const p99Of = (name: string) => median(small.filter((one) => one.name === name).map(({ p99Ms }) => p99Ms));
  const added = p99Of(duringBatches) - p99Of(alone);
  // A failed request's events may be in the topic although they were not acknowledged.
  const inexact = measurements.filter(
    ({ acknowledgedEvents, eventsInTopic, otherStatuses }) =>
      eventsInTopic < acknowledgedEvents ||
      (eventsInTopic > acknowledgedEvents && Object.keys(otherStatuses).length === 0),
  );
  return formatReport(
    [
      ['Every run', formatRuns(measurements, nameOf, { ...columns, ...counts })],
      ['Medians', formatMedians(measurements, nameOf, columns, ratios)],
      ['Small requests', formatMedians(small, ({ name }) => name, { 'p99 ms': ({ p99Ms }) => p99Ms })],
    ],
    [
      [
        'CPU per single 2 KB event, gateway relative to naive',
        single / cpu('single-2kb closed naive'),
        { atMost: 0.2 },
      ],
      ['CPU µs per single 2 KB event', single, { atMost: 60 }],
      ['CPU µs per event of a batch of 50 x 1 KB', cpu('batch-50x1kb closed millrace'), { atMost: 20 }],
      ['p50 ms at half load', of('single-2kb open millrace', 'p50 ms'), { atMost: 8 }],
      ['p99 ms at half load', of('single-2kb open millrace', 'p99 ms'), { atMost: 25 }],
      ['max RSS MB under these workloads', of('batch-50x1kb open millrace', 'max RSS MB'), { atMost: 200 }],
      ['p99 ms added by simultaneous gzip batches of 20 MB', added, { atMost: 50 }],
      ['runs that lost or duplicated events', inexact.length, { atMost: 0 }],
    ],
  );
}
