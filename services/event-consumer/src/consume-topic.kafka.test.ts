import { randomUUID } from 'node:crypto';
import {
  type CapturedEvent,
  computeRecordKey,
  consumerGroup,
  encodeCapturedRecord,
  topicNames,
} from '@millrace/contracts';
import { createDatabase } from '@millrace/db';
import {
  type AppendRecord,
  createKafkaLog,
  createPostgresLog,
  type EventLog,
  type LogConsumer,
} from '@millrace/event-log';
import { createMetrics } from '@millrace/runtime';
import { eventually, patienceMs, testServers } from '@millrace/testing';
import { consumeTopic, createLiveLoadTracker, startConsuming } from './consume-topic.ts';
import { createDeadLetterLog } from './dead-letters.ts';
import { createConsumeMetrics } from './metrics.ts';
import {
  type ConsumerFixture,
  capturedEvent,
  createConsumerFixture,
  type TestProject,
} from './testing/consumer-fixture.ts';
import { tableChecksums } from './testing/table-checksums.ts';

let fixture: ConsumerFixture;
beforeAll(async () => {
  fixture = await createConsumerFixture();
});
afterAll(() => fixture.stop());

const partitionCount = 3;

async function openLog(kind: 'kafka' | 'postgres'): Promise<{ log: EventLog; close(): Promise<void> }> {
  const { logger } = fixture;
  const patience = { appendTimeoutMs: patienceMs };
  if (kind === 'kafka') {
    const log = createKafkaLog({
      brokers: testServers().kafkaBrokers,
      clientId: 'event-consumer-test',
      logger,
      ...patience,
    });
    return { log, close: () => log.close() };
  }
  const database = createDatabase({ url: fixture.url, logger, poolSize: 6 });
  const log = createPostgresLog({ database, logger, ...patience });
  return {
    log,
    async close() {
      await log.close();
      await database.stop();
    },
  };
}

function toRecord(topic: string, event: CapturedEvent): AppendRecord {
  return { topic, key: computeRecordKey('live', event.token, event.distinct_id), value: encodeCapturedRecord(event) };
}

describe.each(['kafka', 'postgres'] as const)('consuming a topic of the %s log', (kind) => {
  const prefix = `t-${randomUUID()}.`;
  const topics = topicNames(prefix);
  const group = consumerGroup('live', prefix);
  let log: EventLog;
  let close: () => Promise<void>;
  let project: TestProject;
  const fatal: Error[] = [];

  beforeAll(async () => {
    ({ log, close } = await openLog(kind));
    await log.ensureTopics(Object.values(topics).map((topic: string) => ({ topic, partitions: partitionCount })));
    project = await fixture.createProject();
  });
  afterAll(() => close());

  const running: LogConsumer[] = [];
  // A consumer that is left over after a failed test would keep the process running.
  afterEach(async () => {
    await Promise.all(running.splice(0).map((consumer) => consumer.stop()));
  });

  async function consume(): Promise<LogConsumer> {
    const metrics = createConsumeMetrics(createMetrics({ withProcessMetrics: false }));
    const consumer = await consumeTopic(
      { topic: 'live', partitionConcurrency: 2 },
      {
        log,
        database: fixture.database,
        process: fixture.createDeps({
          deadLetters: createDeadLetterLog({ log, topic: topics.deadLetter, logger: fixture.logger, now: Date.now }),
        }),
        topics,
        topicPrefix: prefix,
        maxBatchRecords: 20,
        maxBatchBytes: 1_000_000,
        logger: fixture.logger,
        tracing: null,
        metricsOf: metrics,
        liveLoad: createLiveLoadTracker(),
        releaseLocks: async () => {},
        onFatal: (error) => fatal.push(error),
      },
    );
    running.push(consumer);
    return consumer;
  }

  async function lag(): Promise<number> {
    const stored = await fixture.database.prisma.consumer_offset.findMany({ where: { topic: topics.live, group } });
    const ends = await log.endOffsets(topics.live);
    return ends.reduce((sum, { partition, endOffset }) => {
      const next = stored.find((row) => row.partition === partition)?.next_offset ?? 0n;
      return sum + Number(endOffset - next);
    }, 0);
  }

  const events: CapturedEvent[] = [];
  const countEvents = () => fixture.database.prisma.event.count({ where: { project_id: project.id } });

  test('stores appended events, writes invalid records as dead letters, and advances the offsets to the end', async () => {
    for (let i = 0; i < 300; i++) {
      const distinct_id = `person-${i % 25}`;
      const isIdentify = i % 10 === 9;
      events.push(
        capturedEvent(project.token, {
          distinct_id: isIdentify ? `user-${i % 4}` : distinct_id,
          event: isIdentify ? '$identify' : 'thing',
          properties: isIdentify ? { $anon_distinct_id: distinct_id } : { $set: { [`key_${i}`]: i } },
        }),
      );
    }
    const consumer = await consume();
    await log.append(events.slice(0, 150).map((event) => toRecord(topics.live, event)));
    await log.append([
      { topic: topics.live, key: `${project.token}:x`, value: Buffer.from('garbage'), headers: { from: 'test' } },
    ]);
    await log.append(events.slice(150).map((event) => toRecord(topics.live, event)));
    await eventually(async () => expect(await lag()).toBe(0));
    await consumer.stop();
    expect(await countEvents()).toBe(300);
    const dead = await log.endOffsets(topics.deadLetter);
    expect(dead.reduce((sum, { endOffset }) => sum + endOffset, 0n)).toBe(1n);
    expect(fatal).toEqual([]);
  });

  test('a second consumer continues where the first one stopped', async () => {
    const more = Array.from({ length: 40 }, (_, i) => capturedEvent(project.token, { distinct_id: `late-${i}` }));
    events.push(...more);
    await log.append(more.map((event) => toRecord(topics.live, event)));
    const consumer = await consume();
    await eventually(async () => expect(await lag()).toBe(0));
    await consumer.stop();
    expect(await countEvents()).toBe(340);
  });

  test('replaying the whole topic from its start changes no row', async () => {
    const before = await tableChecksums(fixture.database.sql);
    await fixture.database.prisma.consumer_offset.deleteMany({ where: { topic: topics.live } });
    const consumer = await consume();
    await eventually(async () => expect(await lag()).toBe(0));
    await consumer.stop();
    expect(await tableChecksums(fixture.database.sql)).toEqual(before);
  });

  test('two consumers share the partitions while their connections are cut', async () => {
    const many = Array.from({ length: 600 }, (_, i) =>
      capturedEvent(project.token, { distinct_id: `shared-${i % 60}`, properties: { $set: { [`k${i}`]: 1 } } }),
    );
    const members = await Promise.all([consume(), consume()]);
    for (let i = 0; i < many.length; i += 100) {
      await log.append(many.slice(i, i + 100).map((event) => toRecord(topics.live, event)));
      await fixture.database.sql.query(
        `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
          WHERE datname = current_database() AND pid <> pg_backend_pid() AND state <> 'idle'`,
      );
    }
    await eventually(async () => expect(await lag()).toBe(0));
    await Promise.all(members.map((member) => member.stop()));
    const where = { project_id: project.id, distinct_id: { startsWith: 'shared-' } };
    expect(await fixture.database.prisma.event.count({ where })).toBe(600);
    const persons = await fixture.database.prisma.person.findMany({
      where: { project_id: project.id, main_distinct_id: { startsWith: 'shared-' } },
    });
    expect(persons).toHaveLength(60);
    // Each person has ten events. The first one created the person, and each of the other nine changed the person once.
    expect(persons.map(({ version }) => Number(version))).toEqual(persons.map(() => 9));
    expect(fatal).toEqual([]);
  });
});

describe('starting the consumer before the log is available', () => {
  test('the consumer waits, and becomes ready once the log is available', async () => {
    const topics = topicNames(`t-${randomUUID()}.`);
    const { log, close } = await openLog('postgres');
    let failures = 2;
    const consuming = startConsuming({
      topics,
      topicPartitions: 1,
      logger: fixture.logger,
      log: {
        async ensureTopics(wanted) {
          if (failures-- > 0) throw new Error('not there yet');
          await log.ensureTopics(wanted);
        },
      },
      joins: [async () => ({ ready: Promise.resolve(), stop: async () => {} })],
    });
    expect(consuming.isReady()).toBe(false);
    await eventually(() => consuming.isReady());
    await consuming.stop();
    expect(consuming.isReady()).toBe(false);
    await close();
  });

  test('the consumer stops while it waits for the log', async () => {
    const consuming = startConsuming({
      topics: topicNames(),
      topicPartitions: 1,
      logger: fixture.logger,
      log: {
        ensureTopics: async () => {
          throw new Error('never there');
        },
      },
      joins: [],
    });
    await consuming.stop();
    expect(consuming.isReady()).toBe(false);
  });
});
