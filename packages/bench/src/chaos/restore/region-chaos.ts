import { copyFileSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { unprivilegedUser } from '@millrace/stack/run-program';
import { startKafka } from '@millrace/stack/servers/kafka';
import { postgresFiles, removePostgresFiles, startPostgres } from '@millrace/stack/servers/postgres';
import { startRedis } from '@millrace/stack/servers/redis';
import { createReaper, freePort } from '@millrace/stack/servers/server-process';
import { compilePrograms, eventually, type ServiceProcess, writeStory } from '@millrace/testing';
import pg from 'pg';
import { readable, textTable } from '../../report/report.ts';
import {
  type ChaosServices,
  type ChaosSystem,
  createServiceStarter,
  startChaosSystem,
  topicPrefix,
  usualSettings,
} from '../chaos-system.ts';
import { watchLanes } from '../lane-watch.ts';
import { checkState, type StateCheck } from '../state-check.ts';
import { createStoryLoad } from '../story-load.ts';
import { copyAsStandby } from './postgres-backup.ts';
import { createOperator } from './restore-chaos.ts';

export interface RegionChaosOptions {
  /** How long events come in before the move; clients need a third of it to follow the change of the name. */
  seconds: number;
  seed: number;
  eventsPerSecond: number;
}

const clients = 6;
const consumers = 2;
const eventsPerPerson = 60;
const patienceMs = 60_000;

/**
 * Moves a system under load to other servers, as docs/operations/backup.md says it: clients follow a name, the old log is read to its
 * end, then the standby is promoted.
 * @returns true when every acknowledged event is stored once, and persons and groups are as they must be.
 */
export async function chaosRegion(options: RegionChaosOptions, print: (line: string) => void): Promise<boolean> {
  print(`starting two regions (seed ${options.seed})`);
  const home = await startChaosSystem();
  const closers: (() => Promise<unknown>)[] = [home.stop];
  try {
    const programs = await compilePrograms(['packages/cli/src/main.ts']);
    closers.push(programs.remove);
    const oldGateway = await home.startGateway(0);
    const oldConsumers = await startConsumers(home);
    const away = await startOtherRegion(home);
    closers.push(away.stop);
    const operator = createOperator(programs.files[0] ?? '', away.settings);
    const oldWatch = await watchLanes(home.kafka.address, home.database, topicPrefix);
    closers.push(oldWatch.stop);

    const urls = Array<string>(clients).fill(`http://127.0.0.1:${oldGateway.port}`);
    const load = createLoad(options, urls, home.tenant.projectApiKey);
    closers.push(load.pause);
    load.resume();
    await sleep(options.seconds * 1000);

    print('gateways in the new region accept events with a standby database. Clients switch one after the other');
    const newGateway = await away.startGateway(0);
    for (let client = 0; client < clients; client += 1) {
      await sleep((options.seconds * 1000) / 3 / clients);
      urls[client] = `http://127.0.0.1:${newGateway.port}`;
    }
    // Who has asked it last is answered.
    await oldGateway.stop();
    const gatewaysStoppedAt = performance.now();
    print('the old log is read to the end');
    if (!(await oldWatch.untilDrained(patienceMs))) throw new Error('The old log was not read to the end.');
    await Promise.all(oldConsumers.map((consumer) => consumer.stop()));
    const drained = secondsSince(gatewaysStoppedAt);
    const drainedAt = performance.now();
    await untilCaughtUp(home, away);
    await away.database.query('SELECT pg_promote()');
    const promoted = secondsSince(drainedAt);
    const told = await operator.finishRestore();
    for (const line of told.lines) print(`  ${line}`);
    const startedAt = performance.now();
    await startConsumers(away);
    const newWatch = await watchLanes(away.kafkaAddress, away.database, topicPrefix);
    closers.push(newWatch.stop);
    await load.pause();
    if (!(await newWatch.untilDrained(patienceMs))) print(`  ${newWatch.lag()} records have not been consumed`);
    const caughtUp = secondsSince(startedAt);

    const check = await checkState(away.database, load.sent(), home.tenant.projectId);
    for (const example of check.examples) print(`  unexpected state: ${example}`);
    const seconds = [load.longestGapMs() / 1000, drained, promoted, told.seconds, caughtUp];
    print('');
    print(report(check, told.unread, seconds));
    return check.lost + check.doubled + check.wrong === 0 && told.unread > 0;
  } finally {
    print('stopping');
    for (const close of closers.reverse()) await close();
  }
}

/** @param urls where each client sends to now. */
function createLoad({ seconds, seed, eventsPerSecond }: RegionChaosOptions, urls: readonly string[], key: string) {
  const events = Math.ceil(eventsPerSecond * (seconds * 3 + 240));
  const streams = writeStory({ events, people: Math.ceil(events / eventsPerPerson), clients, seed });
  return createStoryLoad((client) => urls[client] ?? '', key, { streams, eventsPerSecond });
}

function report(check: StateCheck, waited: number, seconds: readonly number[]): string {
  const counts = (['expected', 'stored', 'lost', 'doubled', 'wrong'] as const).map((field) => readable(check[field]));
  return textTable([[...headings], [...counts, readable(waited), ...seconds.map((time) => time.toFixed(1))]]);
}

const headings = [
  ...['acknowledged', 'stored', 'lost', 'doubled', 'wrong', 'waited in the new log'],
  ...['longest request s', 'old log read s', 'promoted s', 'finish s', 'caught up s'],
] as const;

function startConsumers(services: Pick<ChaosSystem, 'startConsumer'>): Promise<ServiceProcess[]> {
  return Promise.all(Array.from({ length: consumers }, () => services.startConsumer()));
}

/** All that the old database has committed is in the new one. */
async function untilCaughtUp(home: ChaosSystem, away: OtherRegion): Promise<void> {
  const { rows } = await home.database.query<{ lsn: string }>('SELECT pg_current_wal_lsn() AS lsn');
  const isThere = async () => {
    const answer = await away.database.query<{ is: boolean }>('SELECT pg_last_wal_replay_lsn() >= $1::pg_lsn AS is', [
      rows[0]?.lsn,
    ]);
    return answer.rows[0]?.is === true;
  };
  await eventually(isThere, { what: "The standby's complete replication" });
}

const secondsSince = (at: number) => (performance.now() - at) / 1000;

/** Where a system moves to: a standby of its PostgreSQL, and a Kafka and a Redis of its own, both empty. */
interface OtherRegion extends ChaosServices {
  kafkaAddress: string;
  /** Straight to its database: read only until it is promoted. */
  database: pg.Pool;
  /** What every service there is told. */
  settings: Record<string, string>;
  stop(): Promise<void>;
}

async function startOtherRegion(home: ChaosSystem): Promise<OtherRegion> {
  const root = mkdtempSync(join(tmpdir(), 'millrace-region-'));
  const reaper = createReaper();
  const directoryOf = (name: string) => join(root, name);
  const closers: (() => Promise<unknown> | unknown)[] = [
    () => rmSync(root, { recursive: true, force: true }),
    () => removePostgresFiles(directoryOf('postgres')),
    () => reaper.dismiss(),
  ];
  const stop = async () => {
    for (const close of closers.reverse()) await close();
  };
  try {
    const own = async (name: string) => ({ directory: directoryOf(name), preferredPort: await freePort(), reaper });
    mkdirSync(directoryOf('postgres'));
    // A standby knows the passwords of the cluster that it follows.
    copyFileSync(join(home.postgresDirectory, 'password'), join(directoryOf('postgres'), 'password'));
    await copyAsStandby(home.postgres.address, postgresFiles(directoryOf('postgres'), unprivilegedUser()).data);
    const postgres = await startPostgres({ ...(await own('postgres')), settings: { fsync: 'off' } });
    closers.push(postgres.stop);
    const kafka = await startKafka(await own('kafka'));
    closers.push(kafka.stop);
    const redis = await startRedis(await own('redis'));
    closers.push(redis.stop);
    const database = new pg.Pool({ connectionString: postgres.address, max: 3, connectionTimeoutMillis: 2000 });
    database.on('error', () => {});
    closers.push(() => database.end());
    const settings = {
      ...usualSettings,
      ...{ DATABASE_URL: postgres.address, KAFKA_BROKERS: kafka.address, REDIS_URL: redis.address },
    };
    const services = createServiceStarter(settings, { logs: null, closers })(home.files);
    return { ...services, kafkaAddress: kafka.address, database, settings, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}
