import { createTestDatabase, createTestTenant, expectedState, type TestDatabase, writeStory } from '@millrace/testing';
import pg from 'pg';
import { checkState } from './state-check.ts';

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

it('reports every event as lost if no events are stored', async () => {
  const streams = writeStory({ events: 300, people: 5, clients: 2, seed: 7 });
  const { events, persons, groups } = expectedState(streams);
  expect(await checkState(database, streams)).toMatchObject({
    expected: events.size,
    stored: 0,
    lost: events.size,
    duplicated: 0,
    wrong: persons.length + groups.length,
  });
});

it('reports a row whose event was not sent as wrong, and a second row of an event as duplicated', async () => {
  await database.query(
    `INSERT INTO event (project_id, timestamp, uuid, event, distinct_id, person_id, properties, captured_at)
     SELECT $1, timestamp, '00000000-0000-4000-8000-000000000001', 'tick', 'a', gen_random_uuid(), '{}', now()
       FROM unnest('{2026-01-01, 2026-01-02}'::timestamptz[]) AS timestamp`,
    [projectId],
  );
  await database.query(
    `INSERT INTO person (project_id, uuid, created_at, main_distinct_id) VALUES ($1, gen_random_uuid(), now(), 'a')`,
    [projectId],
  );
  expect(await checkState(database, [])).toMatchObject({ expected: 0, lost: 0, duplicated: 1, wrong: 3 });
});
