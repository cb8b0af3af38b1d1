import { randomUUID } from 'node:crypto';
import { gzipSync } from 'node:zlib';
import { topicNames } from '@millrace/contracts';
import { compilePrograms, testServers } from '@millrace/testing';
import { type LoadJob, measureRequests } from './load/measure-load.ts';
import { type MeasuredProcess, startMeasured } from './process/measured-process.ts';
import { type GatewayMeasurement, gatewayReport, type ImpactMeasurement } from './report/gateway-report.ts';
import { environmentFacts } from './report/report.ts';
import { type BenchDatabase, createBenchDatabase } from './topic/bench-project.ts';
import { type BenchTopics, connectBenchTopics } from './topic/bench-topics.ts';
import { buildRequests, fillerProperties, type WorkloadName, workloads } from './workload/gateway-workloads.ts';

export interface GatewayBenchOptions {
  /** Runs of each side and workload. */
  pairs: number;
  /** Length of one run. */
  seconds: number;
  /** Connections of the closed loop; a sixteenth of it for batches. With few, singles wait for the linger, not for us. */
  connections: number;
}

interface Side {
  name: 'millrace' | 'naive';
  process: MeasuredProcess;
  topic: string;
}

const partitions = 8;
const warmUpMs = 3000;

/**
 * The gateway against the naive one on the same broker, alternating: first a closed loop (what can it do, at what CPU),
 * then an open loop at half of what the slower side could do (how long does a caller wait).
 */
export async function benchGateway(options: GatewayBenchOptions, print: (line: string) => void): Promise<void> {
  const servers = testServers();
  const prefix = `bench-${randomUUID()}.`;
  const database = await createBenchDatabase(`phc_bench_${randomUUID().replaceAll('-', '')}`);
  const topics = await connectBenchTopics(servers.kafkaBrokers);
  const processes: MeasuredProcess[] = [];
  let removePrograms = async () => {};
  const start = async (file: string | undefined, settings: Record<string, string>) => {
    const started = await startMeasured(file ?? '', settings);
    processes.push(started);
    return started;
  };
  try {
    const names = topicNames(prefix);
    const naiveTopic = `${prefix}naive`;
    await topics.create([...Object.values(names), naiveTopic], partitions);
    for (const line of await environmentFacts(topics, database)) print(line);
    print('compiling and starting both sides');
    const programs = await compilePrograms([
      'services/ingest-gateway/src/main.ts',
      'packages/bench/src/naive/naive-gateway.ts',
      'packages/bench/src/load/load-generator.ts',
    ]);
    removePrograms = programs.remove;
    const [gatewayFile, naiveFile, loadFile] = programs.files;
    const shared = { KAFKA_BROKERS: servers.kafkaBrokers.join(','), LOG_LEVEL: 'warn' };
    const load = await start(loadFile, {});
    const sides = await startSides(start, [gatewayFile, naiveFile], {
      ...{ shared, database, redisUrl: servers.redisUrl, prefix, liveTopic: names.live, naiveTopic },
    });
    const measurements: GatewayMeasurement[] = [];
    for (const workload of Object.keys(workloads) as WorkloadName[]) {
      measurements.push(...(await measureWorkload(workload, { ...options, load, topics, sides, database, print })));
    }
    const [gateway] = sides;
    if (gateway === undefined) throw new Error('No server was selected for the measurement.');
    print('small requests, alone and during a gzip batch of 20 MB');
    const { projectApiKey } = database;
    const small = { workload: 'single-2kb', connections: 64, requestsPerSecond: 300 } as const;
    const large = await measureLargeRequestImpact(
      { port: gateway.process.port, projectApiKey, pairs: options.pairs },
      async () => {
        const run = await measure({ load, topics, database }, gateway, {
          ...small,
          durationMs: options.seconds * 1000,
        });
        return run.p99Ms;
      },
    );
    print('');
    print(gatewayReport(measurements, large));
  } finally {
    for (const started of processes.reverse()) await started.stop();
    await topics.stop();
    await database.drop();
    await removePrograms();
  }
}

interface SideSettings {
  shared: Record<string, string>;
  database: BenchDatabase;
  redisUrl: string;
  prefix: string;
  liveTopic: string;
  naiveTopic: string;
}

async function startSides(
  start: (file: string | undefined, settings: Record<string, string>) => Promise<MeasuredProcess>,
  [gatewayFile, naiveFile]: (string | undefined)[],
  { shared, database, redisUrl, prefix, liveTopic, naiveTopic }: SideSettings,
): Promise<Side[]> {
  return [
    {
      name: 'millrace',
      topic: liveTopic,
      process: await start(gatewayFile, {
        ...shared,
        ...{ DATABASE_URL: database.url, REDIS_URL: redisUrl, EVENT_LOG: 'kafka', INGEST_PORT: '0' },
        ...{ TOPIC_PREFIX: prefix, TOPIC_PARTITIONS: String(partitions) },
        // From one load to another is a spike, and the report of one is a record in the topic that nobody sent.
        SPIKE_WARM_UP_MS: String(60 * 60 * 1000),
      }),
    },
    {
      name: 'naive',
      topic: naiveTopic,
      process: await start(naiveFile, {
        ...shared,
        NAIVE_TOPIC: naiveTopic,
        NAIVE_PROJECT_API_KEY: database.projectApiKey,
      }),
    },
  ];
}

interface WorkloadRun extends GatewayBenchOptions {
  load: MeasuredProcess;
  topics: BenchTopics;
  sides: Side[];
  database: BenchDatabase;
  print(line: string): void;
}

/** A closed loop, then an open one at half of what the slower side could do. */
async function measureWorkload(
  workload: WorkloadName,
  { load, topics, sides, database, print, ...options }: WorkloadRun,
): Promise<GatewayMeasurement[]> {
  const connections =
    workloads[workload].eventsPerRequest === 1 ? options.connections : Math.ceil(options.connections / 16);
  const closed = { workload, connections, requestsPerSecond: null };
  for (const side of sides) await measure({ load, topics, database }, side, { ...closed, durationMs: warmUpMs });
  const runs: GatewayMeasurement[] = [];
  for (let pair = 1; pair <= options.pairs; pair++) {
    for (const side of sides) {
      print(`${workload}, pair ${pair} of ${options.pairs}: ${side.name}`);
      runs.push(await measure({ load, topics, database }, side, { ...closed, durationMs: options.seconds * 1000 }));
    }
  }
  const measurements = [...runs];
  const halfOfSlower = Math.min(...runs.map((run) => run.requestsPerSecond)) / 2;
  const open = { ...closed, connections: 64, requestsPerSecond: halfOfSlower, durationMs: options.seconds * 1000 };
  for (let pair = 1; pair <= options.pairs; pair++) {
    for (const side of sides) {
      print(
        `${workload}, open loop at ${Math.round(halfOfSlower)} requests/s, pair ${pair} of ${options.pairs}: ${side.name}`,
      );
      measurements.push(await measure({ load, topics, database }, side, open));
    }
  }
  return measurements;
}

async function measure(
  { load, topics, database }: Pick<WorkloadRun, 'load' | 'topics' | 'database'>,
  side: Side,
  { workload, ...job }: Omit<LoadJob, 'port' | 'requests'> & { workload: WorkloadName },
): Promise<GatewayMeasurement> {
  const { requests, eventsPerRequest } = buildRequests(workload, database.projectApiKey);
  const recordsBefore = await topics.countRecords(side.topic);
  const run = await measureRequests({ server: side.process, load, database }, { ...job, requests });
  const recordsAfter = await topics.countRecords(side.topic);
  return {
    side: side.name,
    workload,
    loop: job.requestsPerSecond === null ? 'closed' : 'open',
    cpuMicrosPerEvent: run.cpuMicros / eventsPerRequest,
    requestsPerSecond: run.requestsPerSecond,
    eventsPerSecond: run.requestsPerSecond * eventsPerRequest,
    ...{ p50Ms: run.p50Ms, p99Ms: run.p99Ms, maxRssBytes: run.maxRssBytes, otherStatuses: run.otherStatuses },
    acknowledgedEvents: run.acknowledged * eventsPerRequest,
    eventsInTopic: recordsAfter - recordsBefore,
  };
}

const batchBytes = 20 * 1000 * 1000;
const eventBytes = 1000;
const pauseMs = 250;

/** A batch of 20 MB in gzip, as an import or a server that was cut off for a while sends it. */
function largeBatch(projectApiKey: string): Buffer {
  const batch = Array.from({ length: batchBytes / eventBytes }, (_, index) => ({
    event: 'imported',
    distinct_id: `user-${index}`,
    properties: fillerProperties(index, eventBytes - 60),
  }));
  return gzipSync(JSON.stringify({ api_key: projectApiKey, batch }));
}

/**
 * How long small requests wait, alone and while one large batch after the other is sent beside them, alternating.
 *
 * @param p99OfSmall one run of small requests at a steady rate.
 */
async function measureLargeRequestImpact(
  { port, projectApiKey, pairs }: { port: number; projectApiKey: string; pairs: number },
  p99OfSmall: () => Promise<number>,
): Promise<ImpactMeasurement> {
  const body = new Uint8Array(largeBatch(projectApiKey));
  const measured: ImpactMeasurement = { alone: [], beside: [], batches: 0 };

  async function post(): Promise<void> {
    const response = await fetch(`http://127.0.0.1:${port}/batch/`, { method: 'POST', body });
    if (response.status !== 200) throw new Error(`The large batch returned ${response.status}.`);
    await response.arrayBuffer();
  }

  // The first one starts what the others find.
  await post();
  for (let pair = 0; pair < pairs; pair++) {
    measured.alone.push(await p99OfSmall());
    let isOver = false;
    const small = p99OfSmall().finally(() => {
      isOver = true;
    });
    while (!isOver) {
      await post();
      measured.batches += 1;
      await new Promise((resolve) => setTimeout(resolve, pauseMs));
    }
    measured.beside.push(await small);
  }
  return measured;
}
