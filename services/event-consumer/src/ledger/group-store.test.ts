import type { Transaction } from '@millrace/db';
import { LedgerConflict } from '../failures.ts';
import { type ConsumerFixture, createConsumerFixture } from '../testing/consumer-fixture.ts';
import { insertGroups, insertGroupTypes, lockGroups, readGroupTypes, updateGroups } from './group-store.ts';

let fixture: ConsumerFixture;
beforeAll(async () => {
  fixture = await createConsumerFixture();
});
afterAll(() => fixture.stop());

let projectId = 1000;
beforeEach(() => {
  projectId += 1;
});

const inTransaction = <T>(work: (tx: Transaction) => Promise<T>) => fixture.database.transaction(work);
const createdAtMs = Date.parse('2021-05-06T07:08:09.010Z');
const group = (index: number, key: string, properties = {}) => ({
  projectId,
  index,
  key,
  properties,
  version: 1,
  createdAtMs,
});

test('reads group types and their indexes only for the given projects', async () => {
  const types = [
    { projectId, type: 'company', index: 0, createdAtMs },
    { projectId, type: 'Ünit "x"', index: 1, createdAtMs },
  ];
  await inTransaction((tx) =>
    insertGroupTypes(tx, [...types, { ...types[0], projectId: projectId + 500_000 } as never]),
  );
  expect(await inTransaction((tx) => readGroupTypes(tx, [projectId]))).toEqual(expect.arrayContaining(types));
  expect(await inTransaction((tx) => readGroupTypes(tx, [projectId]))).toHaveLength(2);
});

test.each([
  ['the index was taken by another type', { type: 'team', index: 0 }],
  ['the type was added at another index', { type: 'company', index: 1 }],
])('reports a conflict for a new group type when %s', async (_, { type, index }) => {
  await inTransaction((tx) => insertGroupTypes(tx, [{ projectId, type: 'company', index: 0, createdAtMs }]));
  await expect(inTransaction((tx) => insertGroupTypes(tx, [{ projectId, type, index, createdAtMs }]))).rejects.toThrow(
    LedgerConflict,
  );
});

test('distinguishes groups by type index and key, and reads them back as they were written', async () => {
  const groups = [group(0, 'k', { a: 1 }), group(1, 'k', { b: [2, null] }), group(0, '{"odd"}, \\', {})];
  await inTransaction((tx) => insertGroups(tx, groups));
  const read = await inTransaction((tx) => lockGroups(tx, [...groups, group(4, 'absent')]));
  expect(read).toHaveLength(3);
  expect(read).toEqual(expect.arrayContaining(groups));
});

test('reports a conflict when inserting a group that exists', async () => {
  await inTransaction((tx) => insertGroups(tx, [group(0, 'k')]));
  await expect(inTransaction((tx) => insertGroups(tx, [group(0, 'new'), group(0, 'k')]))).rejects.toThrow(
    LedgerConflict,
  );
  expect(await inTransaction((tx) => lockGroups(tx, [group(0, 'new')]))).toEqual([]);
});

test('writes all columns of changed groups, and no other groups', async () => {
  const [a, b] = [group(0, 'a', { old: true }), group(0, 'b', { same: true })];
  await inTransaction((tx) => insertGroups(tx, [a, b]));
  const changed = { ...a, properties: { new: 1 }, version: 2, createdAtMs: createdAtMs - 1000 };
  await inTransaction((tx) => updateGroups(tx, [changed]));
  expect(await inTransaction((tx) => lockGroups(tx, [a, b]))).toEqual(expect.arrayContaining([changed, b]));
});

test('makes other transactions wait while a group is locked', async () => {
  await inTransaction((tx) => insertGroups(tx, [group(0, 'k')]));
  await inTransaction(async (tx) => {
    await lockGroups(tx, [group(0, 'k')]);
    await expect(
      inTransaction(async (other) => {
        await other.query(`SET LOCAL lock_timeout = '50ms'`);
        await lockGroups(other, [group(0, 'k')]);
      }),
    ).rejects.toMatchObject({ code: '55P03' });
  });
});
