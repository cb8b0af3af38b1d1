import {
  compilePrograms,
  createTestDatabase,
  startService,
  type TestDatabase,
  testServers,
  uniqueTopicPrefix,
} from '@millrace/testing';
import pg from 'pg';
import { askServices } from './ask-services.ts';
import type { TopicRecord } from './release-record.ts';
import { sendRecordedRequests } from './requests.ts';
import { readStored } from './table-rows.ts';
import { differences } from './testing/differences.ts';
import { readReleaseRecord } from './testing/read-release-record.ts';
import { writeTables } from './testing/write-tables.ts';
import { openTopics, type RecordedTopics } from './topic-records.ts';

/**
 * While an upgrade rolls, this release reads what the last one writes, and the last one what this one writes: records, tables
 * and answers may only gain fields. `last-release.json` is of the last one (`npm run chaos -- record --from <tag>`).
 */
const last = readReleaseRecord();
const prefix = uniqueTopicPrefix();
const isOfLane = ({ topic }: TopicRecord) => topic === 'live' || topic === 'historical' || topic === 'overflow';
let testDatabase: TestDatabase;
let database: pg.Pool;
let topics: RecordedTopics;
let programs: Awaited<ReturnType<typeof compilePrograms>>;
let settings: Record<string, string>;

beforeAll(async () => {
  const { kafkaBrokers, redisUrl } = testServers();
  testDatabase = await createTestDatabase();
  database = new pg.Pool({ connectionString: testDatabase.url, max: 3 });
  await writeTables(database, last.tables);
  topics = await openTopics(kafkaBrokers[0] ?? '', prefix);
  await topics.create();
  programs = await compilePrograms([
    'services/ingest-gateway/src/main.ts',
    'services/event-consumer/src/main.ts',
    'services/management-api/src/main.ts',
  ]);
  settings = {
    ...{ DATABASE_URL: testDatabase.url, KAFKA_BROKERS: kafkaBrokers.join(','), REDIS_URL: redisUrl },
    ...{ EVENT_LOG: 'kafka', TOPIC_PREFIX: prefix, TOPIC_PARTITIONS: '1', PUBLISH_PROCESSED: 'on' },
    // It says that a record could not be read, as it should.
    ...{ HEALTH_PORT: '0', INGEST_PORT: '0', API_PORT: '0', LOG_LEVEL: 'error', NODE_ENV: 'production' },
  };
});
afterAll(async () => {
  await topics?.remove();
  await topics?.close();
  await database?.end();
  await testDatabase?.drop();
  await programs?.remove();
});

const start = (name: string, index: number, more: Record<string, string> = {}) =>
  startService(name, programs.files[index] ?? '', { ...settings, ...more });

test(`records of ${last.commit} become the same rows, and what is published of them is the same`, async () => {
  await topics.append(last.records);
  for (const lane of ['live', 'historical'] as const) {
    const consumer = await start('event-consumer', 1, { CONSUMER_LANES: lane });
    await topics.untilConsumed(lane, database);
    await consumer.stop();
  }
  const published = (await topics.read()).filter((record) => !isOfLane(record));
  expect(differences(last.published, published)).toEqual([]);
  expect(differences(last.stored, await readStored(database))).toEqual([]);
});

test(`what clients asked ${last.commit} for is answered with no field less`, async () => {
  const [gateway, api] = [await start('ingest-gateway', 0), await start('management-api', 2)];
  try {
    const answers = await askServices({ gateway: gateway.port, api: api.port }, last.tenant);
    expect(differences(last.answers, answers)).toEqual([]);
  } finally {
    await Promise.all([gateway.stop(), api.stop()]);
  }
});

test(`what this gateway writes has all that ${last.commit} reads`, async () => {
  const before = (await topics.read()).filter(isOfLane).length;
  const gateway = await start('ingest-gateway', 0);
  const statuses = await sendRecordedRequests(gateway.port, last.tenant.projectApiKey);
  await gateway.stop();
  expect(statuses).toEqual(last.statuses);
  const written = (await topics.read()).filter(isOfLane);
  expect(written.length).toBeGreaterThan(before);
  for (const kind of ['live', 'historical', 'overflow'] as const) {
    const theirs = last.records.filter(({ topic, value }) => topic === kind && typeof value !== 'string');
    const ours = written.filter(({ topic }) => topic === kind);
    // The last ones: those of the first test are before them.
    expect(differences(theirs, ours.slice(ours.length - theirs.length))).toEqual([]);
  }
});

test.each<[string, unknown, unknown, unknown[]]>([
  ['a field more', { a: 1 }, { a: 1, b: 2 }, []],
  ['a field less', { a: 1, b: { c: 2 } }, { a: 1, b: {} }, ['.b.c is gone']],
  ['another value', { a: [1, 2] }, { a: [1, 3] }, ['.a.1 is 3, was 2']],
  ['a time of the clock', { now: '2026-11-22T13:44:12.705Z' }, { now: '2027-01-01T00:00:00.000Z' }, []],
  [
    'a fixed time',
    { at: '2026-11-20T12:01:00.000Z' },
    { at: '2027-01-01T00:00:00.000Z' },
    [expect.stringContaining('.at is')],
  ],
  ['a time that is a number now', { now: '2026-11-22T13:44:12.705Z' }, { now: 1 }, ['.now is number, was time']],
  [
    'a person',
    { is: '291efb03-076e-5fba-8fb9-2e96ffb79617' },
    { is: '450d5f00-61aa-5a21-91b7-549375529d82' },
    [expect.stringContaining('.is is')],
  ],
  ['an entry less', [1, 2], [1], [' has 1 entries, had 2']],
])('the comparison sees %s', (_name, older, newer, expected) => {
  expect(differences(older, newer)).toEqual(expected);
});
