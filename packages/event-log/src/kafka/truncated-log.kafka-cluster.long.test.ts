import { randomUUID } from 'node:crypto';
import { createDatabase, type Database } from '@millrace/db';
import { createLogger, createMetrics, type Logger } from '@millrace/runtime';
import { createTestDatabase, eventually, patienceMs, type TestDatabase } from '@millrace/testing';
import { Kafka, logLevel } from 'kafkajs';
import type { EventLog, LogConsumer } from '../log.ts';
import { numbered, range } from '../testing/contract-fixture.ts';
import { countEffects, createEffectTable, createExactHandler, readEffects } from '../testing/effects.ts';
import { createKafkaLog } from './log.ts';
import { hasJava, type KafkaCluster, startKafkaCluster } from './testing/kafka-cluster.ts';

const describeWithJava = (await hasJava()) ? describe : describe.skip;

describeWithJava('a log that lost its end', () => {
  let testDatabase: TestDatabase;
  let database: Database;
  beforeAll(async () => {
    testDatabase = await createTestDatabase();
    database = createDatabase({ url: testDatabase.url, logger: quietLogger() });
    await createEffectTable(database);
  });
  afterAll(async () => {
    await database.stop();
    await testDatabase.drop();
  });

  let cluster: KafkaCluster | undefined;
  let log: EventLog | undefined;
  let consumer: LogConsumer | undefined;
  afterEach(async () => {
    await consumer?.stop();
    await log?.close();
    await cluster?.stop();
    [cluster, log, consumer] = [undefined, undefined, undefined];
  });

  function quietLogger(errors: string[] = []): Logger {
    const logger = createLogger('test', 'debug');
    logger.silent = true;
    const error = logger.error.bind(logger);
    return Object.assign(logger, {
      error: ((message: string, ...rest: unknown[]) => {
        errors.push(message);
        return error(message, ...rest);
      }) as Logger['error'],
    });
  }

  interface Fixture {
    log: EventLog;
    topic: string;
    group: string;
    errors: string[];
    values(): Promise<number[]>;
    stored(): Promise<{ next_offset: string; log: string }[]>;
    isTruncated(): Promise<boolean>;
    consume(): Promise<void>;
  }

  async function openFixture(
    brokers: string[],
    options: { replicationFactor?: number; topicConfig?: Record<string, string> },
  ) {
    const topic = 'events';
    const group = randomUUID();
    const errors: string[] = [];
    const metrics = createMetrics({ withProcessMetrics: false });
    const opened = createKafkaLog({
      ...{ brokers, clientId: 'test', logger: quietLogger(errors), metrics, fetchWaitMs: 100 },
      appendTimeoutMs: patienceMs,
      ...options,
    });
    log = opened;
    const fixture: Fixture = {
      ...{ log: opened, topic, group, errors },
      values: async () => (await readEffects(database, topic, group)).map(({ value }) => Number(value)),
      stored: () => database.sql.query('SELECT next_offset, log FROM consumer_offset WHERE "group" = $1', [group]),
      isTruncated: async () => /millrace_log_truncated_partitions\{.*\} 1/.test(await metrics.registry.metrics()),
      async consume() {
        consumer = await opened.consume({
          ...{ topic, group, maxBatchRecords: 100, maxBatchBytes: 1_000_000, partitionConcurrency: 1 },
          ...createExactHandler(database, topic, group, 'test'),
          onFatal(error) {
            throw error;
          },
        });
        await consumer.ready;
      },
    };
    return fixture;
  }

  async function untilEffects(fixture: Fixture, count: number): Promise<void> {
    await eventually(async () => (await countEffects(database, fixture.topic, fixture.group)) >= count, {
      what: `${count} effects`,
      describe: async () => `seen: ${await fixture.values()}`,
    });
  }

  /**
   * Returns the end offset of the topic, which can exceed the number of distinct records, because an append that timed
   * out is repeated.
   */
  async function endOf({ log: from, topic }: Fixture): Promise<number> {
    const [partition] = await eventually(() => from.endOffsets(topic), { what: 'the end of the topic' });
    return Number(partition?.endOffset);
  }

  async function continueFrom({ group }: Fixture, offset: number): Promise<void> {
    await database.sql.query(
      'UPDATE consumer_offset SET next_offset = $2, last_record_fingerprint = NULL WHERE "group" = $1',
      [group, offset],
    );
  }

  async function eventuallyAppend(fixture: Fixture, from: number, count: number): Promise<void> {
    await eventually(() => fixture.log.append(numbered(fixture.topic, 'k', from, count)), {
      what: 'a broker that takes records',
    });
  }

  test('a partition pauses after the log is restored from an older copy, until an operator decides how to continue', async () => {
    const own = await startKafkaCluster({ nodes: 1 });
    cluster = own;
    const fixture = await openFixture(own.brokers, {});
    await eventually(() => fixture.log.ensureTopics([{ topic: fixture.topic, partitions: 1 }]), { what: 'a topic' });
    await fixture.consume();
    await fixture.log.append(numbered(fixture.topic, 'k', 0, 10));
    await untilEffects(fixture, 10);
    await own.kill(0);
    const restore = own.copyFiles(0);
    await own.start(0);
    await eventuallyAppend(fixture, 10, 20);
    const end = await endOf(fixture);
    await untilEffects(fixture, end);
    expect(fixture.errors).toEqual([]);

    await own.kill(0);
    restore();
    await own.start(0);
    await eventually(fixture.isTruncated, { what: 'the partition to be reported' });
    expect(fixture.errors).toEqual([expect.stringContaining('partition paused: the log no longer contains')]);
    expect(await fixture.stored()).toMatchObject([{ next_offset: String(end) }]);

    // The log grows beyond the group's offset, so it contains different records at offsets that the group has
    // processed.
    for (let from = 100; (await endOf(fixture)) <= end; from += 25) await eventuallyAppend(fixture, from, 25);
    const grown = await endOf(fixture);
    await new Promise((resolve) => setTimeout(resolve, 2500));
    expect(await fixture.isTruncated()).toBe(true);
    expect([...new Set(await fixture.values())]).toEqual(range(0, 30));

    await continueFrom(fixture, 10);
    await untilEffects(fixture, end + grown - 10);
    const others = [...new Set((await fixture.values()).slice(end))];
    expect(others).toEqual(range(100, others.length));
    expect(others.length).toBeGreaterThanOrEqual(25);
    await eventually(async () => !(await fixture.isTruncated()), { what: 'no report' });
  }, 240_000);

  test('detects missing records after an outdated leader is elected, even if the log has grown again', async () => {
    const own = await startKafkaCluster({ nodes: 3, settings: { 'min.insync.replicas': '1' } });
    cluster = own;
    const fixture = await openFixture(own.brokers, {
      replicationFactor: 2,
      topicConfig: { 'unclean.leader.election.enable': 'true' },
    });
    await eventually(() => fixture.log.ensureTopics([{ topic: fixture.topic, partitions: 1 }]), { what: 'a topic' });
    const admin = new Kafka({ brokers: own.brokers, logLevel: logLevel.NOTHING }).admin();
    await admin.connect();
    const { topics } = await admin.fetchTopicMetadata({ topics: [fixture.topic] });
    await admin.disconnect();
    const partition = topics[0]?.partitions[0];
    const leader = (partition?.leader ?? 0) - 1;
    const follower = (partition?.replicas.find((id) => id !== partition.leader) ?? 0) - 1;
    await fixture.consume();
    await fixture.log.append(numbered(fixture.topic, 'k', 0, 10));
    await untilEffects(fixture, 10);
    await own.kill(follower);
    await eventuallyAppend(fixture, 10, 20);
    await untilEffects(fixture, 30);
    await own.kill(leader);
    await own.start(follower);
    await eventuallyAppend(fixture, 100, 40);
    await eventually(fixture.isTruncated, { what: 'the partition to be reported' });
    expect(fixture.errors).toEqual([expect.stringContaining('partition paused: the log no longer contains')]);
    // An append that timed out is retried, so some records may be duplicates.
    expect([...new Set(await fixture.values())]).toEqual(range(0, 30));
    const seen = (await fixture.values()).length;
    await continueFrom(fixture, 0);
    const again = async () => new Set((await fixture.values()).slice(seen));
    const remaining = [...range(0, 10), ...range(100, 40)];
    await eventually(async () => (await again()).size >= remaining.length, { what: 'all remaining records' });
    expect([...(await again())]).toEqual(remaining);
  }, 240_000);
});
