import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import {
  type CapturedEvent,
  computeRecordKey,
  encodeCapturedRecord,
  type ProcessedEvent,
  processedEventSchema,
  type TopicNames,
  topicNames,
} from '@millrace/contracts';
import { createDatabase } from '@millrace/db';
import {
  createKafkaLog,
  createPostgresLog,
  type EventLog,
  type LogConsumer,
  type LogRecord,
} from '@millrace/event-log';
import { createMetrics } from '@millrace/runtime';
import { eventually, patienceMs, testServers } from '@millrace/testing';
import { consumeTopic, createLiveLoadTracker } from '../consume-topic.ts';
import { createConsumeMetrics } from '../metrics.ts';
import { type ConsumerFixture, capturedEvent, createConsumerFixture } from '../testing/consumer-fixture.ts';
import { publishTopic } from './publish.ts';

let fixture: ConsumerFixture;
beforeAll(async () => {
  fixture = await createConsumerFixture();
});
afterAll(() => fixture.stop());

const noFatal = (error: Error) => {
  throw error;
};

describe.each(['kafka', 'postgres'] as const)('publishing stored events with %s', (kind) => {
  let log: EventLog;
  let close: () => Promise<void>;
  let prefix: string;
  let topics: TopicNames;
  let consumers: LogConsumer[];

  beforeAll(() => {
    const { logger } = fixture;
    const patience = { appendTimeoutMs: patienceMs };
    if (kind === 'kafka') {
      log = createKafkaLog({
        brokers: testServers().kafkaBrokers,
        clientId: 'publish-topic-test',
        logger,
        ...patience,
      });
      close = () => log.close();
    } else {
      const database = createDatabase({ url: fixture.url, logger, poolSize: 6 });
      log = createPostgresLog({ database, logger, ...patience });
      close = async () => {
        await log.close();
        await database.stop();
      };
    }
  });
  afterAll(() => close());
  beforeEach(async () => {
    prefix = `t-${randomUUID()}.`;
    topics = topicNames(prefix);
    consumers = [];
    await log.ensureTopics(
      [topics.live, topics.processed, topics.deadLetter].map((topic) => ({ topic, partitions: 2 })),
    );
  });
  afterEach(() => Promise.all(consumers.map((consumer) => consumer.stop())));

  function common() {
    return {
      log,
      database: fixture.database,
      topics,
      topicPrefix: prefix,
      maxBatchRecords: 20,
      maxBatchBytes: 1_000_000,
    };
  }

  async function startStoring(): Promise<LogConsumer> {
    const consumer = await consumeTopic(
      { topic: 'live', partitionConcurrency: 1 },
      {
        ...common(),
        process: fixture.createDeps(),
        logger: fixture.logger,
        tracing: null,
        metricsOf: createConsumeMetrics(createMetrics()),
        liveLoad: createLiveLoadTracker(),
        releaseLocks: async () => {},
        onFatal: noFatal,
      },
    );
    consumers.push(consumer);
    return consumer;
  }

  async function startPublishing(): Promise<LogConsumer> {
    const { projects } = fixture.createDeps();
    const consumer = await publishTopic('live', {
      ...common(),
      projects,
      logger: fixture.logger,
      published: () => {},
      onFatal: noFatal,
    });
    consumers.push(consumer);
    return consumer;
  }

  async function follow(): Promise<LogRecord[]> {
    const seen: LogRecord[] = [];
    const ends = new Map<number, bigint>();
    const consumer = await log.consume({
      topic: topics.processed,
      group: `${prefix}follower`,
      maxBatchRecords: 100,
      maxBatchBytes: 1_000_000,
      partitionConcurrency: 2,
      startOffset: async (partition) => ({ nextOffset: ends.get(partition) ?? 0n, lastRecordFingerprint: null }),
      async handler({ partition, records }) {
        seen.push(...records);
        const nextOffset = (records.at(-1)?.offset ?? -1n) + 1n;
        ends.set(partition, nextOffset);
        return { outcome: 'done', nextOffset };
      },
      onFatal: noFatal,
    });
    consumers.push(consumer);
    return seen;
  }

  async function append(events: CapturedEvent[]): Promise<void> {
    await log.append(
      events.map((event) => ({
        topic: topics.live,
        key: computeRecordKey('live', event.token, event.distinct_id),
        value: encodeCapturedRecord(event),
      })),
    );
  }

  const read = (record: LogRecord | undefined): ProcessedEvent => JSON.parse(String(record?.value));

  test('publishes all fields of a stored event, and does not publish dropped events', async () => {
    const { id, token } = await fixture.createProject();
    const now = '2026-11-21T10:00:00.000Z';
    const stored = capturedEvent(token, {
      distinct_id: 'u',
      event: 'clicked "ü"',
      timestamp: '2026-11-21T09:59:58.123Z',
      now,
      properties: { $set: { plan: 'pro' }, $elements_chain: 'a.b', text: 'tab\t"quoted"' },
    });
    const anonymous = capturedEvent(token, { distinct_id: 'anon', properties: { $process_person_profile: false } });
    const dropped = capturedEvent(token, {
      event: '$identify',
      properties: { $process_person_profile: false, $anon_distinct_id: 'x' },
    });
    const unknownToken = capturedEvent('phc_of_nobody', {});
    await Promise.all([startStoring(), startPublishing()]);
    const seen = await follow();
    await append([dropped, unknownToken, stored, anonymous]);
    const uuids = () => new Set(seen.map((one) => read(one).uuid));
    await eventually(() => uuids().size >= 2, { what: 'Two processed events' });
    expect(uuids()).toEqual(new Set([stored.uuid, anonymous.uuid]));

    const record = seen.find((one) => read(one).uuid === stored.uuid);
    const event = read(record);
    const [row] = await fixture.database.prisma.event.findMany({ where: { uuid: stored.uuid } });
    expect(event).toEqual({
      version: 1,
      uuid: stored.uuid,
      project_id: id,
      event: 'clicked "ü"',
      distinct_id: 'u',
      timestamp: '2026-11-21T09:59:58.123Z',
      captured_at: now,
      properties: row?.properties,
      elements_chain: 'a.b',
      person_id: row?.person_id,
      person_created_at: '2026-11-21T09:59:58.123Z',
      person_properties: { plan: 'pro', $creator_event_uuid: stored.uuid },
      person_mode: 'full',
      historical_migration: false,
    });
    expect(event.properties).toMatchObject({ text: 'tab\t"quoted"' });
    expect(record?.key).toBe(`${id}:${event.person_id}`);
    expect(Object.keys(event).sort()).toEqual([...processedEventSchema.required].sort());
    expect(Object.keys(processedEventSchema.properties).sort()).toEqual([...processedEventSchema.required].sort());
    expect(read(seen.find((one) => read(one).uuid === anonymous.uuid))).toMatchObject({
      person_mode: 'propertyless',
      person_properties: {},
      distinct_id: 'anon',
    });
  });

  test('publishes numbers with many digits in exponent notation', async () => {
    const { token } = await fixture.createProject();
    const properties = { wide: 1e22, negative: -18446744073709552000, small: 1e-23 };
    const text = { digits: '100000000000000000000000', quoted: '"1e22" \\ 100000000000000000000000' };
    const stored = capturedEvent(token, {
      distinct_id: 'u',
      properties: { ...properties, ...text, seats: 12, $set: { wide: 1e22 } },
    });
    await Promise.all([startStoring(), startPublishing()]);
    const seen = await follow();
    await append([stored]);
    await eventually(() => seen.length >= 1, { what: 'The processed event' });
    const value = String(seen[0]?.value);
    expect(value).not.toMatch(/: ?-?\d{20}/);
    expect(value).toContain('"wide": 1e22');
    expect(value).toContain('"negative": -1.8446744073709552e19');
    expect(read(seen[0]).properties).toMatchObject({ ...properties, ...text, seats: 12 });
    expect(read(seen[0]).person_properties).toMatchObject({ wide: 1e22 });
  });

  test('publishes events only after they are stored', async () => {
    const { token } = await fixture.createProject();
    await startPublishing();
    const seen = await follow();
    await append([capturedEvent(token, {})]);
    await sleep(1500);
    expect(seen).toEqual([]);
    await startStoring();
    await eventually(() => seen.length >= 1, { what: 'The processed event' });
  });

  test('publishes every event even if the consumer is restarted', async () => {
    const { token } = await fixture.createProject();
    const events = Array.from({ length: 400 }, (_, index) => capturedEvent(token, { distinct_id: `d${index % 30}` }));
    await startStoring();
    const seen = await follow();
    const first = await startPublishing();
    await append(events.slice(0, 200));
    await eventually(() => seen.length > 0, { what: 'The first processed events' });
    await first.stop();
    await append(events.slice(200));
    await startPublishing();
    const uuids = () => new Set(seen.map((record) => read(record).uuid));
    await eventually(() => uuids().size === events.length, { what: 'All processed events' });
    expect([...uuids()].sort()).toEqual(events.map(({ uuid }) => uuid).sort());
  });
});
