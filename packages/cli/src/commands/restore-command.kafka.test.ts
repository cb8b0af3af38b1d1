import { randomUUID } from 'node:crypto';
import { consumerGroup, topicNames } from '@millrace/contracts';
import { createDatabase, type Database } from '@millrace/db';
import { createKafkaLog, type EventLog } from '@millrace/event-log';
import { createLogger } from '@millrace/runtime';
import {
  createTestDatabase,
  createTestTenant,
  eventually,
  patienceMs,
  type TestDatabase,
  testServers,
  uniqueTopicPrefix,
} from '@millrace/testing';
import { Kafka, logLevel } from 'kafkajs';
import { runCli } from '../program.ts';

/** Tests `restore finish` on a restored database, whose data is older than that of the gateways and the event log. */
const logger = createLogger('test', 'error');
const topicPrefix = uniqueTopicPrefix();
const topic = topicNames(topicPrefix).live;
const group = consumerGroup('live', topicPrefix);
let testDatabase: TestDatabase;
let database: Database;
let log: EventLog;
let identity: string;

beforeAll(async () => {
  testDatabase = await createTestDatabase();
  database = createDatabase({ url: testDatabase.url, logger });
  log = createKafkaLog({ brokers: testServers().kafkaBrokers, clientId: 'test', logger, appendTimeoutMs: patienceMs });
  await log.ensureTopics([{ topic, partitions: 1 }]);
  await log.append(Array.from({ length: 30 }, () => ({ topic, key: 'k', value: Buffer.from(randomUUID()) })));
  identity = (await log.endOffsets(topic))[0]?.log ?? '';
});
beforeEach(() => database.prisma.consumer_offset.deleteMany());
afterAll(async () => {
  await log?.close();
  const admin = new Kafka({ brokers: testServers().kafkaBrokers, logLevel: logLevel.NOTHING }).admin();
  await admin.connect();
  await admin.deleteTopics({ topics: [topic] }).catch(() => {});
  await admin.disconnect();
  await database?.stop();
  await testDatabase?.drop();
});

async function finish(env: Record<string, string> = {}) {
  const out: string[] = [];
  const err: string[] = [];
  const exitCode = await runCli(['restore', 'finish', '--json'], {
    env: {
      ...{ DATABASE_URL: testDatabase.url, EVENT_LOG: 'kafka', TOPIC_PREFIX: topicPrefix },
      ...{ KAFKA_BROKERS: testServers().kafkaBrokers.join(','), ...env },
    },
    out: { write: (text) => out.push(text) },
    err: { write: (text) => err.push(text) },
  });
  return { exitCode, topics: out.length > 0 ? JSON.parse(out.join('')) : null, err: err.join('') };
}

const haveRead = (nextOffset: number, of: string) =>
  database.sql.query(
    `INSERT INTO consumer_offset (topic, partition, "group", log, next_offset) VALUES ($1, 0, $2, $3, $4)`,
    [topic, group, of, nextOffset],
  );

test('a restore skips environment IDs, flag versions and fallback epochs that may have been used since the backup', async () => {
  const before = await createTestTenant(database);
  await database.sql.query("INSERT INTO event_log_fallback (topic) VALUES ('f')");
  const version = async () =>
    Number(
      (
        await database.sql.query('SELECT version FROM flag_definitions_version WHERE project_id = $1', [
          before.projectId,
        ])
      )[0]?.version ?? 0,
    );
  const epoch = async () => Number((await database.sql.query('SELECT epoch FROM event_log_fallback'))[0]?.epoch);
  const [versionBefore, epochBefore] = [await version(), await epoch()];
  expect(await finish()).toMatchObject({ exitCode: 0 });
  const after = await createTestTenant(database);
  expect(after.projectId).toBeGreaterThan(before.projectId + 10_000);
  expect(after.userId).toBeGreaterThan(before.userId + 10_000);
  expect([(await version()) - versionBefore, (await epoch()) - epochBefore]).toEqual([1_000_000, 1_000_000]);
});

test('a restore notifies running services that the data of any project may have changed', async () => {
  const heard: string[] = [];
  const listener = database.listen({
    channel: 'millrace_project_changes',
    onMessage: (payload) => heard.push(payload),
    onStart: () => {},
    onInterrupted: () => {},
  });
  await eventually(() => listener.isListening(), { what: 'listening' });
  await finish();
  await eventually(() => heard.includes('{}'), { what: 'the message' });
  await listener.stop();
});

test('a restore reports how many records consumers will read again', async () => {
  await haveRead(12, identity);
  expect(await finish()).toMatchObject({
    exitCode: 0,
    topics: [{ topic, log: identity, isKnown: true, unread: 18, deleted: 0 }],
  });
});

test('a restore ignores the offsets of another Kafka cluster, so that consumers read this cluster from its start', async () => {
  await haveRead(25, 'kafka/another/1');
  const { topics, err } = await finish();
  expect(topics).toMatchObject([{ isKnown: false, unread: 30, deleted: 0 }]);
  expect(err).toContain(`${topic}: The backup has no offsets for this log`);
});

test('a restore fails if the log does not reach back to the time of the backup, because events would be lost', async () => {
  await haveRead(5, identity);
  const admin = new Kafka({ brokers: testServers().kafkaBrokers, logLevel: logLevel.NOTHING }).admin();
  await admin.connect();
  await admin.fetchTopicOffsets(topic);
  await admin.deleteTopicRecords({ topic, partitions: [{ partition: 0, offset: '10' }] });
  await admin.disconnect();
  const { exitCode, topics, err } = await finish();
  expect(topics).toMatchObject([{ unread: 20, deleted: 5 }]);
  expect([exitCode, err]).toEqual([1, expect.stringContaining('Kafka has deleted 5 records')]);
});

test('a restore with the event log in PostgreSQL does not make consumers read records again', async () => {
  expect(await finish({ EVENT_LOG: 'postgres' })).toMatchObject({
    exitCode: 0,
    err: expect.stringContaining('The event log was restored together with the database'),
  });
});
