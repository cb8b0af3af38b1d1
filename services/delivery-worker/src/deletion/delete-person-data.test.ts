import { randomUUID } from 'node:crypto';
import { deletePersons, splitPerson } from '@millrace/db';
import { createTestTenant, eventually, type TestTenant } from '@millrace/testing';
import { startWorkerFixture, type WorkerFixture } from '../testing/worker-fixture.ts';
import { deletePersonData } from './delete-data.ts';
import { deleteOldIdRecords } from './store.ts';

let fixture: WorkerFixture;
let tenant: TestTenant;
beforeAll(async () => {
  fixture = await startWorkerFixture();
});
beforeEach(async () => {
  tenant = await createTestTenant(fixture.database);
});
afterAll(() => fixture.stop());

const query = (text: string, values: unknown[] = []) => fixture.database.sql.query(text, values);

async function storePerson(distinctIds: string[]): Promise<string> {
  const uuid = randomUUID();
  await query(
    `INSERT INTO person (project_id, uuid, main_distinct_id, properties, created_at) VALUES ($1, $2, $3, $4, now())`,
    [tenant.environmentId, uuid, distinctIds[0], { email: 'ada@example.com' }],
  );
  await query(
    'INSERT INTO person_distinct_id (project_id, distinct_id, person_uuid) SELECT $1, unnest($2::text[]), $3',
    [tenant.environmentId, distinctIds, uuid],
  );
  return uuid;
}

/**
 * Stores events with timestamps of past years, all in one partition.
 * @param captured the time of the events, in seconds relative to now
 */
async function storeEvents(distinctId: string, personId: string, { count = 1, captured = -60 } = {}): Promise<void> {
  await query(
    `INSERT INTO event (project_id, timestamp, uuid, event, distinct_id, person_id, person_created_at, person_properties,
                        properties, captured_at, created_at)
     SELECT $1, '2010-01-01'::timestamptz + n * interval '1 hour', gen_random_uuid(), 'e', $2, $3, now(),
            '{"email": "ada@example.com"}', '{"$set": {"email": "ada@example.com"}, "amount": 1}',
            now() + make_interval(secs => $4::int), now() + make_interval(secs => $4::int)
       FROM generate_series(1, $5::int) n`,
    [tenant.environmentId, distinctId, personId, captured, count],
  );
}

async function ask(uuid: string, deletesEvents: boolean): Promise<string> {
  const [deletion] = await fixture.database.transaction((tx) =>
    deletePersons(tx, {
      projectId: tenant.environmentId,
      organizationId: tenant.organizationId,
      uuids: [uuid],
      deletesEvents,
      actor: { userId: tenant.userId },
    }),
  );
  if (deletion === undefined) throw new Error('There was no such person.');
  return deletion.id;
}

/** Repeats the deletion until it is complete. Transactions in other databases of the PostgreSQL server can delay it. */
async function finish(limit?: { events: number; ids: number }): Promise<number> {
  let rounds = 0;
  const isDone = async () => {
    while (await deletePersonData(fixture.database, { limit })) rounds += 1;
    return (await query('SELECT 1 FROM person_deletion WHERE finished_at IS NULL')).length === 0;
  };
  await eventually(isDone, { what: 'The deletion' });
  return rounds;
}

const events = (distinctId: string) =>
  query('SELECT person_id, person_properties, properties FROM event WHERE project_id = $1 AND distinct_id = $2', [
    tenant.environmentId,
    distinctId,
  ]);

async function progressOf(deletionId: string) {
  const [row] = await query('SELECT detail, user_id FROM activity_log WHERE id = $1', [deletionId]);
  return row?.detail.changes[0].after;
}

test("deletes a person's events in batches, but not those of other persons or of a new person with the same ID", async () => {
  const uuid = await storePerson(['ada', 'anonymous', 'third']);
  const next = randomUUID();
  await storeEvents('ada', uuid, { count: 25 });
  await storeEvents('anonymous', randomUUID(), { count: 12 });
  await storeEvents('bob', randomUUID(), { count: 3 });
  const id = await ask(uuid, true);
  expect(await progressOf(id)).toEqual({ status: 'waiting', delete_events: true, events: 0 });
  await storeEvents('ada', next, { captured: 60 });
  await eventually(() => deletePersonData(fixture.database, { limit: { events: 10, ids: 2 } }), {
    what: 'The first portion',
  });
  expect(await progressOf(id)).toMatchObject({ status: 'running' });
  expect(await finish({ events: 10, ids: 2 })).toBeGreaterThan(3);
  expect(await progressOf(id)).toEqual({ status: 'completed', delete_events: true, events: 37 });
  expect(await events('ada')).toMatchObject([{ person_id: next }]);
  expect(await events('anonymous')).toEqual([]);
  expect(await events('bob')).toHaveLength(3);
  const remaining = await query('SELECT distinct_id FROM deleted_distinct_id WHERE deletion_id = $1', [id]);
  expect(remaining).toEqual([{ distinct_id: null }, { distinct_id: null }, { distinct_id: null }]);
});

test("removes a deleted person's data from events if the deletion request asks to keep the events", async () => {
  const uuid = await storePerson(['ada']);
  await storeEvents('ada', uuid, { count: 25 });
  const id = await ask(uuid, false);
  await finish({ events: 10, ids: 2 });
  const rows = await events('ada');
  expect(rows).toHaveLength(25);
  for (const row of rows) expect(row).toEqual({ person_id: uuid, person_properties: {}, properties: { amount: 1 } });
  expect(await progressOf(id)).toEqual({ status: 'completed', delete_events: false, events: 25 });
});

test("deletes only warnings that name one of the person's IDs", async () => {
  const uuid = await storePerson(['ada', 'anonymous']);
  for (const details of [{ distinctId: 'anonymous' }, { eventUuid: 'ada-2', distinctId: 'bob' }]) {
    await query(
      `INSERT INTO ingestion_warning (project_id, id, type, severity, details, timestamp)
       VALUES ($1, gen_random_uuid(), 't', 'error', $2, now() - interval '1 minute')`,
      [tenant.environmentId, details],
    );
  }
  await ask(uuid, false);
  await finish();
  expect(await query('SELECT details FROM ingestion_warning WHERE project_id = $1', [tenant.environmentId])).toEqual([
    { details: { eventUuid: 'ada-2', distinctId: 'bob' } },
  ]);
});

test("delays a person's deletion until an in-flight batch that has read the person ends", async () => {
  const uuid = await storePerson(['ada']);
  await fixture.database.transaction(async (batch) => {
    // Like the consumer's first statement, this assigns a transaction ID.
    await batch.query('SELECT 1 FROM environment WHERE id = $1 FOR UPDATE', [tenant.environmentId]);
    await ask(uuid, true);
    expect(await deletePersonData(fixture.database)).toBe(false);
    await batch.query(
      `INSERT INTO event (project_id, timestamp, uuid, event, distinct_id, person_id, properties, captured_at, created_at)
       VALUES ($1, '2010-01-01', gen_random_uuid(), 'e', 'ada', $2, '{}', now() + interval '1 hour', now() + interval '1 hour')`,
      [tenant.environmentId, uuid],
    );
  });
  expect(await finish()).toBe(1);
  expect(await events('ada')).toEqual([]);
});

test('concurrent workers make progress with deletions, and one request does not delay another', async () => {
  const uuids = [await storePerson(['a']), await storePerson(['b']), await storePerson(['c'])];
  for (const [index, id] of ['a', 'b', 'c'].entries()) await storeEvents(id, uuids[index] ?? '', { count: 30 });
  for (const uuid of uuids) await ask(uuid, true);
  await Promise.all([1, 2, 3].map(() => finish({ events: 5, ids: 2 })));
  for (const id of ['a', 'b', 'c']) expect(await events(id)).toEqual([]);
});

test('deletes the records of deleted IDs, unless an ID was split from a person who still exists', async () => {
  const original = await storePerson(['ada', 'phone']);
  const [phone] = await fixture.database.transaction((tx) =>
    splitPerson(tx, { projectId: tenant.environmentId, uuid: original }, { mainDistinctId: 'ada' }),
  );
  const fresh = phone?.uuid ?? '';
  await ask(await storePerson(['bob']), false);
  await ask(fresh, false);
  await finish();
  const remembered = async () => {
    while (await deleteOldIdRecords(fixture.database.sql, 0));
    return query('SELECT person_uuid FROM deleted_distinct_id WHERE project_id = $1', [tenant.environmentId]);
  };
  expect(await remembered()).toEqual([{ person_uuid: fresh }]);
  await ask(original, false);
  await finish();
  expect(await remembered()).toEqual([]);
});
