import { type ConsumerBed, createConsumerBed } from '../testing/consumer-bed.ts';
import { advanceOffset, lockOffset, readOffset } from './offset-store.ts';

let bed: ConsumerBed;
beforeAll(async () => {
  bed = await createConsumerBed();
});
afterAll(() => bed.stop());

const key = (topic: string) => ({ topic, partition: 3, group: 'g' });

test('nothing stored reads as null and locks as 0', async () => {
  expect(await readOffset(bed.database.sql, key('fresh'))).toBeNull();
  expect(await bed.database.transaction((tx) => lockOffset(tx, key('fresh')))).toBe(0n);
});

test('an advanced offset is read back, beyond 32 bits too, and only for its own partition and group', async () => {
  await bed.database.transaction(async (tx) => {
    await lockOffset(tx, key('moved'));
    await advanceOffset(tx, key('moved'), 9_007_199_254_740_993n);
  });
  expect(await readOffset(bed.database.sql, key('moved'))).toBe(9_007_199_254_740_993n);
  expect(await readOffset(bed.database.sql, { ...key('moved'), partition: 4 })).toBeNull();
  expect(await readOffset(bed.database.sql, { ...key('moved'), group: 'other' })).toBeNull();
});

test('the second of two members waits and then sees what the first stored', async () => {
  const seen: bigint[] = [];
  const member = async () =>
    bed.database.transaction(async (tx) => {
      const stored = await lockOffset(tx, key('contested'));
      seen.push(stored);
      await tx.query('SELECT pg_sleep(0.05)');
      await advanceOffset(tx, key('contested'), stored + 10n);
    });
  await Promise.all([member(), member(), member()]);
  expect(seen).toEqual([0n, 10n, 20n]);
  // The same once the row is there.
  await Promise.all([member(), member(), member()]);
  expect(seen).toEqual([0n, 10n, 20n, 30n, 40n, 50n]);
});
