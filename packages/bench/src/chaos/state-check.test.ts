import { createTestDatabase, createTestTenant, expectedState, type TestDatabase, writeStory } from '@millrace/testing';
import pg from 'pg';
import { awaitStored, checkState, misorderedEvents } from './state-check.ts';

/** A checker that cannot find anything proves nothing: each kind of fault is put into a database and must be seen. */
let testDatabase: TestDatabase;
let database: pg.Pool;
let projectId: number;

beforeAll(async () => {
  testDatabase = await createTestDatabase();
  database = new pg.Pool({ connectionString: testDatabase.url, max: 2 });
  ({ projectId } = await createTestTenant(testDatabase.url));
  await database.query('CREATE TABLE event_any PARTITION OF event DEFAULT');
});
afterAll(async () => {
  await database.end();
  await testDatabase.drop();
});
beforeEach(async () => {
  await database.query('TRUNCATE event, person, person_distinct_id, "group"');
});

async function store(
  uuid: string,
  distinctId: string,
  more: { number?: number; timestamp?: string; createdAt?: string },
) {
  const { number = 1, timestamp = '2026-01-01T00:00:00Z', createdAt = '2026-01-01T00:00:00Z' } = more;
  await database.query(
    `INSERT INTO event (project_id, timestamp, uuid, event, distinct_id, person_id, properties, captured_at, created_at)
     VALUES ($1, $2, $3, 'tick', $4, gen_random_uuid(), $5, now(), $6)`,
    [projectId, timestamp, uuid, distinctId, { number }, createdAt],
  );
}

const [first, second, third] = [1, 2, 3].map((n) => `00000000-0000-4000-8000-00000000000${n}`) as [
  string,
  string,
  string,
];

test('of a story of which nothing is stored everything is missing', async () => {
  const streams = writeStory({ events: 300, people: 5, clients: 2, seed: 7 });
  const { events, persons, groups } = expectedState(streams);
  expect(await checkState(database, streams)).toMatchObject({
    ...{ expected: events.size, stored: 0, lost: events.size, doubled: 0, wrong: persons.length + groups.length },
  });
});

test('what nobody sent is wrong, and twice the same event is doubled', async () => {
  await store(first, 'a', {});
  await store(first, 'a', { timestamp: '2026-01-02T00:00:00Z' });
  await database.query(
    `INSERT INTO person (project_id, uuid, created_at, main_distinct_id) VALUES ($1, gen_random_uuid(), now(), 'a')`,
    [projectId],
  );
  expect(await checkState(database, [])).toMatchObject({ expected: 0, lost: 0, doubled: 1, wrong: 3 });
});

test('what is missing, and how often the rest is stored, is told after some patience', async () => {
  await store(first, 'a', {});
  await store(second, 'a', {});
  await store(second, 'a', { timestamp: '2026-01-02T00:00:00Z' });
  const stored = await awaitStored(database, new Set([first, second, third]), { patienceMs: 100 });
  expect([first, second, third].map((uuid) => stored.get(uuid))).toEqual([1, 2, undefined]);
});

test('an event that took effect before the one that was sent before it is misordered', async () => {
  await store(first, 'phase-1', { number: 1, createdAt: '2026-01-01T00:00:02Z' });
  await store(second, 'phase-1', { number: 2, createdAt: '2026-01-01T00:00:01Z' });
  await store(third, 'phase-2', { number: 1, createdAt: '2026-01-01T00:00:00Z' });
  expect(await misorderedEvents(database, 'phase')).toBe(1);
  expect(await misorderedEvents(database, 'other')).toBe(0);
});
