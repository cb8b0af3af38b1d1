/**
 * These tests check which results are cached for each refresh mode and age, and how a project's query slots are used.
 */

import { createDatabase, createReadPool, type Database } from '@millrace/db';
import { createEventStore, createPostgresEngine } from '@millrace/insights';
import { AppError, createLogger } from '@millrace/runtime';
import { createInProcessStore, type KeyValueStore } from '@millrace/runtime/cache';
import { createTestDatabase, createTestTenant, eventually, type TestTenant } from '@millrace/testing';
import type { AddressedProject } from '../../access/addressed-store.ts';
import { createSearches } from '../../access/searches.ts';
import { lockTable } from '../../testing/lock-table.ts';
import { createMonths } from '../../testing/stored-data.ts';
import { createQueryRunner, type QueryCaller, type QueryRunner, type RefreshMode } from './query-runner.ts';

let database: Database;
let url: string;
let own: TestTenant;
let keyValue: KeyValueStore;
let queryRunner: QueryRunner;
let queryCaller: QueryCaller;
const ends: (() => Promise<void>)[] = [];
const logger = createLogger('test', 'error');
beforeAll(async () => {
  const testDatabase = await createTestDatabase();
  ends.push(() => testDatabase.drop());
  ({ url } = testDatabase);
  database = createDatabase({ url, logger, poolSize: 3 });
  ends.push(() => database.stop());
  own = await createTestTenant(database);
  await createMonths(database.sql, '2026-11', '2026-12');
  keyValue = createInProcessStore();
  queryRunner = openQueryRunner(keyValue);
  queryCaller = {
    caller: { credential: { kind: 'key', id: '1' } as QueryCaller['caller']['credential'] },
    target: {
      environmentId: own.environmentId,
      organizationId: own.organizationId,
      rights: { userId: own.userId, rules: null },
    } as AddressedProject,
  };
});
afterAll(async () => {
  for (const end of ends.reverse()) await end();
});

/** Simulates another process that uses the same store. */
function openQueryRunner(store: KeyValueStore, maxMs = 20_000): QueryRunner {
  const { sql } = database;
  const reader = createReadPool({ url, logger, poolSize: 4 });
  ends.push(() => reader.stop());
  const one = createQueryRunner({
    ...{ sql, keyValue: store, logger, maxMs },
    events: createEventStore(createPostgresEngine(reader)),
    searches: createSearches({ sql, connections: 4 }),
  });
  ends.push(() => one.stop());
  return one;
}

const signal = new AbortController().signal;
let asked = 0;
/** Creates a query that has never been run. @param isOver whether the query's date range has ended */
function newQuery(interval: string, isOver = false) {
  asked += 1;
  return {
    ...{ kind: 'TrendsQuery', interval, series: [{ kind: 'EventsNode', event: `event ${asked}` }] },
    dateRange: isOver ? { date_from: '2026-11-10', date_to: '2026-11-12' } : { date_from: '-2d' },
  };
}
const begin = new Date('2026-11-20T12:00:00Z');
const after = (hours: number) => new Date(begin.getTime() + hours * 3_600_000 + 1000);

test.each<[string, RefreshMode, string, number | null, string]>([
  ['insight-218', 'blocking', 'day', null, 'computed'],
  ['insight-219', 'blocking', 'day', 5, 'cached'],
  ['insight-220', 'force_blocking', 'day', 0, 'computed'],
  ['insight-221', 'blocking', 'day', 6, 'computed'],
  ['insight-222', 'force_cache', 'day', 6, 'cached'],
  ['an hour', 'blocking', 'hour', 0.9, 'cached'],
  ['an hour', 'blocking', 'hour', 1, 'computed'],
  ['minutes', 'blocking', 'minute', 0.1, 'computed'],
  ['a week', 'blocking', 'week', 23, 'cached'],
  ['a month', 'blocking', 'month', 47, 'cached'],
  ['a month', 'blocking', 'month', 48, 'computed'],
  ['nothing is cached', 'force_cache', 'day', null, 'nothing'],
  ['nothing is cached', 'async', 'day', null, 'background'],
  ['fresh', 'async', 'day', 5, 'cached'],
  ['stale', 'async', 'day', 7, 'cached, background'],
  ['nothing is cached', 'lazy_async', 'day', null, 'background'],
  ['stale', 'lazy_async', 'day', 7, 'cached'],
  ['old', 'lazy_async', 'day', 12, 'cached, background'],
  ['nothing is cached', 'async_except_on_cache_miss', 'day', null, 'computed'],
  ['stale', 'async_except_on_cache_miss', 'day', 7, 'cached, background'],
  ['fresh', 'force_async', 'day', 1, 'background'],
])(
  '%s: handles refresh=%s for the interval %s with a result of age %s hours: %s',
  async (_, refresh, interval, hours, expected) => {
    const query = newQuery(interval);
    if (hours !== null) await queryRunner.run(queryCaller, { query, refresh: 'force_blocking', signal, now: begin });
    const { result, status } = await queryRunner.run(queryCaller, { query, refresh, signal, now: after(hours ?? 0) });
    const found = result && (result.is_cached ? 'cached' : 'computed');
    expect([found, status && 'background'].filter(Boolean).join(', ') || 'nothing').toBe(expected);
  },
);

test.each<[string, number, string]>([
  ['insight-223: still fresh', 7, 'cached'],
  ['insight-223: stale after a day, because of late events', 24, 'computed'],
])('keeps a result fresh for a day if its date range has ended: %s', async (_, hours, expected) => {
  const query = newQuery('day', true);
  await queryRunner.run(queryCaller, { query, refresh: 'blocking', signal, now: begin });
  const { result } = await queryRunner.run(queryCaller, { query, refresh: 'blocking', signal, now: after(hours) });
  expect(result?.is_cached ? 'cached' : 'computed').toBe(expected);
});

test.each<[string, object, number]>([
  ['a range of a week', { dateRange: { date_from: '2026-11-10', date_to: '2026-11-16' } }, 3],
  ['a range of eight days', { dateRange: { date_from: '2026-11-10', date_to: '2026-11-17' } }, 15],
  ['hours', { interval: 'hour', dateRange: { date_from: '2026-11-01', date_to: '2026-11-17' } }, 3],
  ['minutes', { interval: 'minute', dateRange: { date_from: '-1h' } }, 1],
  ['events', { kind: 'EventsQuery', select: ['event'], series: undefined }, 1],
])('returns the time after which clients should request a newer result: %s', async (_, more, minutes) => {
  const { dateRange, interval, ...query } = newQuery('day');
  const asked = JSON.parse(JSON.stringify({ ...query, ...more }));
  const { result } = await queryRunner.run(queryCaller, { query: asked, refresh: 'blocking', signal, now: begin });
  const next = Date.parse(result?.next_allowed_client_refresh ?? '') - Date.parse(result?.last_refresh ?? '');
  expect(next / 60_000).toBe(minutes);
});

test('insight-222: with force_cache, returns even an old cached result', async () => {
  const query = newQuery('day');
  const { result: first } = await queryRunner.run(queryCaller, { query, refresh: 'blocking', signal, now: begin });
  const { result } = await queryRunner.run(queryCaller, { query, refresh: 'force_cache', signal, now: after(100) });
  expect(result).toEqual({ ...first, is_cached: true });
});

test('insight-238: does not cache the error of a failed query', async () => {
  const query = { ...newQuery('day'), interval: 'fortnight' };
  await expect(queryRunner.run(queryCaller, { query, refresh: 'blocking', signal })).rejects.toMatchObject({
    kind: 'invalid',
  });
  expect(await queryRunner.run(queryCaller, { query, refresh: 'force_cache', signal })).toMatchObject({ result: null });
});

test('insight-234: runs at most three queries per project across all processes, and rejects a fourth after a wait', async () => {
  const slots = () =>
    Promise.all(
      [1, 2, 3].map(async (slot) => (await keyValue.get(`query slot:${own.environmentId}:${slot}`)) !== null),
    );
  // Background runs that previous tests started may still hold slots.
  await eventually(async () => expect(await slots()).toEqual([false, false, false]));
  const others = openQueryRunner(keyValue);
  const lock = await lockTable(database, 'event');
  const ask = (of: QueryRunner, until = signal) =>
    of.run(queryCaller, { query: newQuery('day'), refresh: 'blocking', signal: until });
  const running = [ask(queryRunner), ask(queryRunner), ask(others)];
  await eventually(async () => expect(await slots()).toEqual([true, true, true]));
  const leaving = new AbortController();
  const left = ask(others, leaving.signal);
  leaving.abort(new Error('left'));
  await expect(left).rejects.toThrow('left');
  await expect(ask(queryRunner)).rejects.toMatchObject({
    kind: 'rate_limited',
    code: 'too_many_queries',
    retryAfterSeconds: 2,
  });
  await lock.release();
  await Promise.all(running);
  expect(await slots()).toEqual([false, false, false]);
  await ask(others);
});

test('runs identical concurrent queries only once, and stops when no caller waits for the result anymore', async () => {
  let reads = 0;
  const shared = openQueryRunner({
    ...keyValue,
    async get(key) {
      const value = await keyValue.get(key);
      reads += 1;
      return value;
    },
  });
  const lock = await lockTable(database, 'event');
  const query = newQuery('day');
  const ask = (until: AbortSignal, now: Date) =>
    shared.run(queryCaller, { query, refresh: 'blocking', signal: until, now });
  const [leaving, alsoLeaving] = [new AbortController(), new AbortController()];
  const first = ask(leaving.signal, begin);
  const waitingQueries = () =>
    database.sql.query(
      "SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND query LIKE '%FROM event e%' AND wait_event_type = 'Lock'",
    );
  await eventually(async () => expect(await waitingQueries()).toHaveLength(1));
  const others = [ask(signal, after(1)), ask(alsoLeaving.signal, after(2))] as const;
  await eventually(async () => expect(reads).toBe(3));
  leaving.abort(new Error('left'));
  await expect(first).rejects.toThrow('left');
  alsoLeaving.abort(new Error('left too'));
  await expect(others[1]).rejects.toThrow('left too');
  expect(await waitingQueries()).toHaveLength(1);
  await lock.release();
  const { result } = await others[0];
  expect(result?.is_cached).toBe(false);
  expect(Date.parse(result?.last_refresh ?? '')).toBe(begin.getTime());
});

test('uses only the old or only the new project settings if they change while a query waits', async () => {
  const setZone = (timezone: string) =>
    database.sql.query('UPDATE environment SET timezone = $2 WHERE id = $1', [own.environmentId, timezone]);
  const waiting = openQueryRunner({
    ...keyValue,
    setIfAbsent: async (...slot) => {
      await setZone('Asia/Tokyo');
      return keyValue.setIfAbsent(...slot);
    },
  });
  const runOptions = { query: newQuery('day'), refresh: 'blocking', signal } as const;
  expect((await waiting.run(queryCaller, runOptions)).result).toMatchObject({ timezone: 'UTC', is_cached: false });
  expect((await queryRunner.run(queryCaller, runOptions)).result).toMatchObject({
    timezone: 'Asia/Tokyo',
    is_cached: false,
  });
  await setZone('UTC');
  expect((await queryRunner.run(queryCaller, runOptions)).result).toMatchObject({ timezone: 'UTC', is_cached: true });
});

test('insight-235: cancels a query that exceeds its time limit, returns an error, and runs the next query', async () => {
  const hasty = openQueryRunner(keyValue, 700);
  const lock = await lockTable(database, 'event');
  const query = newQuery('day');
  const late = await hasty.run(queryCaller, { query, refresh: 'blocking', signal }).catch((error: unknown) => error);
  const running =
    "SELECT count(*)::int AS count FROM pg_stat_activity WHERE datname = current_database() AND query LIKE '%FROM event e%' AND state = 'active'";
  await eventually(async () => {
    expect(await database.sql.query(`${running} AND pid <> pg_backend_pid()`)).toEqual([{ count: 0 }]);
  });
  await lock.release();
  expect(late).toMatchObject({
    ...{ kind: 'invalid', code: 'query_timeout', attr: 'query' },
    message: expect.stringMatching(/^The query takes more than 1 second\. Use a shorter date range/),
  });
  expect((await hasty.run(queryCaller, { query, refresh: 'blocking', signal })).result).toMatchObject({
    is_cached: false,
  });
});

test('computes every result without a cache if the store is unavailable', async () => {
  const away = createInProcessStore();
  const fail = () => Promise.reject(new AppError('unavailable', 'The cache does not answer.'));
  const one = openQueryRunner({ ...away, get: fail, set: fail, setIfAbsent: fail, delete: fail });
  const query = newQuery('day');
  for (let time = 0; time < 2; time += 1) {
    const { result } = await one.run(queryCaller, { query, refresh: 'blocking', signal });
    expect(result?.is_cached).toBe(false);
  }
  await expect(one.run(queryCaller, { query, refresh: 'async', signal })).rejects.toMatchObject({
    kind: 'unavailable',
  });
});

test('reports that a background query was lost if its process crashed', async () => {
  const { status } = await queryRunner.run(queryCaller, { query: newQuery('day'), refresh: 'force_async', signal });
  const id = status?.id ?? '';
  await eventually(async () => expect((await queryRunner.status(queryCaller.target, id))?.complete).toBe(true));
  const start_time = new Date(Date.now() - 60_000).toISOString();
  const kept = { ...status, id: 'lost', start_time };
  await keyValue.set(`query status:${own.environmentId}:${own.userId}:lost`, JSON.stringify(kept), 60);
  expect(await queryRunner.status(queryCaller.target, 'lost')).toMatchObject({
    ...{
      complete: true,
      error: true,
      error_message: 'The process that ran the query has exited. Run the query again.',
    },
  });
});
