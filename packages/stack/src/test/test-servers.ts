import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { dataDirectory, type Progress } from '../command.ts';
import { removePostgresFiles } from '../servers/postgres.ts';
import {
  chromiumSources,
  firefoxSources,
  kafkaJarSources,
  kafkaSources,
  postgresSources,
  provideServer,
  redisProgramSources,
  redisSources,
  ServerUnavailable,
  type Source,
  webkitSources,
  windowedChromiumSources,
} from '../servers/provision.ts';
import {
  createReaper,
  isRunning,
  type Reaper,
  type RunningServer,
  readProcessRecord,
  stopRecordedProcess,
  writeProcessRecord,
} from '../servers/server-process.ts';
import type { TestServerVariable } from './needs-by-name.ts';

export interface TestServerSet {
  /** Addresses of the available servers, by variable. */
  addresses: Record<string, string>;
  /** The variables of servers that are required but unavailable. */
  missing: string[];
  stop(): Promise<void>;
}

/** Starts the required servers in parallel. If a server is unavailable, reports it and continues without it. */
async function provideTestServers(
  needed: ReadonlySet<TestServerVariable>,
  { directory, reaper, progress }: { directory: string; reaper: Reaper; progress: Progress },
): Promise<TestServerSet> {
  const options = { directory, reaper, ports: { kafka: 0, redis: 0 }, say: progress.print, isShortLived: true };
  const known: Record<TestServerVariable, [name: string, sources: Source[]]> = {
    DATABASE_URL: ['PostgreSQL', postgresSources(options)],
    KAFKA_BROKERS: ['Kafka', kafkaSources(options)],
    REDIS_URL: ['Redis', redisSources(options)],
    KAFKA_JARS: ["Kafka's programs", kafkaJarSources(options)],
    REDIS_SERVER_PATH: ['redis-server', redisProgramSources(options)],
    CHROMIUM_PATH: ['Chromium', chromiumSources(options)],
    WINDOWED_CHROMIUM_PATH: ['Chromium with windows', windowedChromiumSources(options)],
    FIREFOX_PATH: ['Firefox', firefoxSources(options)],
    WEBKIT_DRIVER_PATH: ['WebKit', webkitSources(options)],
  };
  const running: RunningServer[] = [];
  const addresses: Record<string, string> = {};
  const missing: string[] = [];
  const outcomes = await Promise.allSettled(
    [...needed].map(async (variable) => {
      const [name, sources] = known[variable];
      try {
        const { server, source, passedOver } = await progress.step(name, async () => provideServer(name, sources));
        running.push(server);
        addresses[variable] = server.address;
        const notable = passedOver.filter((reason) => !reason.endsWith(': not set'));
        progress.print(`  ${name} from ${source}${notable.length > 0 ? ` (${notable.join('; ')})` : ''}`);
      } catch (error) {
        if (!(error instanceof ServerUnavailable)) throw error;
        missing.push(variable);
        progress.print(`! ${error.message}\n! Tests that need ${name} are skipped. They do not count as passed.`);
      }
    }),
  );
  const stop = async () => void (await Promise.allSettled(running.map((server) => server.stop())));
  const failure = outcomes.find((outcome) => outcome.status === 'rejected');
  if (failure) {
    await stop();
    throw failure.reason;
  }
  return { addresses, missing, stop };
}

/** A substring of the command lines that start test servers (see package.json). */
const marker = 'packages/stack/bin/';

/** The name of each server's directory in the run directory, and the signal that stops the server. */
const servers: Record<string, NodeJS.Signals> = { postgres: 'SIGINT', kafka: 'SIGTERM', redis: 'SIGTERM' };

/**
 * Starts the required servers, and stops them after the work. If this process is killed in the meantime, a reaper ends
 * the servers, and the next run deletes their files.
 */
export async function withTestServers<Result>(
  needed: ReadonlySet<TestServerVariable>,
  { root, progress }: { root: string; progress: Progress },
  work: (servers: TestServerSet, directory: string) => Promise<Result>,
): Promise<Result> {
  const testRuns = join(dataDirectory(root), 'test');
  const removed = await removeDeadTestRuns(testRuns);
  if (removed > 0) progress.print(`  Cleaned up after ${removed} earlier run(s)`);
  const directory = createTestRunDirectory(testRuns);
  const reaper = createReaper();
  try {
    const servers = await provideTestServers(needed, { directory, reaper, progress });
    try {
      return await work(servers, directory);
    } finally {
      await servers.stop();
    }
  } finally {
    reaper.dismiss();
    await removeTestRunDirectory(directory);
  }
}

/** Creates a directory for servers that run for the duration of this test run. */
export function createTestRunDirectory(parent: string): string {
  mkdirSync(parent, { recursive: true });
  const directory = mkdtempSync(join(parent, 'run-'));
  writeProcessRecord(recordFile(directory), { pid: process.pid, marker });
  return directory;
}

/** Ends the servers of killed test runs and deletes their files. Does not affect runs in progress. */
export async function removeDeadTestRuns(parent: string): Promise<number> {
  if (!existsSync(parent)) return 0;
  let removed = 0;
  for (const name of readdirSync(parent)) {
    const directory = join(parent, name);
    if (isAlive(directory)) continue;
    await removeTestRunDirectory(directory);
    removed += 1;
  }
  return removed;
}

export async function removeTestRunDirectory(directory: string): Promise<void> {
  for (const [name, signal] of Object.entries(servers)) {
    await stopRecordedProcess(join(directory, name, 'process.json'), signal);
  }
  removePostgresFiles(join(directory, 'postgres'));
  rmSync(directory, { recursive: true, force: true });
}

function isAlive(directory: string): boolean {
  const record = readProcessRecord(recordFile(directory));
  if (record) return isRunning(record.pid, record.marker);
  // A directory without a record was just created, or its run was killed immediately after creating it.
  return Date.now() - statSync(directory).mtimeMs < 60_000;
}

const recordFile = (directory: string) => join(directory, 'run.json');
