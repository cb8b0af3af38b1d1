import { randomUUID } from 'node:crypto';
import type { Transaction } from '@millrace/db';
import { LedgerConflict } from '../failures.ts';
import { type ConsumerFixture, createConsumerFixture } from '../testing/consumer-fixture.ts';
import {
  deletePersons,
  insertMappings,
  insertPersons,
  lockPersonsOf,
  lockVersions,
  moveMappings,
  readMappings,
  type StoredPerson,
  updatePersons,
} from './store.ts';

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

function person(overrides: Partial<StoredPerson> = {}): StoredPerson {
  return {
    projectId,
    uuid: randomUUID(),
    mainDistinctId: 'main',
    properties: {},
    isIdentified: false,
    version: 0,
    createdAtMs: Date.parse('2020-01-01T00:00:00.123Z'),
    ...overrides,
  };
}

const mapping = (distinctId: string, personUuid: string, version = 0) => ({
  projectId,
  distinctId,
  personUuid,
  version,
});
const ids = (...distinctIds: string[]) => distinctIds.map((distinctId) => ({ projectId, distinctId }));

test('reads a person back as it was written', async () => {
  const written = person({
    mainDistinctId: 'naïve "id" \\ \'x\' 🦊',
    properties: { text: 'a\n"b"', number: 1.5e-7, big: 9007199254740991, list: [1, { deep: null }], empty: {} },
    isIdentified: true,
    version: 7,
  });
  await inTransaction(async (tx) => {
    await insertPersons(tx, [written]);
    await insertMappings(tx, [
      mapping('naïve "id" \\ \'x\' 🦊', written.uuid, 3),
      mapping('{odd,"array",NULL}', written.uuid),
    ]);
  });
  const read = await inTransaction((tx) =>
    readMappings(tx, ids('naïve "id" \\ \'x\' 🦊', '{odd,"array",NULL}', 'unknown')),
  );
  expect(read.mappings).toHaveLength(2);
  expect(read.mappings).toContainEqual(mapping('naïve "id" \\ \'x\' 🦊', written.uuid, 3));
  expect(read.mappings).toContainEqual(mapping('{odd,"array",NULL}', written.uuid));
  expect(read.persons).toEqual([written]);
});

test('treats the same distinct ID in two projects as different persons', async () => {
  const mine = person();
  await inTransaction(async (tx) => {
    await insertPersons(tx, [mine, person({ projectId: projectId + 500_000 })]);
    await insertMappings(tx, [mapping('shared', mine.uuid)]);
  });
  expect(
    await inTransaction((tx) => readMappings(tx, [{ projectId: projectId + 500_000, distinctId: 'shared' }])),
  ).toEqual({ mappings: [], persons: [] });
});

test('reports a conflict when inserting a row that exists, and changes nothing', async () => {
  const first = person();
  await inTransaction(async (tx) => {
    await insertPersons(tx, [first]);
    await insertMappings(tx, [mapping('taken', first.uuid)]);
  });
  const other = person();
  await expect(inTransaction((tx) => insertPersons(tx, [other, first]))).rejects.toThrow(LedgerConflict);
  await expect(
    inTransaction((tx) => insertMappings(tx, [mapping('free', other.uuid), mapping('taken', other.uuid)])),
  ).rejects.toThrow(LedgerConflict);
  const read = await inTransaction((tx) => readMappings(tx, ids('taken', 'free')));
  expect(read.mappings.map(({ distinctId, personUuid }) => [distinctId, personUuid])).toEqual([['taken', first.uuid]]);
});

test('reports a conflict for a person that is missing or whose version has changed', async () => {
  const [a, b] = [person({ version: 4 }), person({ version: 9 })];
  await inTransaction((tx) => insertPersons(tx, [a, b]));
  await inTransaction((tx) => lockVersions(tx, [a, b]));
  await expect(inTransaction((tx) => lockVersions(tx, [a, { ...b, version: 8 }]))).rejects.toThrow(LedgerConflict);
  await inTransaction((tx) => deletePersons(tx, [{ ...b, survivorUuid: a.uuid, moves: 1 }]));
  await expect(inTransaction((tx) => lockVersions(tx, [a, b]))).rejects.toThrow(LedgerConflict);
});

test('locking a person waits for another writer and then reads the version that it wrote', async () => {
  const contested = person({ version: 1 });
  await inTransaction((tx) => insertPersons(tx, [contested]));
  let release: () => void = () => {};
  const released = new Promise<void>((resolve) => {
    release = resolve;
  });
  let isLocked: () => void = () => {};
  const locked = new Promise<void>((resolve) => {
    isLocked = resolve;
  });
  const writer = inTransaction(async (tx) => {
    await lockVersions(tx, [contested]);
    isLocked();
    await released;
    await updatePersons(tx, [{ ...contested, version: 2 }]);
  });
  await locked;
  const loser = inTransaction((tx) => lockVersions(tx, [contested]));
  const outcome = loser.then(
    () => 'not moved',
    (error: unknown) => error,
  );
  release();
  await writer;
  expect(await outcome).toBeInstanceOf(LedgerConflict);
});

test('persons that are locked before reading cannot change until the transaction ends', async () => {
  const held = person();
  await inTransaction(async (tx) => {
    await insertPersons(tx, [held]);
    await insertMappings(tx, [mapping('held', held.uuid)]);
  });
  await inTransaction(async (tx) => {
    await lockPersonsOf(tx, ids('held', 'unknown'), []);
    await expect(
      inTransaction(async (other) => {
        await other.query(`SET LOCAL lock_timeout = '50ms'`);
        await lockVersions(other, [held]);
      }),
    ).rejects.toMatchObject({ code: '55P03' });
  });
});

test('writes all columns of changed persons', async () => {
  const [a, b] = [person({ properties: { old: 1 } }), person()];
  await inTransaction(async (tx) => {
    await insertPersons(tx, [a, b]);
    await insertMappings(tx, [mapping('a', a.uuid), mapping('b', b.uuid)]);
  });
  const changed = {
    ...a,
    properties: { new: 2 },
    mainDistinctId: 'a2',
    isIdentified: true,
    version: 5,
    createdAtMs: 1_000_000_000_001,
  };
  await inTransaction((tx) => updatePersons(tx, [changed]));
  const read = await inTransaction((tx) => readMappings(tx, ids('a', 'b')));
  expect(read.persons).toEqual(expect.arrayContaining([changed, b]));
});

test("deletes merged persons, and increases their IDs' versions by the number of moves", async () => {
  const [survivor, once, twice] = [person(), person(), person()];
  await inTransaction(async (tx) => {
    await insertPersons(tx, [survivor, once, twice]);
    await insertMappings(tx, [
      mapping('s', survivor.uuid),
      mapping('o1', once.uuid, 0),
      mapping('o2', once.uuid, 4),
      mapping('t', twice.uuid, 1),
    ]);
  });
  const merged = [
    { projectId, uuid: once.uuid, survivorUuid: survivor.uuid, moves: 1 },
    { projectId, uuid: twice.uuid, survivorUuid: survivor.uuid, moves: 2 },
  ];
  await inTransaction(async (tx) => {
    await moveMappings(tx, merged);
    await deletePersons(tx, merged);
  });
  const read = await inTransaction((tx) => readMappings(tx, ids('s', 'o1', 'o2', 't')));
  expect(Object.fromEntries(read.mappings.map((m) => [m.distinctId, [m.personUuid, m.version]]))).toEqual({
    s: [survivor.uuid, 0],
    o1: [survivor.uuid, 1],
    o2: [survivor.uuid, 5],
    t: [survivor.uuid, 3],
  });
  const persons = await fixture.database.sql.query('SELECT uuid FROM person WHERE project_id = $1', [projectId]);
  expect(persons).toEqual([{ uuid: survivor.uuid }]);
});

test('assigns sequence numbers to persons and IDs in the given order, whatever the lock order', async () => {
  const persons = ['ffffffff', '00000000', '88888888'].map((start) =>
    person({ uuid: `${start}${randomUUID().slice(8)}` }),
  );
  const distinctIds = ['zebra', 'Ant', 'mouse', 'ant'];
  await inTransaction(async (tx) => {
    await insertPersons(tx, persons);
    await insertMappings(
      tx,
      distinctIds.map((distinctId) => mapping(distinctId, persons[0]?.uuid ?? '')),
    );
  });
  const uuids = await fixture.database.sql.query('SELECT uuid FROM person WHERE project_id = $1 ORDER BY id', [
    projectId,
  ]);
  expect(uuids).toEqual(persons.map(({ uuid }) => ({ uuid })));
  const rows = await fixture.database.sql.query(
    'SELECT distinct_id FROM person_distinct_id WHERE project_id = $1 ORDER BY id',
    [projectId],
  );
  expect(rows).toEqual(distinctIds.map((distinct_id) => ({ distinct_id })));
});

test('sends no statement for an empty list', async () => {
  const refuse = async () => {
    throw new Error('a statement was sent');
  };
  const tx: Transaction = { isTransaction: true, query: refuse, copy: refuse, pipeline: refuse, commitWith: refuse };
  await lockPersonsOf(tx, [], []);
  await lockVersions(tx, []);
  await insertPersons(tx, []);
  await updatePersons(tx, []);
  await moveMappings(tx, []);
  await deletePersons(tx, []);
  await insertMappings(tx, []);
  expect(await readMappings(tx, [])).toEqual({ mappings: [], persons: [] });
});
