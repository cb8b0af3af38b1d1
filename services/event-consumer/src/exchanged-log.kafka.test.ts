import { randomUUID } from 'node:crypto';
import {
  computeRecordKey,
  consumerGroup,
  encodeCapturedRecord,
  type TopicNames,
  topicNames,
} from '@millrace/contracts';
import { createDatabase } from '@millrace/db';
import { createKafkaLog, createPostgresLog, type EventLog } from '@millrace/event-log';
import { deleteTopics } from '@millrace/event-log/testing/delete-topics';
import { createMetrics } from '@millrace/runtime';
import { eventually, patienceMs, testServers } from '@millrace/testing';
import { consumeTopic, createLiveLoadTracker } from './consume-topic.ts';
import { createConsumeMetrics } from './metrics.ts';
import {
  type ConsumerFixture,
  capturedEvent,
  createConsumerFixture,
  type TestProject,
} from './testing/consumer-fixture.ts';

/**
 * Tests that each log has its own offsets: a new log is read from its start, and a former log from where reading
 * stopped.
 */
let fixture: ConsumerFixture;
let project: TestProject;
beforeAll(async () => {
  fixture = await createConsumerFixture();
});
afterAll(() => fixture.stop());
beforeEach(async () => {
  project = await fixture.createProject();
});

type LogKind = 'kafka' | 'postgres';

async function withLog<T>(kind: LogKind, work: (log: EventLog) => Promise<T>): Promise<T> {
  const { logger } = fixture;
  const pool = createDatabase({ url: fixture.url, logger, poolSize: 6 });
  const patience = { appendTimeoutMs: patienceMs };
  const log =
    kind === 'kafka'
      ? createKafkaLog({ brokers: testServers().kafkaBrokers, clientId: 'test', fetchWaitMs: 100, logger, ...patience })
      : createPostgresLog({ database: pool, logger, ...patience });
  try {
    return await work(log);
  } finally {
    await log.close();
    await pool.stop();
  }
}

function names(): { prefix: string; topics: TopicNames } {
  const prefix = `t-${randomUUID()}.`;
  return { prefix, topics: topicNames(prefix) };
}

async function whileConsuming<T>(log: EventLog, prefix: string, work: () => Promise<T>): Promise<T> {
  const consumer = await consumeTopic(
    { topic: 'live', partitionConcurrency: 2 },
    {
      log,
      database: fixture.database,
      process: fixture.createDeps(),
      topics: topicNames(prefix),
      topicPrefix: prefix,
      maxBatchRecords: 20,
      maxBatchBytes: 1_000_000,
      logger: fixture.logger,
      tracing: null,
      metricsOf: createConsumeMetrics(createMetrics({ withProcessMetrics: false })),
      liveLoad: createLiveLoadTracker(),
      releaseLocks: async () => {},
      onFatal(error) {
        throw error;
      },
    },
  );
  try {
    await consumer.ready;
    return await work();
  } finally {
    await consumer.stop();
  }
}

async function append(log: EventLog, topic: string, count: number): Promise<string[]> {
  const events = Array.from({ length: count }, (_, index) =>
    capturedEvent(project.token, { distinct_id: `person-${index % 5}` }),
  );
  await log.append(
    events.map((event) => ({
      topic,
      key: computeRecordKey('live', event.token, event.distinct_id),
      value: encodeCapturedRecord(event),
    })),
  );
  return events.map(({ uuid }) => uuid);
}

async function storedUuids(): Promise<string[]> {
  const rows = await fixture.database.prisma.event.findMany({
    where: { project_id: project.id },
    select: { uuid: true },
  });
  return rows.map(({ uuid }) => uuid);
}

async function untilStored(acknowledged: readonly string[]): Promise<void> {
  await eventually(
    async () => {
      const stored = new Set(await storedUuids());
      const missing = acknowledged.filter((uuid) => !stored.has(uuid));
      if (missing.length > 0) throw new Error(`${missing.length} of ${acknowledged.length} are not stored`);
    },
    { what: 'Storing all that was acknowledged' },
  );
}

test('switching between PostgreSQL and Kafka neither loses nor duplicates acknowledged events, even unprocessed ones', async () => {
  const { prefix, topics } = names();
  const acknowledged: string[] = [];
  for (const [kind, read, remaining] of [
    ['postgres', 6, 4],
    ['kafka', 10, 3],
    ['postgres', 5, 0],
    ['kafka', 8, 0],
  ] as const) {
    await withLog(kind, async (log) => {
      await log.ensureTopics([{ topic: topics.live, partitions: 2 }]);
      await whileConsuming(log, prefix, async () => {
        acknowledged.push(...(await append(log, topics.live, read)));
        await untilStored(acknowledged.slice(-read));
      });
      acknowledged.push(...(await append(log, topics.live, remaining)));
    });
  }
  await untilStored(acknowledged);
  expect((await storedUuids()).sort()).toEqual([...acknowledged].sort());
});

test('reads a topic from its start if it is deleted and created again under load', async () => {
  const { prefix, topics } = names();
  await withLog('kafka', async (log) => {
    await log.ensureTopics([{ topic: topics.live, partitions: 2 }]);
    await whileConsuming(log, prefix, async () => {
      const before = await append(log, topics.live, 30);
      await untilStored(before);
      await deleteTopics(testServers().kafkaBrokers, [topics.live]);
      // The senders continue, so the new topic soon has more records than were read from the topic it replaces.
      const after: string[] = [];
      await eventually(() => log.ensureTopics([{ topic: topics.live, partitions: 2 }]), { what: 'A new topic' });
      for (let batch = 0; batch < 10; batch += 1) {
        await eventually(async () => after.push(...(await append(log, topics.live, 20))), { what: 'Appending' });
      }
      await untilStored([...before, ...after]);
      expect(new Set(await storedUuids()).size).toBe((await storedUuids()).length);
    });
  });
  const rows = await fixture.database.prisma.consumer_offset.findMany({
    where: { topic: topics.live, group: consumerGroup('live', prefix) },
  });
  expect(new Set(rows.map(({ log }) => log)).size).toBe(2);
});

test('reads a PostgreSQL log from its start if it was emptied and filled again', async () => {
  const { prefix, topics } = names();
  await withLog('postgres', async (log) => {
    await log.ensureTopics([{ topic: topics.live, partitions: 2 }]);
    await whileConsuming(log, prefix, async () => {
      const before = await append(log, topics.live, 30);
      await untilStored(before);
      await fixture.database.sql.query('DELETE FROM event_log_record WHERE topic = $1', [topics.live]);
      await fixture.database.sql.query('DELETE FROM event_log_partition WHERE topic = $1', [topics.live]);
      await log.ensureTopics([{ topic: topics.live, partitions: 2 }]);
      await untilStored([...before, ...(await append(log, topics.live, 10))]);
    });
  });
});
