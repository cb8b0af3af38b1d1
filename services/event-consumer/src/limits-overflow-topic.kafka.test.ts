import { randomUUID } from 'node:crypto';
import { computeRecordKey, encodeCapturedRecord, topicNames } from '@millrace/contracts';
import { createDatabase } from '@millrace/db';
import { createKafkaLog, createPostgresLog, type EventLog } from '@millrace/event-log';
import { createMetrics, readConfig } from '@millrace/runtime';
import { eventually, patienceMs, testServers } from '@millrace/testing';
import { configuredTopics, consumerConfigSchema } from './config.ts';
import { consumeTopic, createLiveLoadTracker } from './consume-topic.ts';
import { createConsumeMetrics } from './metrics.ts';
import { type ConsumerFixture, capturedEvent, createConsumerFixture } from './testing/consumer-fixture.ts';

let fixture: ConsumerFixture;
beforeAll(async () => {
  fixture = await createConsumerFixture();
});
afterAll(() => fixture.stop());

test('a consumer reads the overflow topic by default', () => {
  const config = readConfig(consumerConfigSchema, { DATABASE_URL: 'postgresql://x' });
  expect(configuredTopics(config).map(({ topic }) => topic)).toContain('overflow');
});

function openLog(kind: 'kafka' | 'postgres'): { log: EventLog; close(): Promise<void> } {
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
  return { log, close: () => log.close().then(() => database.stop()) };
}

describe.each(['kafka', 'postgres'] as const)('the overflow topic on the %s log', (kind) => {
  test('E131 stores overflow events with the same key in order, and stores events that have no key without persons', async () => {
    const prefix = `t-${randomUUID()}.`;
    const topics = topicNames(prefix);
    const { log, close } = openLog(kind);
    await log.ensureTopics(Object.values(topics).map((topic: string) => ({ topic, partitions: 3 })));
    const project = await fixture.createProject();
    const metrics = createMetrics({ withProcessMetrics: false });
    const fatal: Error[] = [];
    const consumer = await consumeTopic(
      { topic: 'overflow', partitionConcurrency: 2 },
      {
        log,
        database: fixture.database,
        process: fixture.createDeps(),
        topics,
        topicPrefix: prefix,
        maxBatchRecords: 20,
        maxBatchBytes: 1_000_000,
        logger: fixture.logger,
        tracing: null,
        metricsOf: createConsumeMetrics(metrics),
        liveLoad: createLiveLoadTracker(),
        releaseLocks: async () => {},
        onFatal: (error) => fatal.push(error),
      },
    );
    const hot = Array.from({ length: 120 }, (_, number) =>
      capturedEvent(project.token, { distinct_id: 'hot', properties: { $set: { number } } }),
    );
    const forced = Array.from({ length: 30 }, (_, number) =>
      capturedEvent(project.token, { distinct_id: `forced-${number % 3}`, force_disable_person_processing: true }),
    );
    for (let from = 0; from < hot.length; from += 40) {
      await log.append([
        ...hot.slice(from, from + 40).map((event) => ({
          topic: topics.overflow,
          key: computeRecordKey('overflow', event.token, event.distinct_id),
          value: encodeCapturedRecord(event),
        })),
        ...forced.slice(from / 4, from / 4 + 10).map((event) => ({
          topic: topics.overflow,
          key: null,
          value: encodeCapturedRecord(event),
        })),
      ]);
    }
    const where = { project_id: project.id };
    await eventually(async () => expect(await fixture.database.prisma.event.count({ where })).toBe(150), {
      what: 'All events of the topic',
    });
    await consumer.stop();
    const persons = await fixture.database.prisma.person.findMany({ where });
    expect(persons).toMatchObject([{ main_distinct_id: 'hot', properties: { number: 119 }, version: 119n }]);
    const ends = await log.endOffsets(topics.live);
    expect(ends.every(({ endOffset }) => endOffset === 0n)).toBe(true);
    expect(fatal).toEqual([]);
    await close();
  });
});
