import { createDatabase, type Database } from '@millrace/db';
import { createLogger } from '@millrace/runtime';
import { createTestDatabase, createTestTenant, type TestDatabase } from '@millrace/testing';
import {
  createProjectSecretKey,
  hashPersonalApiKey,
  listProjectSecretKeys,
  revokeProjectSecretKeys,
  rollProjectSecretKey,
} from '../index.ts';

let testDatabase: TestDatabase;
let database: Database;
let environmentId: number;
beforeAll(async () => {
  testDatabase = await createTestDatabase();
  database = createDatabase({ url: testDatabase.url, logger: createLogger('test', 'warn') });
});
beforeEach(async () => {
  ({ environmentId } = await createTestTenant(database));
});
afterAll(async () => {
  await database.stop();
  await testDatabase.drop();
});

const actor = { command: 'test' };
const create = () => database.transaction((tx) => createProjectSecretKey(tx, { environmentId, actor }));
const roll = () => database.transaction((tx) => rollProjectSecretKey(tx, { environmentId, actor }));
const revoke = (...slots: ('primary' | 'backup')[]) =>
  database.transaction((tx) => revokeProjectSecretKeys(tx, { environmentId, slots, actor }));
const stored = async () => {
  const rows = await database.sql.query<{ slot: string; secure_value: string }>(
    'SELECT slot, secure_value FROM project_secret_key WHERE project_id = $1',
    [environmentId],
  );
  return Object.fromEntries(rows.map(({ slot, secure_value }) => [slot, secure_value]));
};
const history = async () => {
  const rows = await database.sql.query<{ detail: { changes: object[] } }>(
    'SELECT detail FROM activity_log WHERE environment_id = $1 ORDER BY id',
    [environmentId],
  );
  return rows.map(({ detail }) => detail.changes);
};
const entry = (action: string, field: string) => ({ type: 'Team', action, field, before: null, after: null });

test('returns the value of a project secret key once, and stores only its hash and mask', async () => {
  const { value, keys } = await create();
  expect(value).toMatch(/^phs_[0-9a-zA-Z]{48}$/);
  const mask = `phs_...${value.slice(-4)}`;
  expect(keys).toEqual([{ slot: 'primary', mask_value: mask, created_at: expect.any(Date) }]);
  expect(await listProjectSecretKeys(database.sql, environmentId)).toEqual(keys);
  expect(await stored()).toEqual({ primary: hashPersonalApiKey(value) });
});

test('rejects creating a second project secret key, because the first one must be rolled instead', async () => {
  await create();
  await expect(create()).rejects.toMatchObject({ kind: 'conflict' });
});

test('keeps the previous project secret key valid as the backup until the next roll', async () => {
  const [first, second] = [await roll(), await roll()];
  expect(await stored()).toEqual({
    primary: hashPersonalApiKey(second.value),
    backup: hashPersonalApiKey(first.value),
  });
  expect(second.keys.map(({ slot }) => slot)).toEqual(['primary', 'backup']);
  const third = await roll();
  expect(await stored()).toEqual({
    primary: hashPersonalApiKey(third.value),
    backup: hashPersonalApiKey(second.value),
  });
});

test('deletes one or both secret keys, and keeps the backup key valid when a new key is created', async () => {
  const [first] = [await roll(), await roll()];
  expect(await revoke('primary')).toEqual(['primary']);
  const third = await create();
  expect(await stored()).toEqual({ primary: hashPersonalApiKey(third.value), backup: hashPersonalApiKey(first.value) });
  expect((await revoke('primary', 'backup')).toSorted()).toEqual(['backup', 'primary']);
  expect(await stored()).toEqual({});
});

test('records changes to secret keys without the keys, and records nothing for calls without effect', async () => {
  await roll();
  await roll();
  await revoke('backup');
  await revoke('backup');
  expect(await history()).toEqual([
    [entry('created', 'secret_api_token')],
    [entry('changed', 'secret_api_token')],
    [entry('deleted', 'secret_api_token_backup')],
  ]);
});

test('returns different secret keys for two concurrent rolls, and makes the second one the primary key', async () => {
  const rolled = await Promise.all([roll(), roll()]);
  expect(Object.values(await stored()).toSorted()).toEqual(
    rolled.map(({ value }) => hashPersonalApiKey(value)).toSorted(),
  );
});

test('rejects secret keys for an environment that does not exist', async () => {
  environmentId = 2_000_000_000;
  for (const work of [create, roll, () => revoke('backup'), () => listProjectSecretKeys(database.sql, environmentId)]) {
    await expect(work()).rejects.toMatchObject({ kind: 'not_found' });
  }
});
