import { execFile } from 'node:child_process';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { compilePrograms, eventually, type ServiceProcess, type TestTenant, writeStory } from '@millrace/testing';
import type { Pool } from 'pg';
import { readable, textTable } from '../../report/report.ts';
import { type ChaosSystem, startChaosSystem, topicPrefix } from '../chaos-system.ts';
import { type LaneWatch, watchLanes } from '../lane-watch.ts';
import { checkState, type StateCheck } from '../state-check.ts';
import { createStoryLoad, type StoryLoad } from '../story-load.ts';
import { type PostgresBackup, startArchiving } from './postgres-backup.ts';

export interface RestoreChaosOptions {
  /** How long events come in before each disaster. */
  seconds: number;
  seed: number;
  eventsPerSecond: number;
}

/** What an operator needs the minutes for. */
interface Times {
  baseBackup: number;
  /** Time to restore the base backup and the archive, until the database takes writes. */
  putBack: number;
  finish: number;
  /** From the start of the consumers until everything acknowledged is stored. */
  catchUp: number;
}

interface RoundResult extends StateCheck {
  name: string;
  times: Times;
  megabytes: number;
  /** Records that the restored database had not read, by what the operator was told. */
  replayed: number;
  writes: KeptWrites;
}

const consumers = 2;
const clients = 4;
const eventsPerPerson = 60;
const patienceMs = 60_000;
/** Less than what is committed after the last segment was archived. */
const unarchivedMs = 4000;

/**
 * Takes PostgreSQL away for good while gateways go on acknowledging, and brings it back from a base backup and its archive:
 * first to the end of the archive, as docs/operations/backup.md says it; then to an earlier moment, and nobody has stopped any service.
 * @returns true when every acknowledged event is stored once, and persons and groups are as they must be.
 */
export async function chaosRestore(options: RestoreChaosOptions, print: (line: string) => void): Promise<boolean> {
  print(`starting PostgreSQL, Kafka, Redis and the services (seed ${options.seed})`);
  // The archive's command comes later; whether there is an archive is decided at the start.
  const system = await startChaosSystem({ postgres: { archive_mode: 'on' } });
  const closers: (() => Promise<unknown>)[] = [system.stop];
  try {
    const programs = await compilePrograms(['packages/cli/src/main.ts']);
    closers.push(programs.remove);
    const operator = createOperator(programs.files[0] ?? '', system.settings);
    const backup = await startArchiving(system.postgres.address, 60);
    const gateway = await system.startGateway(0);
    const fleet = await startFleet(system);
    closers.push(fleet.stop);
    const watch = await watchLanes(system.kafka.address, system.database, topicPrefix);
    closers.push(watch.stop);
    const events = Math.ceil(options.eventsPerSecond * (options.seconds * 5 + 240));
    const people = Math.ceil(events / eventsPerPerson);
    const load = createStoryLoad(`http://127.0.0.1:${gateway.port}`, system.tenant.projectApiKey, {
      streams: writeStory({ events, people, clients, seed: options.seed }),
      eventsPerSecond: options.eventsPerSecond,
    });
    closers.push(load.pause);
    const round = { ...options, system, operator, backup, fleet, watch, load, print };
    const results = [
      await restoreRound('the server is lost', { ...round, isByTheBook: true }),
      await restoreRound('to a point in time, without stopping services', { ...round, isByTheBook: false }),
    ];
    if (load.isOver()) print('the events ran out before the last rounds, so these rounds had nothing to process');
    print('');
    print(report(results));
    return results.every(isWell);
  } finally {
    print('stopping');
    for (const close of closers.reverse()) await close();
  }
}

interface Round extends RestoreChaosOptions {
  system: ChaosSystem;
  operator: Operator;
  backup: PostgresBackup;
  fleet: Fleet;
  watch: LaneWatch;
  load: StoryLoad;
  /** Consumers and API are stopped before the database comes back, and it is brought to the end of the archive. */
  isByTheBook: boolean;
  print(line: string): void;
}

async function restoreRound(name: string, round: Round): Promise<RoundResult> {
  const { system, operator, backup, fleet, watch, load, print } = round;
  print(`${name}: ${round.seconds} s`);
  load.resume();
  const writes = startApiWrites(fleet.apiPort(), system.tenant, round.isByTheBook ? 'first' : 'second');
  await sleep((round.seconds * 1000) / 3);
  const { seconds: baseBackup, megabytes } = await backup.takeBase();
  await sleep((round.seconds * 2000) / 3);
  const moment = await databaseTime(system);
  // What is committed from here on is in no archive in the first round, and not wanted in the second.
  if (round.isByTheBook) await backup.archiveAll();
  await sleep(unarchivedMs);
  if (!round.isByTheBook) await backup.archiveAll();
  await writes.stop();

  await system.postgres.kill();
  backup.destroy();
  if (round.isByTheBook) await fleet.stop();
  await sleep((round.seconds * 1000) / 3);

  const putBack = await secondsOf(async () => {
    await backup.putBack(round.isByTheBook ? null : moment);
    await system.postgres.restart();
    await eventually(() => takesWrites(system), { what: 'The end of the recovery' });
  });
  // Safe to repeat: consumers that replay at full speed may leave it no time to connect.
  const told = await eventually(() => operator.finishRestore(), { what: 'Finishing the restore' });
  for (const line of told.lines) print(`  ${line}`);
  if (round.isByTheBook) await fleet.start();
  const catchUp = await secondsOf(async () => {
    await load.pause();
    if (!(await watch.untilDrained(patienceMs))) print(`  ${watch.lag()} records have not been consumed`);
  });
  const check = await checkState(system.database, load.sent(), system.tenant.projectId);
  for (const example of check.examples) print(`  unexpected state: ${example}`);
  const kept = await keptWrites(system.database, writes.made());
  const times = { baseBackup, putBack, finish: told.seconds, catchUp };
  return { ...check, name, times, megabytes, replayed: told.unread, writes: kept };
}

const isWell = ({ lost, doubled, wrong, replayed, writes }: RoundResult) =>
  lost === 0 && doubled === 0 && wrong === 0 && replayed > 0 && writes.kept > 0 && writes.holes === 0;

interface Fleet {
  apiPort(): number;
  start(): Promise<void>;
  stop(): Promise<void>;
}

/** All that writes to PostgreSQL: the gateways are not among it. */
async function startFleet(system: ChaosSystem): Promise<Fleet> {
  let running: ServiceProcess[] = [];
  const fleet = {
    apiPort: () => running[0]?.port ?? 0,
    async start() {
      const starting = Array.from({ length: consumers }, () => system.startConsumer());
      running = await Promise.all([system.startManagementApi(), ...starting]);
    },
    async stop() {
      await Promise.all(running.splice(0).map((service) => service.stop()));
    },
  };
  await fleet.start();
  return fleet;
}

async function databaseTime({ database }: ChaosSystem): Promise<Date> {
  const { rows } = await database.query<{ now: Date }>('SELECT clock_timestamp() AS now');
  return rows[0]?.now ?? new Date();
}

async function takesWrites({ database }: ChaosSystem): Promise<boolean> {
  const { rows } = await database.query<{ inRecovery: boolean }>('SELECT pg_is_in_recovery() AS "inRecovery"');
  return rows[0]?.inRecovery === false;
}

async function secondsOf(work: () => Promise<void>): Promise<number> {
  const startedAt = performance.now();
  await work();
  return (performance.now() - startedAt) / 1000;
}

function report(results: readonly RoundResult[]): string {
  const rows = results.map(({ name, times, megabytes, replayed, writes, ...check }) => [
    name,
    ...(['expected', 'stored', 'lost', 'doubled', 'wrong'] as const).map((field) => readable(check[field])),
    readable(replayed),
    `${writes.kept} of ${writes.made}`,
    readable(megabytes),
    ...[times.baseBackup, times.putBack, times.finish, times.catchUp].map((seconds) => seconds.toFixed(1)),
  ]);
  const headings = [
    ...['round', 'acknowledged', 'stored', 'lost', 'doubled', 'wrong', 'replayed', 'API writes kept', 'MB'],
    ...['base backup s', 'put back s', 'finish s', 'catch up s'],
  ];
  return [
    textTable([headings, ...rows]),
    'Acknowledged, stored, lost, doubled and wrong cover the run up to this row.',
  ].join('\n');
}

/** An administrator who makes one flag after the other. */
interface ApiWrites {
  /** Those that were answered with 201, in their order. */
  made(): readonly string[];
  stop(): Promise<void>;
}

const pauseMs = 250;

function startApiWrites(port: number, { projectId, personalApiKey }: TestTenant, name: string): ApiWrites {
  const made: string[] = [];
  let isRunning = true;

  async function run(): Promise<void> {
    for (let number = 0; isRunning; number += 1) {
      const key = `${name}-${String(number).padStart(4, '0')}`;
      const answer = await fetch(`http://127.0.0.1:${port}/api/projects/${projectId}/feature_flags/`, {
        method: 'POST',
        headers: { authorization: `Bearer ${personalApiKey}`, 'content-type': 'application/json' },
        body: JSON.stringify({ key }),
        signal: AbortSignal.timeout(5000),
      }).catch(() => null);
      if (answer?.status === 201) made.push(key);
      await sleep(pauseMs);
    }
  }

  const running = run();
  return {
    made: () => made,
    async stop() {
      isRunning = false;
      await running;
    },
  };
}

interface KeptWrites {
  made: number;
  kept: number;
  /** Made before one that is there, and gone: no point in time has that. */
  holes: number;
}

/** Which of what the API has acknowledged is still there. */
async function keptWrites(database: Pool, made: readonly string[]): Promise<KeptWrites> {
  const { rows } = await database.query<{ key: string }>('SELECT key FROM feature_flag WHERE key = ANY($1)', [made]);
  const there = new Set(rows.map(({ key }) => key));
  const last = made.findLastIndex((key) => there.has(key));
  return { made: made.length, kept: there.size, holes: last + 1 - there.size };
}

const run = promisify(execFile);

/** Whoever brings an installation back, by the commands that the documents name. */
export interface Operator {
  /** `millrace restore finish`. */
  finishRestore(): Promise<{ seconds: number; lines: string[]; unread: number }>;
}

/**
 * @param program the compiled `millrace` command.
 * @param settings those of a consumer.
 */
export function createOperator(program: string, settings: Record<string, string>): Operator {
  return {
    async finishRestore() {
      const startedAt = performance.now();
      const { stdout } = await run(process.execPath, [program, '--json', 'restore', 'finish'], { env: settings });
      const topics = JSON.parse(stdout) as { topic: string; unread: number; deleted: number }[];
      return {
        seconds: (performance.now() - startedAt) / 1000,
        lines: topics.map(({ topic, unread, deleted }) => `${topic}: ${unread} to read again, ${deleted} deleted`),
        unread: topics.reduce((sum, { unread }) => sum + unread, 0),
      };
    },
  };
}
