import { createDatabase, type Database } from '@millrace/db';
import { createTestDatabase, type TestDatabase } from '@millrace/testing';
import type { LogRecord } from './log.ts';
import { advanceOffset, computeRecordFingerprint, lockOffset, readOffset } from './offsets-store.ts';
import { testLogger } from './testing/test-logger.ts';

let testDatabase: TestDatabase;
let database: Database;
beforeAll(async () => {
  testDatabase = await createTestDatabase();
  database = createDatabase({ url: testDatabase.url, logger: testLogger() });
});
afterAll(async () => {
  await database.stop();
  await testDatabase.drop();
});

const key = (topic: string) => ({ topic, partition: 3, group: 'g', log: 'one' });
const record = (offset: bigint): LogRecord => ({
  ...{ offset, key: 'k', value: Buffer.from('v'), headers: {}, appendedAtMs: 1_800_000_000_000 },
});

test('reading a missing offset returns null, and locking it returns 0', async () => {
  expect(await readOffset(database.sql, key('fresh'))).toBeNull();
  expect(await database.transaction((tx) => lockOffset(tx, key('fresh')))).toBe(0n);
});

test('returns a stored offset and fingerprint only for the same partition, group and log', async () => {
  const last = record(9_007_199_254_740_992n);
  await database.transaction(async (tx) => {
    await lockOffset(tx, key('moved'));
    await advanceOffset(tx, key('moved'), last);
  });
  expect(await readOffset(database.sql, key('moved'))).toEqual({
    nextOffset: 9_007_199_254_740_993n,
    lastRecordFingerprint: computeRecordFingerprint(last),
  });
  for (const other of [{ partition: 4 }, { group: 'other' }, { log: 'two' }]) {
    expect(await readOffset(database.sql, { ...key('moved'), ...other })).toBeNull();
  }
});

test('returns no fingerprint for a manually set offset', async () => {
  await database.transaction(async (tx) => {
    await lockOffset(tx, key('set'));
    await advanceOffset(tx, key('set'), record(6n));
  });
  await database.sql.query('UPDATE consumer_offset SET next_offset = 3 WHERE topic = $1', ['set']);
  expect(await readOffset(database.sql, key('set'))).toEqual({ nextOffset: 3n, lastRecordFingerprint: null });
});

test('a second member waits for the lock, and then gets the offset that the first member stored', async () => {
  const seen: bigint[] = [];
  const member = async () =>
    database.transaction(async (tx) => {
      const stored = await lockOffset(tx, key('contested'));
      seen.push(stored);
      await tx.query('SELECT pg_sleep(0.05)');
      await advanceOffset(tx, key('contested'), record(stored + 9n));
    });
  await Promise.all([member(), member(), member()]);
  expect(seen).toEqual([0n, 10n, 20n]);
  // Repeat the test with an existing row.
  await Promise.all([member(), member(), member()]);
  expect(seen).toEqual([0n, 10n, 20n, 30n, 40n, 50n]);
});

test.each<[string, Partial<LogRecord>]>([
  ['offset', { offset: 8n }],
  ['key', { key: 'other' }],
  ['value', { value: Buffer.from('w') }],
  ['time', { appendedAtMs: 1_800_000_000_001 }],
])('records with a different %s have different fingerprints', (_, change) => {
  expect(computeRecordFingerprint({ ...record(7n), ...change })).not.toBe(computeRecordFingerprint(record(7n)));
});
