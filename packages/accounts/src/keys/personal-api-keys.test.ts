import { createHash } from 'node:crypto';
import { createDatabase, type Database } from '@millrace/db';
import { createLogger, isAppError } from '@millrace/runtime';
import { createTestDatabase, createTestTenant, type TestDatabase, type TestTenant } from '@millrace/testing';
import {
  createPersonalApiKey,
  hashPersonalApiKey,
  listPersonalApiKeys,
  type NewPersonalApiKey,
  revokePersonalApiKey,
  rollPersonalApiKey,
} from '../index.ts';
import { maxPersonalApiKeys } from './personal-api-keys.ts';

let testDatabase: TestDatabase;
let database: Database;
let own: TestTenant;
let foreign: TestTenant;

beforeAll(async () => {
  testDatabase = await createTestDatabase();
  database = createDatabase({ url: testDatabase.url, logger: createLogger('test', 'warn') });
  own = await createTestTenant(database);
  foreign = await createTestTenant(database);
});
afterAll(async () => {
  await database.stop();
  await testDatabase.drop();
});

const newKey = (overrides: Partial<NewPersonalApiKey> = {}) =>
  createPersonalApiKey(database.sql, {
    actor: null,
    userId: own.userId,
    label: 'A key',
    scopes: ['project:read'],
    ...overrides,
  });

describe('personal API keys', () => {
  test('returns the value of a key once, and stores only its SHA-256 in hexadecimal', async () => {
    const { key, value } = await newKey();

    expect(value).toMatch(/^phx_[0-9a-zA-Z]{48}$/);
    expect(hashPersonalApiKey(value)).toBe(createHash('sha256').update(value).digest('hex'));
    const stored = await database.prisma.personal_api_key.findUniqueOrThrow({ where: { id: key.id } });
    expect(stored).toMatchObject({
      user_id: own.userId,
      label: 'A key',
      secure_value: hashPersonalApiKey(value),
      mask_value: `phx_...${value.slice(-4)}`,
      scopes: ['project:read'],
      scoped_teams: [],
      scoped_organizations: [],
      last_used_at: null,
      last_rolled_at: null,
      expires_at: null,
    });
    expect(JSON.stringify(stored)).not.toContain(value);
  });

  test("stores a key's scopes without duplicates, its restrictions and its expiry", async () => {
    const expiresAt = new Date(Date.now() + 3_600_000);
    const { key } = await newKey({
      scopes: ['*', 'person:write', '*'],
      scopedEnvironments: [own.environmentId],
      scopedOrganizations: [own.organizationId],
      expiresAt,
    });

    expect(key).toMatchObject({
      scopes: ['*', 'person:write'],
      scoped_teams: [own.environmentId],
      scoped_organizations: [own.organizationId],
      expires_at: expiresAt,
    });
  });

  test('gives a rolled key a new value, and rejects the old value', async () => {
    const { key, value: oldValue } = await newKey({ label: 'Rolled' });
    const rolled = await rollPersonalApiKey(database.sql, { actor: null, id: key.id, userId: own.userId });

    expect(rolled.value).not.toBe(oldValue);
    expect(rolled.key).toMatchObject({ id: key.id, label: 'Rolled', secure_value: hashPersonalApiKey(rolled.value) });
    expect(rolled.key.last_rolled_at).toBeInstanceOf(Date);
    expect(await find(oldValue)).toBeNull();
    expect(await find(rolled.value)).toMatchObject({ id: key.id });
  });

  test('rejects a revoked key', async () => {
    const { key, value } = await newKey();
    await revokePersonalApiKey(database.sql, { actor: null, id: key.id });

    expect(await find(value)).toBeNull();
  });

  test("returns not_found when a user rolls or revokes another user's key", async () => {
    const { key, value } = await newKey();
    for (const change of [rollPersonalApiKey, revokePersonalApiKey]) {
      await expect(change(database.sql, { id: key.id, actor: null, userId: foreign.userId })).rejects.toMatchObject({
        kind: 'not_found',
      });
    }
    expect(await find(value)).not.toBeNull();
  });
});

const later = new Date('2030-01-01T00:00:00Z');
const refusals: [string, () => Partial<NewPersonalApiKey>, { kind: string; code: string; attr: string | null }][] = [
  ['key-027 an empty label', () => ({ label: ' ' }), { kind: 'invalid', code: 'blank', attr: 'label' }],
  [
    'a label of 41 characters',
    () => ({ label: 'x'.repeat(41) }),
    { kind: 'invalid', code: 'max_length', attr: 'label' },
  ],
  ['no scopes', () => ({ scopes: [] }), { kind: 'invalid', code: 'required', attr: 'scopes' }],
  [
    'key-029 an unknown scope',
    () => ({ scopes: ['invalid'] }),
    { kind: 'invalid', code: 'invalid_input', attr: 'scopes' },
  ],
  [
    'key-030 an unknown action',
    () => ({ scopes: ['project:eat'] }),
    { kind: 'invalid', code: 'invalid_input', attr: 'scopes' },
  ],
  [
    'key-036 an organization of other users',
    () => ({ scopedOrganizations: [own.organizationId, foreign.organizationId] }),
    { kind: 'invalid', code: 'invalid_input', attr: 'scoped_organizations' },
  ],
  [
    'key-036 an organization that is no UUID',
    () => ({ scopedOrganizations: ['1'] }),
    { kind: 'invalid', code: 'invalid_input', attr: 'scoped_organizations' },
  ],
  [
    'key-037 a project of another organization',
    () => ({ scopedEnvironments: [foreign.environmentId] }),
    { kind: 'invalid', code: 'invalid_input', attr: 'scoped_teams' },
  ],
  [
    'key-037 a project of another organization in addition to an own one',
    () => ({ scopedEnvironments: [own.environmentId, foreign.environmentId] }),
    { kind: 'invalid', code: 'invalid_input', attr: 'scoped_teams' },
  ],
  [
    'a project ID out of range',
    () => ({ scopedEnvironments: [2 ** 40] }),
    { kind: 'invalid', code: 'invalid_input', attr: 'scoped_teams' },
  ],
  [
    'an expiry date in the past',
    () => ({ expiresAt: later, now: later }),
    { kind: 'invalid', code: 'min_value', attr: 'expires_at' },
  ],
  [
    'an invalid expiry date',
    () => ({ expiresAt: new Date('x') }),
    { kind: 'invalid', code: 'invalid_input', attr: 'expires_at' },
  ],
  ['an unknown user', () => ({ userId: 2_000_000_000 }), { kind: 'not_found', code: 'not_found', attr: null }],
  ['a user ID out of range', () => ({ userId: 2 ** 40 }), { kind: 'not_found', code: 'not_found', attr: null }],
];

describe('creating an invalid personal API key', () => {
  test.each(refusals)('fails with %s', async (_, overrides, expected) => {
    const before = await database.prisma.personal_api_key.count();
    await expect(newKey(overrides())).rejects.toMatchObject({ name: 'AppError', ...expected });
    expect(await database.prisma.personal_api_key.count()).toBe(before);
  });

  test('key-026 fails when the user already has ten keys', async () => {
    const tenant = await createTestTenant(database);
    for (let count = 1; count < maxPersonalApiKeys; count += 1) await newKey({ userId: tenant.userId });

    const refusal = await newKey({ userId: tenant.userId }).catch((error: unknown) => error);
    expect(isAppError(refusal, 'invalid')).toBe(true);
    expect(refusal).toMatchObject({ code: 'invalid_input', attr: null });
    expect(await listPersonalApiKeys(database.sql, { userId: tenant.userId })).toHaveLength(maxPersonalApiKeys);
  });
});

function find(value: string) {
  return database.prisma.personal_api_key.findUnique({ where: { secure_value: hashPersonalApiKey(value) } });
}
