import { randomUUID } from 'node:crypto';
import {
  type CapturedEvent,
  computeRecordKey,
  consumerGroup,
  encodeCapturedRecord,
  eventNames,
  topicNames,
} from '@millrace/contracts';
import { createKafkaLog, type EventLog, type LogConsumer } from '@millrace/event-log';
import { createMetrics } from '@millrace/runtime';
import {
  compilePrograms,
  eventually,
  patienceMs,
  type ServiceProcess,
  startService,
  testServers,
} from '@millrace/testing';
import { consumeTopic, createLiveLoadTracker } from '../consume-topic.ts';
import { createConsumeMetrics } from '../metrics.ts';
import {
  type ConsumerFixture,
  capturedEvent,
  createConsumerFixture,
  type TestProject,
} from '../testing/consumer-fixture.ts';
import { ruleCases, titleOf } from './all-cases.ts';
import { decidedState, storedState } from './end-state.ts';
import type { RuleCase } from './rule-case.ts';
import { createRuleWorld, eventTime, type SentEvent } from './rule-world.ts';
import { storeInitialState } from './store-initial-state.ts';

/**
 * Runs every rule case again through the gateway, Kafka, the consumer and PostgreSQL. The columns in the tables must
 * equal what the rules decided in memory. All cases run at the same time, each in its own project. The events of a case
 * are sent one at a time, because their distinct IDs are in different partitions.
 */
interface Played {
  ruleCase: RuleCase;
  project: TestProject;
  uuids: string[];
}

const prefix = `t-${randomUUID()}.`;
const topics = topicNames(prefix);
const group = consumerGroup('live', prefix);
const cases = Object.entries(ruleCases).flatMap(([section, list]) =>
  list.map((ruleCase) => [`${section}: ${titleOf(ruleCase)}`, ruleCase] as const),
);
const played = new Map<RuleCase, Played>();
let fixture: ConsumerFixture;
let log: EventLog;
let topic: LogConsumer;
let gateway: ServiceProcess;
let removePrograms: () => Promise<void>;

beforeAll(async () => {
  fixture = await createConsumerFixture();
  const { kafkaBrokers } = testServers();
  log = createKafkaLog({
    brokers: kafkaBrokers,
    clientId: 'rule-cases',
    logger: fixture.logger,
    appendTimeoutMs: patienceMs,
  });
  await log.ensureTopics(Object.values(topics).map((topic: string) => ({ topic, partitions: 4 })));
  const programs = await compilePrograms(['services/ingest-gateway/src/main.ts']);
  removePrograms = programs.remove;
  gateway = await startService('ingest-gateway', programs.files[0] ?? '', {
    DATABASE_URL: fixture.url,
    KAFKA_BROKERS: kafkaBrokers.join(','),
    TOPIC_PREFIX: prefix,
    INGEST_PORT: '0',
    INGEST_HOST: '127.0.0.1',
    LOG_LEVEL: 'error',
  });
  topic = await consumeTopic(
    { topic: 'live', partitionConcurrency: 2 },
    {
      log,
      database: fixture.database,
      process: fixture.createDeps(),
      topics,
      topicPrefix: prefix,
      maxBatchRecords: 500,
      maxBatchBytes: 4_000_000,
      logger: fixture.logger,
      tracing: null,
      metricsOf: createConsumeMetrics(createMetrics({ withProcessMetrics: false })),
      liveLoad: createLiveLoadTracker(),
      releaseLocks: async () => {},
      onFatal: (error) => {
        throw error;
      },
    },
  );
  for (const [, ruleCase] of cases) {
    const project = await fixture.createProject();
    await storeInitialState(fixture.database, project.id, ruleCase.start ?? {});
    played.set(ruleCase, { ruleCase, project, uuids: ruleCase.send.map(({ uuid }) => uuid ?? randomUUID()) });
  }
  const rounds = Math.max(...cases.map(([, { send }]) => send.length));
  for (let round = 0; round < rounds; round += 1) {
    // Send the events in groups. A gateway without cached keys looks up only a few keys at a time, and rejects requests
    // that wait too long for a lookup.
    const waiting = [...played.values()];
    while (waiting.length > 0) await Promise.all(waiting.splice(0, 25).map((one) => sendOne(one, round)));
    await eventually(async () => (await lag()) === 0, { what: `The end of round ${round}` });
  }
});

afterAll(async () => {
  await topic?.stop();
  await gateway?.stop();
  await removePrograms?.();
  await log?.close();
  await fixture?.stop();
});

async function sendOne({ ruleCase, project, uuids }: Played, round: number): Promise<void> {
  const sent = ruleCase.send[round];
  if (sent === undefined) return;
  const event = { ...sent, uuid: uuids[round] };
  if (isForGateway(sent)) await post(project.token, event);
  else await append(capturedEvent(project.token, { timestamp: eventTime, now: sent.timestamp ?? eventTime, ...event }));
}

/**
 * Returns whether an event can be sent through the gateway. An event bypasses the gateway if it has fields that only
 * the gateway writes, or that the gateway would change.
 */
function isForGateway(sent: SentEvent): boolean {
  const gatewayFields = ['now', 'ip', 'sent_at', 'token', 'historical_migration', 'force_disable_person_processing'];
  return (
    !gatewayFields.some((field) => Object.hasOwn(sent, field)) &&
    // The gateway truncates long strings, and drops blank IDs and performance events
    // (docs/wire-rules.md#dropped-events).
    sent.distinct_id.length <= 200 &&
    sent.distinct_id.trim() !== '' &&
    sent.event.length <= 200 &&
    sent.event !== eventNames.performance
  );
}

async function post(token: string, { event, distinct_id, properties, uuid, timestamp, ...updates }: SentEvent) {
  const body = { api_key: token, event, distinct_id, properties, uuid, timestamp: timestamp ?? eventTime, ...updates };
  // Retry as an SDK would, because a gateway on a slow machine may reject requests temporarily.
  await eventually(
    async () => {
      const response = await fetch(`http://127.0.0.1:${gateway.port}/capture/`, {
        method: 'POST',
        body: JSON.stringify(body),
      });
      expect([response.status, await response.json()]).toEqual([200, { status: 'Ok' }]);
    },
    { what: 'A response with status 200' },
  );
}

async function append(event: CapturedEvent): Promise<void> {
  const key = computeRecordKey('live', event.token, event.distinct_id);
  await log.append([{ topic: topics.live, key, value: encodeCapturedRecord(event) }]);
}

async function lag(): Promise<number> {
  const stored = await fixture.database.prisma.consumer_offset.findMany({ where: { topic: topics.live, group } });
  const next = new Map(stored.map((row) => [row.partition, row.next_offset]));
  const ends = await log.endOffsets(topics.live);
  return ends.reduce((sum, { partition, endOffset }) => sum + Number(endOffset - (next.get(partition) ?? 0n)), 0);
}

test.each(cases)('%s', async (_, ruleCase) => {
  const { project, uuids } = played.get(ruleCase) ?? { project: { id: 0, token: '' }, uuids: [] };
  const world = createRuleWorld({ ...ruleCase.start, project: { ...ruleCase.start?.project, id: project.id } });
  const outcomes = ruleCase.send.map((event, index) => {
    const uuid = uuids[index] ?? '';
    // The gateway adds the test's IP address to the record.
    const ip = isForGateway(event) ? { ip: '127.0.0.1' } : {};
    return { uuid, outcome: world.send({ ...event, ...ip, uuid }) };
  });
  const stored = await storedState(fixture.database, project.id);
  expect(stored).toEqual(decidedState(world, outcomes));
});
