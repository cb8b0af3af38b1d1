import { setTimeout as sleep } from 'node:timers/promises';
import { computeRecordKey, encodeCapturedRecord, topicNames } from '@millrace/contracts';
import { createKafkaLog, type EventLog } from '@millrace/event-log';
import {
  type CompiledPrograms,
  compilePrograms,
  eventually,
  patienceMs,
  type ServiceProcess,
  startService,
  testServers,
  uniqueTopicPrefix,
} from '@millrace/testing';
import {
  type ConsumerFixture,
  capturedEvent,
  createConsumerFixture,
  type TestProject,
} from './testing/consumer-fixture.ts';

const prefix = uniqueTopicPrefix();
const topic = topicNames(prefix).live;
/** After a consumer freezes, all events that were accepted before must become visible within this promised time. */
const promisedMs = 15_000;
/** The test allows more time than promised, because the test machine may be slow. */
const allowedMs = 2 * promisedMs;

let fixture: ConsumerFixture;
let project: TestProject;
let log: EventLog;
let programs: CompiledPrograms;
const consumers: ServiceProcess[] = [];

beforeAll(async () => {
  fixture = await createConsumerFixture();
  project = await fixture.createProject();
  const brokers = testServers().kafkaBrokers;
  log = createKafkaLog({
    brokers,
    clientId: 'frozen-consumer-test',
    logger: fixture.logger,
    appendTimeoutMs: patienceMs,
  });
  programs = await compilePrograms(['services/event-consumer/src/main.ts']);
  const [file = ''] = programs.files;
  const settings = {
    DATABASE_URL: fixture.url,
    KAFKA_BROKERS: brokers.join(','),
    TOPIC_PREFIX: prefix,
    TOPIC_PARTITIONS: '6',
    CONSUMER_TOPICS: 'live',
    HEALTH_PORT: '0',
    LOG_LEVEL: 'warn',
  };
  for (let started = 0; started < 2; started += 1) {
    consumers.push(await startService('event-consumer', file, settings));
  }
});
afterAll(async () => {
  for (const consumer of consumers) consumer.thaw();
  await Promise.all(consumers.map((consumer) => consumer.stop()));
  await log.close();
  await programs.remove();
  await fixture.stop();
});

const people = 60;
let sent = 0;

/** Sends one event for each person. The persons are in different partitions, and every event changes its person. */
async function sendRound(): Promise<void> {
  const records = Array.from({ length: people }, (_, n) => {
    const event = capturedEvent(project.token, { distinct_id: `p${n}`, properties: { $set: { round: sent } } });
    return { topic, key: computeRecordKey('live', event.token, event.distinct_id), value: encodeCapturedRecord(event) };
  });
  await log.append(records);
  sent += people;
}

async function stored(): Promise<number> {
  const rows = await fixture.database.sql.query<{ n: number }>(
    'SELECT count(*)::int AS n FROM event WHERE project_id = $1',
    [project.id],
  );
  return rows[0]?.n ?? 0;
}

async function untilStored(count: number, timeoutMs?: number): Promise<void> {
  await eventually(async () => (await stored()) >= count, { what: `that ${count} events are stored`, timeoutMs });
}

/** Freezes a consumer while both consumers have open transactions that have locked and written rows. */
async function freezeInsideBatches(consumer: ServiceProcess): Promise<void> {
  let release = () => {};
  const isReleased = new Promise<void>((resolve) => {
    release = resolve;
  });
  const holding = fixture.database.transaction(async (tx) => {
    await tx.query('LOCK TABLE event IN SHARE MODE');
    await isReleased;
  });
  await eventually(async () => {
    await sendRound();
    const waiting = await fixture.database.sql.query(
      `SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND application_name = 'event-consumer'
          AND wait_event_type = 'Lock'`,
    );
    // One process has at most three sessions that wait for a lock, so four of them belong to both consumers.
    return waiting.length >= 4;
  });
  consumer.freeze();
  release();
  await holding;
}

test('a consumer that freezes during a batch delays only its own partitions, and by at most 15 s', async () => {
  const [frozen, healthy] = consumers;
  if (frozen === undefined || healthy === undefined) throw new Error('two consumers were started');
  await eventually(async () => (await fetch(`http://127.0.0.1:${healthy.port}/_readiness`)).status === 200);
  await sendRound();
  await untilStored(sent);

  await freezeInsideBatches(frozen);
  const frozenAt = Date.now();
  const before = sent;
  const storedBefore = await stored();
  await sendRound();
  // The healthy consumer's partitions continue before the frozen one loses its batch after ten seconds.
  await eventually(async () => (await stored()) > storedBefore + people / 6, { timeoutMs: 9000 });
  await untilStored(before, allowedMs - (Date.now() - frozenAt));
  await untilStored(sent);

  frozen.thaw();
  await sleep(500);
  await sendRound();
  await untilStored(sent);
  await healthy.stop();
  await sendRound();
  await untilStored(sent);
  expect(await stored()).toBe(sent);
  const persons = await fixture.database.sql.query('SELECT version FROM person WHERE project_id = $1', [project.id]);
  expect(persons).toEqual(Array.from({ length: people }, () => ({ version: String(sent / people - 1) })));
});
