import { randomUUID } from 'node:crypto';
import { createLogger, createMetrics, isAppError } from '@millrace/runtime';
import { eventually, keepLogs, patienceMs, testServers } from '@millrace/testing';
import { type Admin, Kafka, logLevel } from 'kafkajs';
import type { EventLog, LogBatch } from '../log.ts';
import { type ContractFixture, createContractFixture, numbered, range, readAll } from '../testing/contract-fixture.ts';
import { storedOffset } from '../testing/effects.ts';
import { testLogger } from '../testing/test-logger.ts';
import { createKafkaLog } from './log.ts';

/**
 * Tests behavior that only the Kafka adapter has. event-log.contract.kafka.test.ts tests the behavior of both adapters.
 */
let fixture: ContractFixture;
let admin: Admin;
const opened: EventLog[] = [];

beforeAll(async () => {
  fixture = await createContractFixture('kafka');
  admin = new Kafka({ brokers: testServers().kafkaBrokers, logLevel: logLevel.NOTHING }).admin();
  await admin.connect();
});
afterAll(async () => {
  await admin.disconnect();
  await Promise.all(opened.map((log) => log.close()));
  await fixture.stop();
});

function open(change: Partial<Parameters<typeof createKafkaLog>[0]>): EventLog {
  const log = createKafkaLog({
    brokers: testServers().kafkaBrokers,
    clientId: 'test',
    logger: testLogger(),
    appendTimeoutMs: patienceMs,
    ...change,
  });
  opened.push(log);
  return log;
}

/** Deletes records as retention does, but immediately. */
async function removeBelow(topic: string, offset: number): Promise<void> {
  // kafkajs deletes records only from partitions whose metadata it has read.
  await admin.fetchTopicOffsets(topic);
  await admin.deleteTopicRecords({ topic, partitions: [{ partition: 0, offset: String(offset) }] });
}

async function storeOffset(topic: string, group: string, nextOffset: number): Promise<void> {
  const [end] = await fixture.log.endOffsets(topic);
  await fixture.database.sql.query(
    `INSERT INTO consumer_offset (topic, partition, "group", log, next_offset) VALUES ($1, 0, $2, $3, $4)`,
    [topic, group, end?.log, nextOffset],
  );
}

test('logs which records retention deleted before they were read, and continues after them', async () => {
  const topic = await fixture.createTopic(1);
  const group = randomUUID();
  await fixture.log.append(numbered(topic, 'k', 0, 30));
  await removeBelow(topic, 10);
  await storeOffset(topic, group, 5);
  const logger = createLogger('test', 'error');
  const metrics = createMetrics({ withProcessMetrics: false });
  const { logged } = await keepLogs(logger, async () => {
    const consumer = await fixture.consume(topic, group, {}, open({ logger, metrics }));
    const effects = await fixture.effects(topic, group, 20);
    expect(effects.map(({ value }) => Number(value))).toEqual(range(10, 20));
    expect(await storedOffset(fixture.database, topic, group, 0)).toBe(30n);
    await consumer.stop();
  });
  expect(logged.filter(({ level }) => level === 'error')).toMatchObject([
    { message: expect.stringContaining('retention deleted records'), records: 5, startOffset: '10' },
  ]);
  expect(await metrics.registry.metrics()).toMatch(/millrace_log_deleted_unread_records_total\{.*\} 5\n/);
});

test.each([null, 0])(
  'reports no lost records for a group that starts at the beginning (stored offset %s)',
  async (offset) => {
    const topic = await fixture.createTopic(1);
    const group = randomUUID();
    await fixture.log.append(numbered(topic, 'k', 0, 30));
    await removeBelow(topic, 10);
    if (offset !== null) await storeOffset(topic, group, offset);
    const metrics = createMetrics({ withProcessMetrics: false });
    const consumer = await fixture.consume(topic, group, {}, open({ metrics }));
    await fixture.effects(topic, group, 20);
    await consumer.stop();
    expect(await metrics.registry.metrics()).not.toMatch(/millrace_log_deleted_unread_records_total\{/);
  },
);

test('passes the stored offset to the handler as `continuesFrom` if a gap follows it', async () => {
  const topic = await fixture.createTopic(1);
  await fixture.log.append(numbered(topic, 'k', 0, 30));
  await removeBelow(topic, 10);
  for (const stored of [null, 5n, 12n]) {
    const batches: LogBatch[] = [];
    const consumer = await fixture.consume(topic, randomUUID(), {
      startOffset: async () => (stored === null ? null : { nextOffset: stored, lastRecordFingerprint: null }),
      async handler(batch) {
        batches.push(batch);
        return { outcome: 'done', nextOffset: (batch.records.at(-1)?.offset ?? 0n) + 1n };
      },
    });
    await eventually(() => batches.length > 0, { what: 'a batch' });
    await consumer.stop();
    expect(batches[0]?.continuesFrom).toBe(stored);
    expect(batches[0]?.records[0]?.offset).toBe(stored === 12n ? 12n : 10n);
  }
});

test('waits until the log has grown to the stored offset', async () => {
  const topic = await fixture.createTopic(1);
  const group = randomUUID();
  await fixture.log.append(numbered(topic, 'k', 0, 3));
  await storeOffset(topic, group, 5);
  await fixture.consume(topic, group);
  await fixture.log.append(numbered(topic, 'k', 3, 4));
  const effects = await fixture.effects(topic, group, 2);
  expect(effects.map(({ value }) => Number(value))).toEqual([5, 6]);
});

test('commits offsets to Kafka for lag monitoring tools', async () => {
  const topic = await fixture.createTopic(2);
  const group = randomUUID();
  const committed = async () => {
    const [offsets] = await admin.fetchOffsets({ groupId: group, topics: [topic] });
    return offsets?.partitions.map(({ offset }) => Number(offset)).reduce((sum, offset) => sum + offset, 0);
  };
  await fixture.log.append(range(0, 20).flatMap((key) => numbered(topic, `k${key}`, 0, 5)));
  const consumer = await fixture.consume(topic, group);
  await eventually(async () => (await committed()) === 100, { what: 'offsets while it runs' });
  await fixture.log.append(range(0, 20).flatMap((key) => numbered(topic, `k${key}`, 5, 1)));
  await fixture.effects(topic, group, 120);
  await consumer.stop();
  expect(await committed()).toBe(120);
});

test('ignores offsets committed to Kafka and uses the stored offset', async () => {
  const topic = await fixture.createTopic(1);
  const group = randomUUID();
  await fixture.log.append(numbered(topic, 'k', 0, 10));
  await admin.setOffsets({ groupId: group, topic, partitions: [{ partition: 0, offset: '10' }] });
  await fixture.consume(topic, group);
  expect(await fixture.effects(topic, group, 10)).toHaveLength(10);
});

test('sends smaller requests after the broker reports a lower size limit for a topic', async () => {
  const topic = `contract-${randomUUID()}`;
  const log = open({ topicConfig: { 'max.message.bytes': '50000' } });
  await log.ensureTopics([{ topic, partitions: 1 }]);
  await log.append(range(0, 40).map((number) => ({ topic, key: 'k', value: Buffer.alloc(4000, number) })));
  const records = await readAll(fixture.log, topic, 40);
  expect(records.map(({ value }) => value[0])).toEqual(range(0, 40));

  const error = await log.append([{ topic, key: 'k', value: Buffer.alloc(60_000) }]).catch((reason: unknown) => reason);
  expect(isAppError(error, 'too_large')).toBe(true);
  await log.append(numbered(topic, 'k', 0, 1));
  expect(await log.endOffsets(topic)).toMatchObject([{ partition: 0, endOffset: 41n }]);
});

test("creates topics that accept large AI events, and uses the broker's defaults if the broker rejects the settings", async () => {
  const [usual, refused] = [`contract-${randomUUID()}`, `contract-${randomUUID()}`];
  const large = (topic: string) => ({ topic, key: 'k', value: Buffer.alloc(8_400_000, 7) });
  await fixture.log.ensureTopics([{ topic: usual, partitions: 1 }]);
  await fixture.log.append([large(usual)]);
  expect((await readAll(fixture.log, usual, 1))[0]?.value.length).toBe(8_400_000);

  const log = open({ topicConfig: { 'max.message.bytes': '-5' } });
  await log.ensureTopics([{ topic: refused, partitions: 1 }]);
  await log.append(numbered(refused, 'k', 0, 1));
  const error = await log.append([large(refused)]).catch((reason: unknown) => reason);
  expect(isAppError(error, 'too_large')).toBe(true);
  await log.append(numbered(refused, 'k', 1, 1));
  expect(await log.endOffsets(refused)).toMatchObject([{ partition: 0, endOffset: 2n }]);
});

test('calls `onFatal` when Kafka permanently rejects the member', async () => {
  const topic = await fixture.createTopic(1);
  // This timeout is below the minimum that brokers allow.
  const log = open({ sessionTimeoutMs: 1000, heartbeatIntervalMs: 300 });
  const fatal = new Promise<Error>((resolve) => {
    void log.consume({
      topic,
      group: randomUUID(),
      maxBatchRecords: 1,
      maxBatchBytes: 1,
      partitionConcurrency: 1,
      startOffset: async () => null,
      handler: async () => ({ outcome: 'stale', nextOffset: null }),
      onFatal: resolve,
    });
  });
  expect((await fatal).cause).toBeInstanceOf(Error);
});

test('consumes a topic that is created after the consumer has started', async () => {
  const topic = `contract-${randomUUID()}`;
  const group = randomUUID();
  const consuming = fixture.consume(topic, group);
  await new Promise((resolve) => setTimeout(resolve, 500));
  await fixture.log.ensureTopics([{ topic, partitions: 1 }]);
  await fixture.log.append(numbered(topic, 'k', 0, 3));
  await consuming;
  expect(await fixture.effects(topic, group, 3)).toHaveLength(3);
});

test('writes every record correctly when requests of all sizes reuse memory', async () => {
  const [small, other] = [await fixture.createTopic(2), await fixture.createTopic(1)];
  const sizes = [10, 300_000, 70, 900, 120_000, 40, 650_000, 5000, 0, 30_000];
  const record = (topic: string, index: number) => {
    const size = sizes[index % sizes.length] ?? 0;
    const value = Buffer.from(`${index}:${String.fromCharCode(97 + (index % 26)).repeat(size)}`);
    return { topic, key: `key ${index % 7}`, value };
  };
  const sent = range(0, 60).map((index) => record(index % 3 === 0 ? other : small, index));
  for (const one of sent.slice(0, 20)) await fixture.log.append([one]);
  await Promise.all(sent.slice(20, 40).map((one) => fixture.log.append([one])));
  await fixture.log.append(sent.slice(40));
  const read = [...(await readAll(fixture.log, small, 40)), ...(await readAll(fixture.log, other, 20))];
  const textOf = ({ key, value }: { key: string | null; value: Buffer }) => `${key} ${value}`;
  expect(read.map(textOf).sort()).toEqual(sent.map(textOf).sort());
});
