import { consumerGroup, topicNames } from '@millrace/contracts';
import { createSqlDatabase, type SqlDatabase } from '@millrace/db/sql';
import { createPostgresLog, type EventLog } from '@millrace/event-log';
import type { EventStore } from '@millrace/insights';
import { createTestTenant, eventually, type TestTenant, uniqueTopicPrefix } from '@millrace/testing';
import { createLive } from '../../operations/live/live.ts';
import { startTestApi, type TestApi } from '../../testing/start-test-api.ts';
import { createMonths, storeEvent } from '../../testing/stored-data.ts';

const topicPrefix = uniqueTopicPrefix();
const topics = topicNames(topicPrefix);
let api: TestApi;
let tenant: TestTenant;
let pool: SqlDatabase;
let log: EventLog;
beforeAll(async () => {
  api = await startTestApi(
    {},
    {
      openLive(parts) {
        pool = createSqlDatabase({ url: parts.url, logger: parts.logger, poolSize: 3 });
        log = createPostgresLog({ database: pool, logger: parts.logger });
        const limits = { streamsPerUser: 1, streamsPerProject: 1, streamsPerProcess: 1, publishes: false };
        return createLive({ ...parts, ...limits, log, topics, topicPrefix });
      },
    },
  );
  await log.ensureTopics([topics.live, topics.overflow].map((topic) => ({ topic, partitions: 1 })));
  await log.ensureTopics([{ topic: topicNames().deadLetter, partitions: 1 }]);
  tenant = await createTestTenant(api.database);
  const month = new Date().toISOString().slice(0, 7);
  await createMonths(api.database.sql, month, month);
});
afterAll(async () => {
  await api.stop();
  await log.close();
  await pool.stop();
});

const healthOf = async (owner: TestTenant, on = api) =>
  (await on.get(`/api/projects/${owner.projectId}/health`, owner.personalApiKey)).body;

async function storeDrop(owner: TestTenant, { type, severity = 'error', count = 1, stored = 'now()' }: DroppedEvents) {
  await api.database.sql.query(
    `INSERT INTO ingestion_warning (project_id, id, type, severity, count, timestamp, stored_at)
     VALUES ($1, gen_random_uuid(), $2, $3, $4, now(), ${stored})`,
    [owner.projectId, type, severity, count],
  );
}
interface DroppedEvents {
  type: string;
  severity?: string;
  count?: number;
  stored?: string;
}

test('console-032: reports an alarm for an event that has waited longer than the threshold', async () => {
  const { sql } = api.database;
  await log.append([0, 1].map(() => ({ topic: topics.live, key: 'a', value: Buffer.from('{}') })));
  const [end] = await log.endOffsets(topics.live);
  const appendedAt = Date.now() - 20 * 60_000;
  await sql.query(
    `INSERT INTO consumer_offset ("group", topic, partition, log, next_offset, last_record_fingerprint)
     VALUES ($1, $2, $3, $4, 1, $5)`,
    [consumerGroup('live', topicPrefix), topics.live, end?.partition, end?.log, `0/${appendedAt}`],
  );
  // Request the health twice, because the second request must not reset the age of the oldest waiting event.
  await healthOf(tenant);
  const { alarm, visible_after_seconds, topics: lags } = await healthOf(tenant);
  expect(alarm).toMatchObject({ lag_seconds: visible_after_seconds, threshold_seconds: 300 });
  expect(alarm.detail).toContain('No events are lost');
  expect(lags).toMatchObject([
    { topic: 'live', waiting: 1, oldest_seconds: visible_after_seconds, read_at: expect.stringMatching(/^\d{4}-/) },
    { topic: 'overflow', waiting: 0, oldest_seconds: 0, read_at: null },
  ]);
  await sql.query('UPDATE consumer_offset SET next_offset = 2 WHERE topic = $1', [topics.live]);
  expect(await healthOf(tenant)).toMatchObject({ alarm: null, visible_after_seconds: 0 });
});

test("counts the project's events in the last minute by outcome", async () => {
  const { sql } = api.database;
  const other = await createTestTenant(api.database);
  const now = new Date().toISOString();
  for (const owner of [tenant, tenant, other]) await storeEvent(sql, owner.projectId, { timestamp: now });
  const imported = await storeEvent(sql, tenant.projectId, { timestamp: now });
  await sql.query('UPDATE event SET historical_migration = true WHERE uuid = $1', [imported]);
  const earlier = await storeEvent(sql, tenant.projectId, { timestamp: now });
  await sql.query("UPDATE event SET created_at = now() - interval '10 min' WHERE uuid = $1", [earlier]);
  await storeDrop(tenant, { type: 'message_size_too_large', count: 3 });
  await storeDrop(tenant, { type: 'message_size_too_large' });
  await storeDrop(tenant, { type: 'skipping_event_invalid_distinct_id' });
  await storeDrop(tenant, { type: 'kept_but_changed', severity: 'warning' });
  // Store two of the problems that live events can have. Rate-limited events count as dropped. An event with a long
  // group key does not, because it is still stored.
  await storeDrop(tenant, { type: 'group_key_too_long' });
  await storeDrop(tenant, { type: 'rate_limited', severity: 'warning', count: 2 });
  await storeDrop(tenant, { type: 'long_ago', stored: "now() - interval '10 min'" });
  await storeDrop(other, { type: 'of_others' });
  expect(await healthOf(tenant)).toEqual({
    checked_at: expect.stringMatching(/^\d{4}-/),
    version: expect.stringMatching(/^\d+\.\d+\.\d+/),
    alarm: null,
    visible_after_seconds: 0,
    topics: [expect.objectContaining({ topic: 'live' }), expect.objectContaining({ topic: 'overflow' })],
    dead_letters_waiting: 0,
    services: expect.arrayContaining([{ name: 'management-api', connections: expect.any(Number) }]),
    per_minute: {
      stored: 2,
      dropped: [
        { reason: 'message_size_too_large', count: 4 },
        { reason: 'rate_limited', count: 2 },
        { reason: 'skipping_event_invalid_distinct_id', count: 1 },
      ],
    },
    sql_role: true,
    clickhouse: null,
    sources: { log: 'ok', events: 'ok', warnings: 'ok', dead_letters: 'ok', services: 'ok' },
  });
});

test('without an event log, reports everything except the lag', async () => {
  const without = await startTestApi();
  const own = await createTestTenant(without.database);
  expect(await healthOf(own, without)).toMatchObject({
    visible_after_seconds: null,
    alarm: null,
    topics: null,
    per_minute: { stored: 0, dropped: [] },
    sources: { log: expect.stringContaining('EVENT_LOG'), events: 'ok', warnings: 'ok', services: 'ok' },
  });
  await without.stop();
});

test('reports how old the latest events and persons in ClickHouse are', async () => {
  const copied = await startTestApi({ externalEventStore: { events: {} as EventStore, maxMs: 1000 } });
  const own = await createTestTenant(copied.database);
  const { sql } = copied.database;
  const ages = async () => (await healthOf(own, copied)).clickhouse;
  expect(await ages()).toEqual({ events_age_seconds: null, persons_age_seconds: null });
  await sql.query(
    `INSERT INTO event_store_copy (store, copied_until)
     VALUES ('clickhouse', now() - interval '90 seconds'), ('clickhouse persons', now() - interval '1 hour')`,
  );
  const { events_age_seconds, persons_age_seconds } = await ages();
  expect(Math.floor(events_age_seconds / 60)).toBe(1);
  expect(Math.floor(persons_age_seconds / 60)).toBe(60);
  await copied.stop();
});

test('reports the rate of accepted events, beginning with the second measurement', async () => {
  const acceptedOf = async () =>
    (await healthOf(tenant)).topics.find(({ topic }: { topic: string }) => topic === 'overflow').accepted_per_minute;
  await acceptedOf();
  await log.append([1, 2, 3].map((key) => ({ topic: topics.overflow, key: `${key}`, value: Buffer.from('{}') })));
  await eventually(async () => expect(await acceptedOf()).toBeGreaterThan(0));
});

test("counts only the project's dead letters that were neither replayed nor discarded", async () => {
  const owner = await createTestTenant(api.database);
  const deadLetterOf = (of: TestTenant, offset: string) => ({
    topic: topicNames().deadLetter,
    key: `${of.projectApiKey}:ada`,
    value: Buffer.from(JSON.stringify({ environment_id: of.environmentId })),
    headers: {
      ...{ dlq_reason: 'timed_out', dlq_step: 'process_batch', dlq_timestamp: new Date().toISOString() },
      ...{ dlq_topic: topicNames().live, dlq_partition: '0', dlq_offset: offset, dlq_log: 'a log' },
    },
  });
  await log.append([
    deadLetterOf(owner, '1'),
    deadLetterOf(owner, '2'),
    deadLetterOf(owner, '3'),
    deadLetterOf(tenant, '4'),
  ]);
  const discard = { key: owner.personalApiKey, body: { ids: ['live-0-2'] } };
  await api.send('POST', `/api/projects/${owner.projectId}/dead_letters/discard/`, discard);
  expect(await healthOf(owner)).toMatchObject({ dead_letters_waiting: 2 });
});
