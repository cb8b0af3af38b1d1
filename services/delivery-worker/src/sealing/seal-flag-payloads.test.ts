import { randomBytes } from 'node:crypto';
import { flagPayloadEncryptionContext } from '@millrace/contracts';
import { createDatabase, type Database } from '@millrace/db';
import { createLogger, createSecretBox } from '@millrace/runtime';
import { createTestDatabase, createTestTenant, type TestDatabase } from '@millrace/testing';
import { encryptFlagPayloads } from './seal.ts';

let testDatabase: TestDatabase;
let database: Database;
let environmentId: number;
const logger = createLogger('test', 'error');
beforeAll(async () => {
  testDatabase = await createTestDatabase();
  database = createDatabase({ url: testDatabase.url, logger, poolSize: 5 });
});
afterAll(async () => {
  await database.stop();
  await testDatabase.drop();
});
beforeEach(async () => {
  ({ environmentId } = await createTestTenant(database));
});
afterEach(() => database.sql.query('DELETE FROM feature_flag'));

const running = new AbortController().signal;
const newKey = () => randomBytes(32).toString('base64');
const payload = '{"token":"hunter2"}';
const sealedBy = (key: string, environment = environmentId) =>
  createSecretBox(key).seal({ payload }, flagPayloadEncryptionContext(environment)).sealed;
const groups = [{ properties: [], rollout_percentage: 100 }];

async function flag(payloads: unknown, isEncrypted: boolean | null = true): Promise<number> {
  const [row] = await database.sql.query<{ id: number }>(
    `INSERT INTO feature_flag (project_id, key, filters, is_remote_configuration, has_encrypted_payloads)
     VALUES ($1, 'k' || gen_random_uuid(), $2, true, $3) RETURNING id`,
    [environmentId, { groups, ...(payloads !== undefined && { payloads }) }, isEncrypted],
  );
  return row?.id ?? 0;
}
const stored = async (id: number) =>
  (await database.sql.query('SELECT filters, version, updated_at FROM feature_flag WHERE id = $1', [id]))[0] as {
    filters: { groups: unknown; payloads?: Record<string, string> };
    version: number;
    updated_at: Date;
  };
const payloadOf = async (id: number) => (await stored(id)).filters.payloads?.true ?? '';
const seal = (keys: string | undefined, signal = running) =>
  encryptFlagPayloads({ database, logger, secretBox: createSecretBox(keys) }, signal);

test('encrypts only payloads that are unencrypted or encrypted with an older key', async () => {
  const [oldKey, youngKey] = [newKey(), newKey()];
  const young = createSecretBox(youngKey);
  const [plain, old, none] = [
    await flag({ true: payload }),
    await flag({ true: sealedBy(oldKey) }),
    await flag(undefined),
  ];
  const open = await flag({ true: payload }, false);
  const before = await stored(old);
  await seal(`${youngKey},${oldKey}`);
  for (const id of [plain, old]) {
    const sealed = await payloadOf(id);
    expect(young.open({ sealed }, flagPayloadEncryptionContext(environmentId))).toEqual({ payload });
  }
  const after = await stored(old);
  expect({ ...after, filters: after.filters.groups }).toEqual({ ...before, filters: before.filters.groups });
  expect((await stored(none)).filters).toEqual({ groups });
  expect(await payloadOf(open)).toBe(payload);
  await seal(`${youngKey},${oldKey}`);
  expect(await stored(old)).toEqual(after);
});

test('encrypts more flags than fit into one batch, even after some that cannot be decrypted', async () => {
  const [oldKey, youngKey] = [newKey(), newKey()];
  const damaged: number[] = [];
  for (let count = 0; count < 120; count += 1) damaged.push(await flag({ true: sealedBy(oldKey, 0) }));
  const good = await flag({ true: sealedBy(oldKey) });
  const first = await stored(damaged[0] ?? 0);
  await seal(`${youngKey},${oldKey}`);
  expect((await payloadOf(good)).startsWith(createSecretBox(youngKey).newestPrefix ?? '-')).toBe(true);
  expect(await stored(damaged[0] ?? 0)).toEqual(first);
});

test('leaves payloads unchanged if no key is configured, if no key can decrypt them, or when the worker stops', async () => {
  const other = newKey();
  const [plain, foreign] = [await flag({ true: payload }), await flag({ true: sealedBy(other) })];
  const before = await payloadOf(foreign);
  await seal(undefined);
  await seal(newKey(), AbortSignal.abort());
  expect(await payloadOf(plain)).toBe(payload);
  await seal(newKey());
  expect(await payloadOf(foreign)).toBe(before);
  expect(await payloadOf(plain)).not.toBe(payload);
});
