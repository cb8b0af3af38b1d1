// Code that all benchmarks share: starts programs, registers cleanup functions, and prints a report.

import { randomUUID } from 'node:crypto';
import { cpus, loadavg, totalmem } from 'node:os';
import { topicNames } from '@millrace/contracts';
import { compilePrograms, testServers } from '@millrace/testing';
import { type BenchDatabase, createBenchDatabase, generateProjectKey, openReusableDatabase } from './bench-database.ts';
import { type BenchTopics, connectBenchTopics, partitions } from './bench-topics.ts';
import type { Print } from './command.ts';
import { type MeasuredProcess, startMeasuredProcess, waitUntilReady } from './measured-process.ts';

export const programs = {
  gateway: 'services/ingest-gateway/src/main.ts',
  consumer: 'services/event-consumer/src/main.ts',
  api: 'services/management-api/src/main.ts',
  deliveryWorker: 'services/delivery-worker/src/main.ts',
} as const;

/**
 * The servers of a benchmark, and functions that start programs on these servers. Everything is removed when the
 * benchmark ends.
 */
export interface Bench {
  database: BenchDatabase;
  topics: BenchTopics;
  prefix: string;
  print: Print;
  /** Compiles a program. @param program the path from the repository root */
  compile(program: string): Promise<string>;
  /**
   * Starts a program and waits until it is ready. Adds `settings` to the settings for the benchmark's database and
   * topics.
   */
  start(program: string, settings?: Record<string, string>): Promise<MeasuredProcess>;
  startWorker(): Promise<Worker>;
  /** Registers a function to call when the benchmark ends. Functions are called in reverse order. */
  onEnd(stop: () => Promise<unknown>): void;
}

/** A separate process that generates load, so that its CPU time does not count for the measured processes. */
export interface Worker {
  /** Runs the function of `worker.ts` that has this name. */
  perform<Job extends AnyJob>(name: string, ...parameters: Parameters<Job>): Promise<Awaited<ReturnType<Job>>>;
  stop(): Promise<unknown>;
}

type AnyJob = (...parameters: never[]) => unknown;

/**
 * Runs a benchmark, and prints the environment and the report that `measure` returns.
 * @param keptDatabase a file that describes a database to keep for the next run (see `openReusableDatabase`)
 */
export async function withBench(
  print: Print,
  measure: (bench: Bench) => Promise<string>,
  { keptDatabase }: { keptDatabase?: string | undefined } = {},
): Promise<void> {
  const ends: (() => Promise<unknown>)[] = [];
  const files = new Map<string, string>();
  const servers = testServers();
  const prefix = `bench-${randomUUID()}.`;
  try {
    const database =
      keptDatabase === undefined
        ? await createBenchDatabase(generateProjectKey())
        : await openReusableDatabase(keptDatabase);
    ends.push(() => database.drop());
    const topics = await connectBenchTopics(servers.kafkaBrokers);
    ends.push(() => topics.stop());
    await topics.create(Object.values(topicNames(prefix)));
    for (const line of await environmentFacts(topics, database)) print(line);
    const compile = async (program: string) => {
      const compiled = files.get(program);
      if (compiled !== undefined) return compiled;
      const {
        files: [file = ''],
        remove,
      } = await compilePrograms([program]);
      ends.push(remove);
      files.set(program, file);
      return file;
    };
    const settings = { DATABASE_URL: database.url, ...createServiceSettings(prefix) };
    const start = async (program: string, more: Record<string, string> = {}) => {
      const started = await startMeasuredProcess(await compile(program), { ...settings, ...more });
      ends.push(() => started.stop());
      if (program.startsWith('services/')) await waitUntilReady(started.port);
      return started;
    };
    const startWorker = async () => workerOf(await start('packages/bench/src/worker.ts'));
    const onEnd = (stop: () => Promise<unknown>) => void ends.push(stop);
    const text = await measure({ database, topics, prefix, print, compile, start, startWorker, onEnd });
    print(`\n${text}`);
  } finally {
    for (const end of ends.reverse()) await end();
  }
}

export function createServiceSettings(prefix: string): Record<string, string> {
  const servers = testServers();
  return {
    KAFKA_BROKERS: servers.kafkaBrokers.join(','),
    REDIS_URL: servers.redisUrl,
    EVENT_LOG: 'kafka',
    TOPIC_PREFIX: prefix,
    TOPIC_PARTITIONS: String(partitions),
    LOG_LEVEL: 'warn',
    INGEST_PORT: '0',
    HEALTH_PORT: '0',
    API_PORT: '0',
    // Count requests as usual, but never reject any because of their number.
    API_REQUESTS_PER_MINUTE: '1000000000',
    API_REQUESTS_PER_HOUR: '1000000000',
    // Disable spike detection. A change of the workload looks like a spike, for which the gateway would write an
    // additional record.
    SPIKE_WARM_UP_MS: String(60 * 60 * 1000),
  };
}

function workerOf(started: MeasuredProcess): Worker {
  return {
    async perform<Job extends AnyJob>(name: string, ...parameters: Parameters<Job>): Promise<Awaited<ReturnType<Job>>> {
      type JobOutcome = { type: 'done'; result: Awaited<ReturnType<Job>> } | { type: 'failed'; message: string };
      const outcome = await started.request<JobOutcome>({ type: 'job', name, parameters }, 'done', 'failed');
      if (outcome.type === 'failed') throw new Error(`The job ${name} failed: ${outcome.message}`);
      return outcome.result;
    },
    stop: () => started.stop(),
  };
}

/** PostgreSQL settings that affect the figures, for example the size of the page cache. */
const printedSettings = ['fsync', 'synchronous_commit', 'full_page_writes', 'shared_buffers', 'max_wal_size'];

/** Returns facts about the environment, so that readers can compare the figures with their own. */
async function environmentFacts(topics: BenchTopics, database: BenchDatabase): Promise<string[]> {
  const processors = cpus();
  const settings = await database.query<{ name: string; value: string }>(
    'SELECT name, current_setting(name) AS value FROM unnest($1::text[]) AS name',
    [['server_version', ...printedSettings]],
  );
  const settingOf = (sought: string) => settings.find(({ name }) => name === sought)?.value;
  return [
    `processor   ${processors[0]?.model.trim() ?? 'unknown'}, ${processors.length} core(s), ${Math.round(totalmem() / 2 ** 30)} GB`,
    `load        ${loadavg()[0]?.toFixed(1)} before the start (measurements on a busy machine are unreliable; CPU per event is less affected)`,
    `node        ${process.version}`,
    `kafka       ${await topics.describeBroker()}, on the same machine unless KAFKA_BROKERS is set`,
    `postgresql  ${settingOf('server_version')} (${printedSettings.map((name) => `${name} ${settingOf(name)}`).join(', ')})`,
  ];
}
