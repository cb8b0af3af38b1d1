import { randomUUID } from 'node:crypto';
import { createTestTenant, type TestTenant } from '@millrace/testing';
import { startWorkerFixture, type WorkerFixture } from '../testing/worker-fixture.ts';
import { createIdentityExpiryTask, createRetentionTasks, dropMonths, expireEvents } from './retention.ts';
import { deleteOldActivity, deleteOldWarnings } from './store.ts';

let fixture: WorkerFixture;
let tenant: TestTenant;
beforeEach(async () => {
  fixture = await startWorkerFixture();
  tenant = await createTestTenant(fixture.database);
});
afterEach(() => fixture.stop());

const query = (text: string, values: unknown[] = []) => fixture.database.sql.query(text, values);

const dayMs = 86_400_000;
const daysAgo = (days: number) => new Date(Date.now() - days * dayMs);

async function ensureMonth(time: Date): Promise<string> {
  const [from, to] = [0, 1].map((n) =>
    new Date(Date.UTC(time.getUTCFullYear(), time.getUTCMonth() + n, 1)).toISOString(),
  );
  const name = `event_${time.toISOString().slice(0, 7).replace('-', '_')}`;
  await query(`CREATE TABLE IF NOT EXISTS "${name}" PARTITION OF event FOR VALUES FROM ('${from}') TO ('${to}')`);
  return name;
}

async function storeEvent(environmentId: number, time: Date): Promise<void> {
  const uuid = randomUUID();
  if (time.getUTCFullYear() >= 2015) await ensureMonth(time);
  await query('INSERT INTO event_identity (project_id, uuid, timestamp) VALUES ($1, $2, $3)', [
    environmentId,
    uuid,
    time,
  ]);
  await query(
    `INSERT INTO event (project_id, timestamp, uuid, event, distinct_id, person_id, properties, captured_at)
     VALUES ($1, $2, $3, 'e', 'd', gen_random_uuid(), '{}', now())`,
    [environmentId, time, uuid],
  );
}

const agesIn = async (table: string, environmentId: number) =>
  (
    await query(
      `SELECT round(extract(epoch FROM now() - timestamp) / 86400)::int AS age FROM ${table} WHERE project_id = $1 ORDER BY age`,
      [environmentId],
    )
  ).map(({ age }) => age);

const months = async () =>
  (await query(`SELECT inhrelid::regclass::text AS name FROM pg_inherits WHERE inhparent = 'event'::regclass`)).map(
    ({ name }) => name,
  );

const setRetention = (environmentId: number, days: number) =>
  query('UPDATE environment SET event_retention_days = $2 WHERE id = $1', [environmentId, days]);

async function expireAll(installationDays: number): Promise<void> {
  while (await dropMonths(fixture, installationDays));
  while (await expireEvents(fixture.database.sql, installationDays, 2));
}

test('keeps all events if no retention limit is set', async () => {
  await storeEvent(tenant.environmentId, daysAgo(4000));
  await storeEvent(tenant.environmentId, new Date('2001-01-01T00:00:00Z'));
  await expireAll(0);
  expect(await agesIn('event', tenant.environmentId)).toHaveLength(2);
});

test("drops complete months that exceed the installation's retention limit, and events from before 2015", async () => {
  for (const days of [1, 89, 125, 126, 800]) await storeEvent(tenant.environmentId, daysAgo(days));
  for (let n = 0; n < 5; n += 1) await storeEvent(tenant.environmentId, new Date('2001-01-01T00:00:00Z'));
  await expireAll(90);
  expect(await agesIn('event', tenant.environmentId)).toEqual([1, 89]);
  for (const days of [125, 800]) {
    expect(await months()).not.toContain(`event_${daysAgo(days).toISOString().slice(0, 7).replace('-', '_')}`);
  }
  expect(await query("SELECT 1 FROM pg_class WHERE relname LIKE 'event_expired%' AND relkind = 'r'")).toEqual([]);
});

test("an environment's retention limit is exact to the day and does not affect other environments", async () => {
  const other = await createTestTenant(fixture.database);
  await setRetention(tenant.environmentId, 30);
  for (const { environmentId } of [tenant, other]) {
    for (const days of [1, 29, 31, 32, 33, 34, 35, 400]) await storeEvent(environmentId, daysAgo(days));
  }
  await expireAll(0);
  expect(await agesIn('event', tenant.environmentId)).toEqual([1, 29]);
  expect(await agesIn('event', other.environmentId)).toHaveLength(8);
});

test('an environment can keep events for less time than the installation, but not longer', async () => {
  await setRetention(tenant.environmentId, 1000);
  for (const days of [1, 29, 31]) await storeEvent(tenant.environmentId, daysAgo(days));
  await expireAll(30);
  expect(await agesIn('event', tenant.environmentId)).toEqual([1, 29]);
});

test('skips a month that is being written to, and delays writers only for a moment', async () => {
  const name = await ensureMonth(daysAgo(800));
  await storeEvent(tenant.environmentId, daysAgo(800));
  await fixture.database.transaction(async (writer) => {
    await writer.query('LOCK TABLE event IN ROW EXCLUSIVE MODE');
    expect(await dropMonths(fixture, 90)).toBe(false);
    expect(await months()).toContain(name);
  });
  expect(await dropMonths(fixture, 90)).toBe(true);
  expect(await months()).not.toContain(name);
});

test('drops a month that a crashed worker had detached', async () => {
  const name = await ensureMonth(daysAgo(800));
  await query(`ALTER TABLE event DETACH PARTITION "${name}"`);
  await query(`ALTER TABLE "${name}" RENAME TO "${name.replace('event_', 'event_expired_')}"`);
  await dropMonths(fixture, 0);
  expect(await query("SELECT 1 FROM pg_class WHERE relname LIKE 'event_expired%' AND relkind = 'r'")).toEqual([]);
});

test('keeps the identities of events for a month longer than the events', async () => {
  const other = await createTestTenant(fixture.database);
  await setRetention(tenant.environmentId, 30);
  for (const { environmentId } of [tenant, other]) {
    for (const days of [1, 31, 59, 61, 400]) await storeEvent(environmentId, daysAgo(days));
  }
  await query(
    `INSERT INTO event_identity SELECT $1, gen_random_uuid(), now() - interval '100 days' FROM generate_series(1, 1000)`,
    [tenant.environmentId],
  );
  const expire = createIdentityExpiryTask(fixture.database.sql, 0, 2);
  let rounds = 1;
  while (await expire()) rounds += 1;
  expect(rounds).toBeGreaterThan(2);
  expect(await agesIn('event_identity', tenant.environmentId)).toEqual([1, 31, 59]);
  expect(await agesIn('event_identity', other.environmentId)).toHaveLength(5);
});

test("deletes warnings after the configured number of days, or together with their environment's events", async () => {
  const other = await createTestTenant(fixture.database);
  await setRetention(tenant.environmentId, 30);
  for (const { environmentId } of [tenant, other]) {
    for (const days of [1, 31, 91, 92, 93]) {
      await query(
        `INSERT INTO ingestion_warning (project_id, id, type, severity, timestamp)
         VALUES ($1, gen_random_uuid(), 't', 'error', $2)`,
        [environmentId, daysAgo(days)],
      );
    }
  }
  while ((await deleteOldWarnings(fixture.database.sql, { installationDays: 0, days: 90, limit: 2 })) > 0);
  expect(await agesIn('ingestion_warning', tenant.environmentId)).toEqual([1]);
  expect(await agesIn('ingestion_warning', other.environmentId)).toEqual([1, 31]);
});

test('deletes activity records after the configured number of days', async () => {
  for (const days of [1, 91, 92, 93]) {
    await query(
      `INSERT INTO activity_log (id, scope, item_id, activity, detail, created_at)
       VALUES (gen_random_uuid(), 'Team', '1', 'updated', '{}', $1)`,
      [daysAgo(days)],
    );
  }
  while ((await deleteOldActivity(fixture.database.sql, { days: 90, limit: 2 })) > 0);
  expect(await query('SELECT 1 FROM activity_log')).toHaveLength(1);
});

test('keeps warnings and activity records for different numbers of days', async () => {
  const { environmentId } = tenant;
  for (const days of [1, 50, 100]) {
    await query(
      `INSERT INTO ingestion_warning (project_id, id, type, severity, timestamp) VALUES ($1, gen_random_uuid(), 't', 'error', $2)`,
      [environmentId, daysAgo(days)],
    );
    await query(
      `INSERT INTO activity_log (id, scope, item_id, activity, detail, created_at)
       VALUES (gen_random_uuid(), 'Team', '1', 'updated', '{}', $1)`,
      [daysAgo(days)],
    );
  }
  const options = { eventRetentionDays: 0, keepWarningsDays: 10, keepActivityDays: 60 };
  for (const { work } of createRetentionTasks(fixture, options)) await work(new AbortController().signal);
  expect(await agesIn('ingestion_warning', environmentId)).toEqual([1]);
  expect(await query('SELECT 1 FROM activity_log')).toHaveLength(2);
});
