import { randomUUID } from 'node:crypto';
import type { ProjectChange } from '@millrace/contracts';
import { createDatabase, type Database, type Sql } from '@millrace/db';
import { createMetrics, type Metrics } from '@millrace/runtime';
import { createTestDatabase, createTestTenant, eventually, type TestDatabase } from '@millrace/testing';
import { patientTimeLimits } from '../testing/patient-time-limits.ts';
import { quietLogger } from '../testing/quiet-logger.ts';
import { createProjectKeys, type ProjectKeysOptions } from './project-keys.ts';
import { storeTimeLimits } from './store-limits.ts';

const logger = quietLogger();
let own: TestDatabase;
let database: Database;
let queries: number;
let countingSql: Sql;

beforeAll(async () => {
  own = await createTestDatabase();
  database = createDatabase({ url: own.url, logger, poolSize: 4 });
  countingSql = {
    query(text, values) {
      queries += 1;
      return database.sql.query(text, values);
    },
  };
});
beforeEach(() => {
  queries = 0;
});
afterAll(async () => {
  await database.stop();
  await own.drop();
});

/** Never reports changes, so cached keys are used until they expire. */
const neverChanging = { subscribe: () => {}, isSubscribed: () => true };
function announcedChanges() {
  let announce: (change: ProjectChange | null) => void = () => {};
  return {
    changes: {
      subscribe(onChange: typeof announce) {
        announce = onChange;
      },
      isSubscribed: () => true,
    },
    announce: (...tokens: string[]) => announce({ environmentId: null, tokens, isOfFlags: false }),
    announceAll: () => announce(null),
  };
}
const startKeys = (options: Partial<ProjectKeysOptions> = {}) =>
  createProjectKeys({
    sql: countingSql,
    changes: neverChanging,
    logger,
    metrics: createMetrics({ withProcessMetrics: false }),
    timeLimits: patientTimeLimits,
    ...options,
  });

test("finds an API key's environment and the features of its plan", async () => {
  const keys = startKeys();
  for (const [plan, mayMigrate] of [
    ['full', true],
    ['free', false],
  ] as const) {
    const { token, environmentId } = await createTestTenant(database, { plan });
    expect(await keys.find(token)).toEqual({
      outcome: 'known',
      project: {
        environmentId,
        mayMigrate,
        eventsPerMonth: null,
        eventsPerSecond: null,
        flagRequestsPerMonth: null,
      },
    });
  }
  expect(await keys.find('phc_nobody')).toEqual({ outcome: 'unknown' });
});

test('caches the result of an API key lookup', async () => {
  const { token } = await createTestTenant(database);
  const keys = startKeys();
  await keys.find(token);
  await keys.find('phc_nobody');
  expect(await keys.find(token)).toMatchObject({ outcome: 'known' });
  expect(await keys.find('phc_nobody')).toEqual({ outcome: 'unknown' });
  expect(queries).toBe(2);
});

test('counts API key lookups by source', async () => {
  const { token } = await createTestTenant(database);
  const metrics = createMetrics({ withProcessMetrics: false });
  const isOut = { query: () => Promise.reject(new Error('out')) };
  const first = startKeys({ metrics });
  for (let times = 0; times < 3; times++) await first.find(token);
  await first.find('phc_nobody');
  expect(await countBySource(metrics)).toEqual({ memory: 2, database: 2 });
  const without = createMetrics({ withProcessMetrics: false });
  const second = startKeys({ sql: isOut, metrics: without });
  for (let times = 0; times < 2; times++) expect(await second.find(token)).toEqual({ outcome: 'undetermined' });
  expect(await countBySource(without)).toEqual({ failed: 1, memory: 1 });
});

async function countBySource({ registry }: Metrics): Promise<Record<string, number>> {
  const text = await registry.getSingleMetricAsString('millrace_project_key_lookups_total');
  return Object.fromEntries(
    [...text.matchAll(/source="(\w+)"} (\d+)/g)].map(([, source, count]) => [source, Number(count)]),
  );
}

test('runs one query for many concurrent requests with a new API key', async () => {
  const { token } = await createTestTenant(database);
  const keys = startKeys();
  await Promise.all(Array.from({ length: 50 }, () => keys.find(token)));
  expect(queries).toBe(1);
});

test.each([
  ['one key', 'announce'],
  ['all keys', 'announceAll'],
] as const)('looks an API key up again after a notification about %s', async (_name, how) => {
  const { token, organizationId } = await createTestTenant(database, { plan: 'full' });
  const announced = announcedChanges();
  const keys = startKeys({ changes: announced.changes });
  expect(await keys.find(token)).toMatchObject({ project: { mayMigrate: true } });
  await database.sql.query('UPDATE organization SET available_product_features = $2 WHERE id = $1', [
    organizationId,
    '[]',
  ]);
  announced[how](token);
  expect(await keys.find(token)).toMatchObject({ project: { mayMigrate: false } });
});

test('accepts a rejected API key as soon as its creation is announced', async () => {
  const { changes, announce } = announcedChanges();
  const keys = startKeys({ changes });
  const { token, environmentId } = await createTestTenant(database);
  const later = `phc_${randomUUID()}`;
  expect(await keys.find(later)).toEqual({ outcome: 'unknown' });
  await database.sql.query('UPDATE environment SET api_token = $2 WHERE api_token = $1', [token, later]);
  announce(later);
  expect(await keys.find(later)).toMatchObject({ outcome: 'known', project: { environmentId } });
});

test.each([
  ['of a different key', () => 'phc_another', 1],
  ['of the key itself', (token: string) => token, 2],
])('handles a change %s that is announced during the lookup of an API key', async (_name, changed, expectedQueries) => {
  const { token } = await createTestTenant(database);
  const { changes, announce } = announcedChanges();
  let respond = () => {};
  const released = new Promise<void>((resolve) => {
    respond = resolve;
  });
  const slow: Sql = {
    async query(text, values) {
      const found = await countingSql.query<never>(text, values);
      await released;
      return found;
    },
  };
  const keys = startKeys({ changes, sql: slow });
  const lookup = keys.find(token);
  await eventually(() => queries === 1, { what: 'the query' });
  announce(changed(token));
  respond();
  expect(await lookup).toMatchObject({ outcome: 'known' });
  expect(await keys.find(token)).toMatchObject({ outcome: 'known' });
  expect(queries).toBe(expectedQueries);
});

test('uses an expired cached result while the API key is looked up again', async () => {
  const { token } = await createTestTenant(database);
  const keys = startKeys({ knownForMs: 0 });
  await keys.find(token);
  expect(await keys.find(token)).toMatchObject({ outcome: 'known' });
});

test('accepts an API key that is not cached while the database is down, and finds it afterwards', async () => {
  const { token } = await createTestTenant(database);
  let isDown = true;
  const sql: Sql = {
    query: (text, values) => (isDown ? Promise.reject(new Error('down')) : database.sql.query(text, values)),
  };
  const keys = startKeys({ sql });
  expect(await keys.find(token)).toEqual({ outcome: 'undetermined' });
  isDown = false;
  await eventually(async () => expect(await keys.find(token)).toMatchObject({ outcome: 'known' }), {
    what: 'the key being found after the database is back',
  });
});

test('rejects many unknown API keys that arrive at the same time', async () => {
  const keys = startKeys();
  const lookups = Array.from({ length: 200 }, (_, index) => keys.find(`phc_nobody_${index}`));
  expect(new Set((await Promise.all(lookups)).map(({ outcome }) => outcome))).toEqual(new Set(['unknown']));
});

test('tells clients to retry if a slow database cannot look up all new API keys', async () => {
  const metrics = createMetrics({ withProcessMetrics: false });
  let respond = () => {};
  let release = Promise.resolve();
  const slow: Sql = {
    async query(text, values) {
      await release;
      return database.sql.query(text, values);
    },
  };
  const timeLimits = { ...patientTimeLimits, keyQueueMs: storeTimeLimits.keyQueueMs };
  const keys = startKeys({ sql: slow, metrics, timeLimits });
  const { token } = await createTestTenant(database);
  expect(await keys.find(token)).toMatchObject({ outcome: 'known' });
  release = new Promise((resolve) => {
    respond = resolve;
  });
  const lookups = Array.from({ length: 200 }, (_, index) => keys.find(`phc_nobody_${index}`));
  const [running, waiting] = [lookups.slice(0, 3), lookups.slice(3)];
  expect(new Set((await Promise.all(waiting)).map(({ outcome }) => outcome))).toEqual(new Set(['busy']));
  respond();
  expect(new Set((await Promise.all(running)).map(({ outcome }) => outcome))).toEqual(new Set(['unknown']));
  expect(await keys.find(token)).toMatchObject({ outcome: 'known' });
  expect((await countBySource(metrics)).busy).toBeGreaterThan(0);
  // A lookup that failed because the database was busy must not be cached.
  await eventually(async () => expect(await keys.find('phc_nobody_199')).toEqual({ outcome: 'unknown' }), {
    what: 'the key being looked up',
  });
});

test('does not treat a slow database as an outage, and caches no failed lookup', async () => {
  const metrics = createMetrics({ withProcessMetrics: false });
  let isSilent = true;
  const sql: Sql = {
    query: (text, values) => (isSilent ? new Promise(() => {}) : database.sql.query(text, values)),
  };
  const keys = startKeys({ sql, metrics, timeLimits: { ...patientTimeLimits, keyMs: 50 } });
  for (let times = 0; times < 2; times++) expect(await keys.find('phc_nobody')).toEqual({ outcome: 'busy' });
  expect(await countBySource(metrics)).toEqual({ slow: 2 });
  isSilent = false;
  expect(await keys.find('phc_nobody')).toEqual({ outcome: 'unknown' });
});

test('waiting API key lookups fail as soon as the database fails', async () => {
  const sql: Sql = { query: () => Promise.reject(new Error('down')) };
  const keys = startKeys({ sql });
  const lookups = Array.from({ length: 100 }, (_, index) => keys.find(`phc_nobody_${index}`));
  const outcomes = new Set((await Promise.all(lookups)).map(({ outcome }) => outcome));
  expect(outcomes).toEqual(new Set(['undetermined']));
});

test('without the database, accepts known API keys, and only the first request waits', async () => {
  const { token } = await createTestTenant(database);
  let isDown = false;
  const sql: Sql = {
    query(text, values) {
      queries += 1;
      return isDown ? Promise.reject(new Error('down')) : database.sql.query(text, values);
    },
  };
  const keys = startKeys({ sql, knownForMs: 0, refreshInBackgroundForMs: 0 });
  const known = await keys.find(token);
  isDown = true;
  expect(await keys.find(token)).toEqual(known);
  expect(await keys.find(token)).toEqual(known);
  expect(queries).toBe(2);
});
