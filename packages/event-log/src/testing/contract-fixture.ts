import { randomUUID } from 'node:crypto';
import { createDatabase, type Database } from '@millrace/db';
import { createTestDatabase, eventually, patienceMs, type TestDatabase, testServers } from '@millrace/testing';
import { deleteTopics } from '../kafka/testing/delete-topics.ts';
import type { AppendRecord, ConsumeOptions, EventLog, LogConsumer, LogRecord } from '../log.ts';
import { type AdapterName, type LogSettings, openLog } from './adapters.ts';
import { countEffects, createEffectTable, createExactHandler, type Effect, readEffects } from './effects.ts';
import { testLogger } from './test-logger.ts';

export interface ContractFixture {
  database: Database;
  databaseUrl: string;
  log: EventLog;
  /**
   * Opens another log on the same servers, with the same time limits as `log`. The fixture closes it at the end of the
   * test.
   */
  open(settings?: LogSettings): EventLog;
  createTopic(partitions?: number): Promise<string>;
  /**
   * Starts a consumer that stores each effect exactly once. `change` overrides some of its options. The fixture stops
   * the consumer at the end of the test.
   */
  consume(topic: string, group: string, change?: Partial<ConsumeOptions>, on?: EventLog): Promise<LogConsumer>;
  /** Waits until `count` effects are stored, and then checks that no more follow. */
  effects(topic: string, group: string, count: number): Promise<Effect[]>;
  stop(): Promise<void>;
}

export async function createContractFixture(adapter: AdapterName): Promise<ContractFixture> {
  const testDatabase: TestDatabase = await createTestDatabase();
  const database = createDatabase({
    url: testDatabase.url,
    logger: testLogger(),
    poolSize: 20,
    connectTimeoutMs: patienceMs,
  });
  await createEffectTable(database);
  const closers: (() => Promise<void>)[] = [];
  const consumers: LogConsumer[] = [];
  const topics: string[] = [];

  function open(settings?: LogSettings): EventLog {
    const { log, close } = openLog(adapter, testDatabase.url, { appendTimeoutMs: patienceMs, ...settings });
    closers.push(close);
    return log;
  }
  const log = open();

  return {
    database,
    databaseUrl: testDatabase.url,
    log,
    open,
    async createTopic(partitions = 4) {
      const topic = `contract-${randomUUID()}`;
      topics.push(topic);
      await log.ensureTopics([{ topic, partitions }]);
      return topic;
    },
    async consume(topic, group, change = {}, on = log) {
      const consumer = await on.consume({
        topic,
        group,
        maxBatchRecords: 100,
        maxBatchBytes: 1_000_000,
        partitionConcurrency: 4,
        ...createExactHandler(database, topic, group, 'test'),
        onFatal(error) {
          throw error;
        },
        ...change,
      });
      consumers.push(consumer);
      await consumer.ready;
      return consumer;
    },
    async effects(topic, group, count) {
      await eventually(async () => (await countEffects(database, topic, group)) >= count, {
        what: `${count} effects`,
        describe: async () => `seen: ${await countEffects(database, topic, group)}`,
      });
      await new Promise((resolve) => setTimeout(resolve, 150));
      return readEffects(database, topic, group);
    },
    async stop() {
      await Promise.all(consumers.map((consumer) => consumer.stop()));
      await Promise.all(closers.map((close) => close()));
      if (adapter === 'kafka') await deleteTopics(testServers().kafkaBrokers, topics);
      await database.stop();
      await testDatabase.drop();
    },
  };
}

/**
 * Creates a fixture for each adapter. The tests of both adapters run concurrently, because they spend most of their
 * time waiting.
 */
export async function createContractFixtures(): Promise<Record<AdapterName, ContractFixture>> {
  const [kafka, postgres] = await Promise.all([createContractFixture('kafka'), createContractFixture('postgres')]);
  return { kafka, postgres };
}

export function numbered(topic: string, key: string, from: number, count: number): AppendRecord[] {
  return Array.from({ length: count }, (_, index) => ({ topic, key, value: Buffer.from(String(from + index)) }));
}

export function numbersByKey(effects: { key: string | null; value: string }[]): Map<string, number[]> {
  const numbers = new Map<string, number[]>();
  for (const { key, value } of effects) {
    const known = numbers.get(key ?? '') ?? [];
    known.push(Number(value));
    numbers.set(key ?? '', known);
  }
  return numbers;
}

export function range(from: number, count: number): number[] {
  return Array.from({ length: count }, (_, index) => from + index);
}

export async function readAll(
  log: EventLog,
  topic: string,
  count: number,
): Promise<(LogRecord & { partition: number })[]> {
  const records: (LogRecord & { partition: number })[] = [];
  /** The next offset of each partition, for a member that loses a partition and gets it again. */
  const ends = new Map<number, bigint>();
  const consumer = await log.consume({
    topic,
    group: `reader-${randomUUID()}`,
    maxBatchRecords: 500,
    maxBatchBytes: 1_000_000,
    partitionConcurrency: 4,
    startOffset: async (partition) => ({ nextOffset: ends.get(partition) ?? 0n, lastRecordFingerprint: null }),
    async handler({ partition, records: batch }) {
      let nextOffset = ends.get(partition) ?? 0n;
      for (const record of batch) {
        if (record.offset < nextOffset) continue;
        records.push({ ...record, partition });
        nextOffset = record.offset + 1n;
      }
      ends.set(partition, nextOffset);
      return { outcome: 'done', nextOffset };
    },
    onFatal(error) {
      throw error;
    },
  });
  try {
    await eventually(() => records.length >= count, {
      what: `${count} records`,
      describe: () => `seen: ${records.length}`,
    });
  } finally {
    await consumer.stop();
  }
  return records;
}
