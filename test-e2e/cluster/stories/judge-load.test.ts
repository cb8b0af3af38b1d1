import { createTestDatabase, createTestTenant, type TestDatabase } from '@millrace/testing';
import pg from 'pg';
import { type ClientLoad, compareEvents } from './judge-load.ts';

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
  await database.query('TRUNCATE event');
});

interface Stored {
  distinctId: string;
  number?: number;
  timestamp?: string;
  createdAt?: string;
}

async function store(
  uuid: string,
  { distinctId, number = 1, timestamp = '2026-01-01', createdAt = '2026-01-01' }: Stored,
) {
  await database.query(
    `INSERT INTO event (project_id, timestamp, uuid, event, distinct_id, person_id, properties, captured_at, created_at)
     VALUES ($1, $2, $3, 'tick', $4, gen_random_uuid(), $5, now(), $6)`,
    [projectId, timestamp, uuid, distinctId, { number }, createdAt],
  );
}

const [first = '', second = '', third = ''] = [1, 2, 3].map((n) => `00000000-0000-4000-8000-00000000000${n}`);
const loadOf = (...uuids: string[]): ClientLoad => ({
  sent: new Set(uuids),
  acknowledged: new Set(uuids),
  refused: 4,
  lastAcknowledgedAt: [],
  longestGapMs: 0,
  stop: async () => {},
});

it('counts stored, lost and duplicated events', async () => {
  await store(first, { distinctId: 'phase-1' });
  await store(second, { distinctId: 'phase-1' });
  await store(second, { distinctId: 'phase-1', timestamp: '2026-01-02' });
  expect(await compareEvents(loadOf(first, second, third), database, { name: 'phase', patienceMs: 100 })).toEqual({
    acknowledged: 3,
    refused: 4,
    stored: 2,
    lost: 1,
    doubled: 1,
    misordered: 0,
  });
});

it('counts events that took effect before an earlier event', async () => {
  await store(first, { distinctId: 'phase-1', number: 1, createdAt: '2026-01-01T00:00:02Z' });
  await store(second, { distinctId: 'phase-1', number: 2, createdAt: '2026-01-01T00:00:01Z' });
  await store(third, { distinctId: 'phase-2', number: 1, createdAt: '2026-01-01T00:00:00Z' });
  const judge = (name: string) => compareEvents(loadOf(first), database, { name, patienceMs: 100 });
  expect((await judge('phase')).misordered).toBe(1);
  expect((await judge('other')).misordered).toBe(0);
});
