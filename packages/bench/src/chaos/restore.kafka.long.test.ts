import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { migrate } from '@millrace/db';
import { removePostgresFiles, startPostgres } from '@millrace/stack/servers/postgres';
import { createReaper, findFreePort } from '@millrace/stack/servers/server-process';
import {
  type BreakableServer,
  compilePrograms,
  createTestTenant,
  eventually,
  prismaDirectory,
  startBreakableServer,
  type TestTenant,
  testSeed,
  testServers,
  uniqueTopicPrefix,
  writeStory,
} from '@millrace/testing';
import { Kafka, logLevel } from 'kafkajs';
import pg from 'pg';
import { type ChaosServices, createServiceStarter } from './chaos-system.ts';
import { watchPartitions } from './partition-watch.ts';
import { startArchiving } from './postgres-backup.ts';
import { createMillraceCommands, type Operator, waitUntilRecovered } from './restore-chaos.ts';
import { checkState } from './state-check.ts';
import { createStoryLoad } from './story-load.ts';

/** A short version of `npm run chaos -- restore` (see docs/operations/backup.md). */
const topicPrefix = uniqueTopicPrefix();
const servers = testServers();
const seed = testSeed();
const ends: (() => unknown)[] = [];
let postgres: BreakableServer;
let database: pg.Pool;
let tenant: TestTenant;
let services: ChaosServices;
let operator: Operator;

beforeAll(async () => {
  const directory = mkdtempSync(join(tmpdir(), 'millrace-restore-'));
  const reaper = createReaper();
  ends.push(() => rmSync(directory, { recursive: true, force: true }));
  ends.push(() => removePostgresFiles(directory));
  ends.push(() => reaper.dismiss());
  const settings = { fsync: 'off', archive_mode: 'on' };
  postgres = await startBreakableServer({
    directory,
    killSignal: 'SIGQUIT',
    start: async (port) =>
      startPostgres({ directory, preferredPort: port || (await findFreePort()), settings, reaper }),
  });
  ends.push(() => postgres.stop());
  await migrate(postgres.address, prismaDirectory);
  tenant = await createTestTenant(postgres.address);
  database = new pg.Pool({ connectionString: postgres.address, max: 3, connectionTimeoutMillis: 2000 });
  database.on('error', () => {});
  ends.push(() => database.end());
  const programs = await compilePrograms([
    'services/ingest-gateway/src/main.ts',
    'services/event-consumer/src/main.ts',
    'packages/cli/src/main.ts',
  ]);
  ends.push(programs.remove);
  ends.push(deleteTopics);
  const [gateway = '', consumer = '', millrace = ''] = programs.files;
  const addresses = {
    DATABASE_URL: postgres.address,
    KAFKA_BROKERS: servers.kafkaBrokers.join(','),
    REDIS_URL: servers.redisUrl,
    TOPIC_PREFIX: topicPrefix,
    TOPIC_PARTITIONS: '8',
    EVENT_LOG: 'kafka',
    LOG_LEVEL: 'error',
  };
  services = createServiceStarter(addresses, (stop) => ends.push(stop))({ gateway, consumer });
  operator = createMillraceCommands(millrace, addresses);
});
afterAll(async () => {
  for (const end of ends.reverse()) await end();
});

test(`stores every acknowledged event once after the database is deleted and restored to an earlier state (seed ${seed})`, async () => {
  const [gateway, consumer] = [await services.startGateway(0), await services.startConsumer()];
  const streams = writeStory({ events: 100_000, people: 2000, clients: 2, seed });
  const story = { streams, eventsPerSecond: 400 };
  const load = createStoryLoad([`http://127.0.0.1:${gateway.port}`], tenant.projectApiKey, story);
  const watch = await watchPartitions(servers.kafkaBrokers[0] ?? '', database, topicPrefix);
  ends.push(watch.stop);
  const backup = await startArchiving(postgres.address);
  const stored = async () =>
    (await database.query<{ count: number }>('SELECT count(*)::int AS count FROM event')).rows[0]?.count ?? 0;
  const storedMore = async () => {
    const before = await stored();
    await eventually(async () => (await stored()) > before + 300, { what: 'More stored events' });
  };

  load.resume();
  await storedMore();
  await backup.takeBase();
  await storedMore();
  await backup.archiveAll();
  await storedMore();
  const before = await stored();
  await postgres.kill();
  backup.destroy();
  const acknowledged = () => load.sent().flat().length;
  const sentBefore = acknowledged();
  await eventually(() => acknowledged() > sentBefore + 200, { what: 'Events acknowledged without the database' });

  await consumer.stop();
  await backup.putBack(null);
  await postgres.restart();
  await waitUntilRecovered(database);
  expect((await operator.finishRestore()).unread).toBeGreaterThan(200);
  await services.startConsumer();
  await load.pause();
  expect(await watch.untilDrained(90_000)).toBe(true);
  expect(await checkState(database, load.sent(), tenant.projectId)).toMatchObject({
    lost: 0,
    duplicated: 0,
    wrong: 0,
    examples: [],
  });
  expect(await stored()).toBeGreaterThan(before + 200);
}, 240_000);

async function deleteTopics(): Promise<void> {
  const admin = new Kafka({ brokers: servers.kafkaBrokers, logLevel: logLevel.NOTHING }).admin();
  await admin.connect();
  const topics = (await admin.listTopics()).filter((topic) => topic.startsWith(topicPrefix));
  await admin.deleteTopics({ topics });
  await admin.disconnect();
}
