import { randomUUID } from 'node:crypto';
import { topicNames } from '@millrace/contracts';
import { compilePrograms, testServers } from '@millrace/testing';
import type { EvaluateAnswer, EvaluateMessage } from './flags/evaluator-worker.ts';
import { environmentsForDefinitions, measureDefinitions, measureMemory } from './flags/measure-definitions.ts';
import {
  type Asker,
  askers,
  measureQuestions,
  questionById,
  questionWithProperties,
} from './flags/measure-questions.ts';
import { addFlagEnvironments, addPersons, mixedFlags } from './flags/mixed-flags.ts';
import { sendLoad } from './load/measure-load.ts';
import { type MeasuredProcess, startMeasured, waitUntilReady } from './process/measured-process.ts';
import {
  type BesideIngest,
  type EvaluatorMeasurement,
  type FlagsMeasurement,
  flagsReport,
} from './report/flags-report.ts';
import { environmentFacts, median } from './report/report.ts';
import { type BenchDatabase, createBenchDatabase } from './topic/bench-project.ts';
import { connectBenchTopics } from './topic/bench-topics.ts';
import { buildRequests } from './workload/gateway-workloads.ts';

export interface FlagsBenchOptions {
  /** Runs of each side. */
  pairs: number;
  /** Length of one run. */
  seconds: number;
  /** Of closed loops. */
  connections: number;
}

interface Bench extends FlagsBenchOptions {
  database: BenchDatabase;
  load: MeasuredProcess;
  start(file: string, settings?: Record<string, string>): Promise<MeasuredProcess>;
  startGateway(settings?: Record<string, string>): Promise<MeasuredProcess>;
  programs: { evaluator: string; load: string };
  print(line: string): void;
}

const partitions = 8;
const people = askers(1000);
const memory = { projects: 1000, flags: 100, roomyMb: 512, limitsMb: [128, 16] };

/** Flags: their evaluator beside that of an SDK, questions, definitions, events beside questions, memory. */
export async function benchFlags(options: FlagsBenchOptions, print: (line: string) => void): Promise<void> {
  const servers = testServers();
  const prefix = `bench-${randomUUID()}.`;
  const database = await createBenchDatabase(`phc_bench_${randomUUID().replaceAll('-', '')}`);
  const topics = await connectBenchTopics(servers.kafkaBrokers);
  const started: MeasuredProcess[] = [];
  let removePrograms = async () => {};
  try {
    await topics.create(Object.values(topicNames(prefix)), partitions);
    for (const line of await environmentFacts(topics, database)) print(line);
    const programs = await compilePrograms([
      'services/ingest-gateway/src/main.ts',
      'packages/bench/src/load/load-generator.ts',
      'packages/bench/src/flags/evaluator-worker.ts',
    ]);
    removePrograms = programs.remove;
    const [gateway = '', load = '', evaluator = ''] = programs.files;
    const start: Bench['start'] = async (file, settings) => {
      const one = await startMeasured(file, settings);
      started.push(one);
      return one;
    };
    const startGateway: Bench['startGateway'] = async (settings) => {
      const one = await start(gateway, {
        ...{ DATABASE_URL: database.url, KAFKA_BROKERS: servers.kafkaBrokers.join(','), REDIS_URL: servers.redisUrl },
        ...{ EVENT_LOG: 'kafka', TOPIC_PREFIX: prefix, TOPIC_PARTITIONS: String(partitions) },
        ...{ INGEST_PORT: '0', LOG_LEVEL: 'warn', SPIKE_WARM_UP_MS: String(60 * 60 * 1000) },
        ...settings,
      });
      await waitUntilReady(one.port);
      return one;
    };
    const bench = { ...options, database, start, startGateway, print, load: await start(load) };
    const measured = await measureAll({ ...bench, programs: { evaluator, load } });
    print('');
    print(flagsReport(measured));
  } finally {
    for (const one of started.reverse()) await one.stop();
    await topics.stop();
    await database.drop();
    await removePrograms();
  }
}

/** The parts in their order. */
async function measureAll(bench: Bench): Promise<FlagsMeasurement> {
  const { database, programs, print } = bench;
  const evaluator = await measureEvaluator(programs.evaluator, bench, print);
  const asking = await measureAsking(bench);
  print(`adding ${memory.projects} projects with ${memory.flags} flags each`);
  const environments = await addFlagEnvironments(database, memory.projects, mixedFlags(memory.flags));
  const limited = { environments, asker: askerOf(people), startGateway: bench.startGateway, print };
  const roomy = await measureMemory({ ...limited, limitMb: memory.roomyMb });
  const limitedMemory: FlagsMeasurement['limitedMemory'] = [];
  for (const limitMb of memory.limitsMb) limitedMemory.push(await measureMemory({ ...limited, limitMb }));
  return { evaluator, ...asking, memory: roomy, limitedMemory };
}

/** What is asked of one and the same gateway. */
async function measureAsking(bench: Bench) {
  const { database, start, programs, load } = bench;
  const flags = mixedFlags(50);
  const [environment] = await addFlagEnvironments(database, 1, flags);
  const ofDefinitions = await addFlagEnvironments(database, environmentsForDefinitions(bench.pairs), mixedFlags(500));
  if (environment === undefined) throw new Error('No environment is available for the requests.');
  const { environmentId, projectApiKey } = environment;
  await addPersons(database, environmentId, people);

  const gateway = await bench.startGateway();
  const options = { ...bench, server: gateway };
  const requests = people.map((asker) => questionWithProperties(projectApiKey, asker));
  const questions = await measureQuestions('questions', { requests }, options);
  const byId = { requests: people.map((asker) => questionById(projectApiKey, asker)), perSecond: 1000 };
  const personReads = await measureQuestions('flag requests that read a person', byId, options);
  const definitions = await measureDefinitions(ofDefinitions, { ...bench, gateway });
  const loads = [load, await start(programs.load)] as const;
  const besideIngest = await measureBesideIngest({ ...bench, gateway, loads, projectApiKey, questions: requests });
  await gateway.stop();
  return { questions, personReads, definitions, besideIngest };
}

function askerOf([asker]: readonly Asker[]): Asker {
  if (asker === undefined) throw new Error('No client is configured.');
  return asker;
}

interface BesideOptions {
  pairs: number;
  seconds: number;
  gateway: MeasuredProcess;
  /** Two generators: of events, and of questions. */
  loads: readonly [MeasuredProcess, MeasuredProcess];
  projectApiKey: string;
  questions: string[];
  print(line: string): void;
}

/** What keeps one gateway busy all the time. */
const ingestConnections = 64;
const questionsPerSecond = 300;

/** How long events wait while the gateway takes as many as it can, alone and with questions for flags beside, alternating. */
async function measureBesideIngest(options: BesideOptions): Promise<BesideIngest> {
  const { pairs, seconds, gateway, loads, questions, print } = options;
  const measured: BesideIngest = { alone: [], beside: [], questionsPerSecond, otherStatuses: {} };
  await ingest(options, 2);
  for (let pair = 1; pair <= pairs; pair++) {
    print(`events alone and with ${questionsPerSecond} flag requests/s, pair ${pair} of ${pairs}`);
    measured.alone.push(await ingest(options, seconds));
    const asking = sendLoad(loads[1], {
      ...{ port: gateway.port, requests: questions, connections: 16 },
      ...{ requestsPerSecond: questionsPerSecond, durationMs: seconds * 1000 },
    });
    measured.beside.push(await ingest(options, seconds));
    for (const [status, count] of Object.entries((await asking).otherStatuses)) {
      measured.otherStatuses[status] = (measured.otherStatuses[status] ?? 0) + count;
    }
  }
  return measured;
}

/** @returns the 99th percentile of a closed loop, in ms. */
async function ingest({ gateway, loads, projectApiKey }: BesideOptions, seconds: number): Promise<number> {
  const { requests } = buildRequests('single-2kb', projectApiKey);
  const load = { requests, connections: ingestConnections, requestsPerSecond: null, durationMs: seconds * 1000 };
  return (await sendLoad(loads[0], { ...load, port: gateway.port })).p99Ms;
}

/** By how many flags there are: what the targets are for, and what tells whether cost grows with them alone. */
const sizes = [50, 1000, 2000];
/** The SDK is for comparison: at the size that requests have. */
const sizesOfSdk = [50];

/** Both evaluators, alternating, each time in a process that has just been started. */
async function measureEvaluator(
  file: string,
  { pairs, seconds }: { pairs: number; seconds: number },
  print: (line: string) => void,
): Promise<EvaluatorMeasurement[]> {
  const kinds = [
    ...sizes.map((flags) => ({ side: 'millrace' as const, flags })),
    ...sizesOfSdk.map((flags) => ({ side: 'posthog-node' as const, flags })),
  ];
  const runs = kinds.map((kind) => ({ ...kind, micros: [] as number[] }));
  for (let pair = 1; pair <= pairs; pair++) {
    print(`evaluator, pair ${pair} of ${pairs}`);
    for (const run of runs) {
      run.micros.push(await inWorker(file, (worker) => evaluateOnce(worker, { ...run, durationMs: seconds * 250 })));
    }
  }
  return runs.map(({ side, flags, micros }) => ({ side, flags, cpuMicros: median(micros) }));
}

async function evaluateOnce(worker: MeasuredProcess, run: Omit<EvaluateMessage, 'type'>): Promise<number> {
  const { side, flags, durationMs } = run;
  const message: EvaluateMessage = { type: 'evaluate', side, flags, durationMs };
  const answer = await worker.ask<EvaluateAnswer>(message, 'evaluated', 'failed');
  if (answer.type === 'failed') throw new Error(`Evaluation failed: ${answer.message}`);
  return answer.cpuMicros;
}

async function inWorker<Result>(file: string, work: (worker: MeasuredProcess) => Promise<Result>): Promise<Result> {
  const worker = await startMeasured(file);
  try {
    return await work(worker);
  } finally {
    await worker.stop();
  }
}
