import { randomUUID } from 'node:crypto';
import { computeRecordKey, consumerGroup, encodeCapturedRecord, publisherGroup, topicNames } from '@millrace/contracts';
import { createDatabase, type Database } from '@millrace/db';
import { createPostgresLog, type EventLog } from '@millrace/event-log';
import { createMetrics, type Metrics } from '@millrace/runtime';
import { eventually, patienceMs } from '@millrace/testing';
import { consumeTopic, createLiveLoadTracker } from './consume-topic.ts';
import { drainFormerLog, type FormerLogDrain, type FormerLogReader } from './former-log.ts';
import { createConsumeMetrics } from './metrics.ts';
import {
  type ConsumerFixture,
  capturedEvent,
  createConsumerFixture,
  type TestProject,
} from './testing/consumer-fixture.ts';

let fixture: ConsumerFixture;
let project: TestProject;
let pool: Database;
let log: EventLog;
let metrics: Metrics;
let drain: FormerLogDrain | undefined;
beforeAll(async () => {
  fixture = await createConsumerFixture();
  project = await fixture.createProject();
  pool = createDatabase({ url: fixture.url, logger: fixture.logger, poolSize: 6 });
  log = createPostgresLog({ database: pool, logger: fixture.logger, appendTimeoutMs: patienceMs });
});
afterAll(async () => {
  await log.close();
  await pool.stop();
  await fixture.stop();
});
afterEach(() => drain?.stop());

const prefix = () => `t-${randomUUID()}.`;

function liveReader(of: string): FormerLogReader {
  return {
    ...{ topic: topicNames(of).live, group: consumerGroup('live', of) },
    join: () =>
      consumeTopic(
        { topic: 'live', partitionConcurrency: 2 },
        {
          ...{
            log,
            database: fixture.database,
            process: fixture.createDeps(),
            topics: topicNames(of),
            topicPrefix: of,
          },
          ...{
            maxBatchRecords: 20,
            maxBatchBytes: 1_000_000,
            logger: fixture.logger,
            liveLoad: createLiveLoadTracker(),
          },
          tracing: null,
          metricsOf: createConsumeMetrics(createMetrics({ withProcessMetrics: false })),
          releaseLocks: async () => {},
          onFatal(error) {
            throw error;
          },
        },
      ),
  };
}

async function append(topic: string, count: number): Promise<string[]> {
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

const countStored = (uuids: string[]) => fixture.database.prisma.event.count({ where: { uuid: { in: uuids } } });

function start(...readers: FormerLogReader[]): FormerLogDrain {
  metrics = createMetrics({ withProcessMetrics: false });
  drain = drainFormerLog({ database: fixture.database, readers, logger: fixture.logger, metrics });
  return drain;
}

test('processes records in the PostgreSQL log before new records, and also processes those that arrive there later', async () => {
  const of = prefix();
  const { live } = topicNames(of);
  await log.ensureTopics([{ topic: live, partitions: 3 }]);
  const remaining = await append(live, 60);
  await start(liveReader(of)).begun();
  expect(await countStored(remaining)).toBe(60);
  const late = await append(live, 9);
  await eventually(async () => expect(await countStored(late)).toBe(9), { what: 'Storing what came late' });
  await eventually(
    async () => expect(await metrics.registry.metrics()).toMatch(/millrace_log_former_log_records\{.*\} 0/),
    {
      what: 'Nothing left',
    },
  );
});

test('does not join a consumer group or wait if the former log has no unread records', async () => {
  const of = prefix();
  const joins: string[] = [];
  const reader = liveReader(of);
  const watched = {
    ...reader,
    join() {
      joins.push(reader.topic);
      return reader.join();
    },
  };
  await start(watched).begun();
  await drain?.stop();
  await log.ensureTopics([{ topic: reader.topic, partitions: 3 }]);
  await start(watched, { ...watched, group: publisherGroup('live', of) }).begun();
  expect(joins).toEqual([]);
});
