import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import type { Progress } from '../command.ts';
import { removePostgresFiles } from '../servers/postgres.ts';
import {
  chromiumSources,
  firefoxSources,
  kafkaProgramSources,
  kafkaSources,
  NotProvided,
  postgresSources,
  provide,
  redisProgramSources,
  redisSources,
  type Source,
  webkitSources,
  windowedChromiumSources,
} from '../servers/provision.ts';
import {
  isRunning,
  type Reaper,
  type RunningServer,
  readProcessRecord,
  stopRecordedProcess,
  writeProcessRecord,
} from '../servers/server-process.ts';
import type { Need } from './needs-by-name.ts';

export interface TestServerSet {
  /** By variable, of what was needed, as far as it could be had. */
  addresses: Record<string, string>;
  /** The variables of what was needed and is not available. */
  missing: string[];
  stop(): Promise<void>;
}

/** Brings up what the tests need, side by side. What cannot be had is said, and left out. */
export async function provideTestServers(
  needed: ReadonlySet<Need>,
  { directory, reaper, progress }: { directory: string; reaper: Reaper; progress: Progress },
): Promise<TestServerSet> {
  const options = { directory, reaper, ports: { kafka: 0, redis: 0 }, say: progress.print };
  const known: Record<Need, [name: string, sources: Source[]]> = {
    DATABASE_URL: ['PostgreSQL', postgresSources(options)],
    KAFKA_BROKERS: ['Kafka', kafkaSources(options)],
    REDIS_URL: ['Redis', redisSources(options)],
    KAFKA_JARS: ["Kafka's programs", kafkaProgramSources(options)],
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
        const { server, source, passedOver } = await progress.step(name, async () => provide(name, sources));
        running.push(server);
        addresses[variable] = server.address;
        const worthSaying = passedOver.filter((reason) => !reason.endsWith(': not set'));
        progress.print(`  ${name} from ${source}${worthSaying.length > 0 ? ` (${worthSaying.join('; ')})` : ''}`);
      } catch (error) {
        if (!(error instanceof NotProvided)) throw error;
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

/** A part of this command's line; see package.json. */
const marker = 'bin/test.mjs';

/** How the servers of a run are asked to end, and under which name they keep their files. */
const servers: Record<string, NodeJS.Signals> = { postgres: 'SIGINT', kafka: 'SIGTERM', redis: 'SIGTERM' };

/** A directory of this run's own, for servers that live as long as the run. */
export function createTestRunDirectory(parent: string): string {
  mkdirSync(parent, { recursive: true });
  const directory = mkdtempSync(join(parent, 'run-'));
  writeProcessRecord(recordFile(directory), { pid: process.pid, marker });
  return directory;
}

/** Ends the servers of runs that were killed and removes their files. Runs still going on are left alone. */
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
  // Without a record it is being created right now, or was when its run was killed.
  return Date.now() - statSync(directory).mtimeMs < 60_000;
}

const recordFile = (directory: string) => join(directory, 'run.json');
