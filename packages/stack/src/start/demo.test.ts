import { mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { hashPersonalApiKey, listMembers, listPersonalApiKeys } from '@millrace/accounts';
import { createDatabase, type Database } from '@millrace/db';
import { createLogger } from '@millrace/runtime';
import { createTestDatabase, type TestDatabase } from '@millrace/testing';
import { type Demo, ensureDemo } from './demo.ts';

let testDatabase: TestDatabase;
let database: Database;
let directory: string;

beforeAll(async () => {
  testDatabase = await createTestDatabase();
  database = createDatabase({ url: testDatabase.url, logger: createLogger('test', 'error'), poolSize: 1 });
});
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'millrace-demo-'));
});
afterEach(() => rmSync(directory, { recursive: true }));
afterAll(async () => {
  await database.stop();
  await testDatabase.drop();
});

const keysOf = async ({ organizationId }: Demo) => {
  const members = await listMembers(database.sql, { organizationId });
  const keys = await Promise.all(members.map(({ user_id }) => listPersonalApiKeys(database.sql, { userId: user_id })));
  return keys.flat();
};

test('creates the demo organization with owner, member, project and full-access key, and reuses it later', async () => {
  const demo = await ensureDemo(database, directory);
  expect(demo.projectApiKey).toMatch(/^phc_/);
  expect(demo.personalApiKey).toMatch(/^phx_/);
  expect(demo.environmentId).toBe(demo.projectId);
  expect(statSync(join(directory, 'demo.json')).mode & 0o777).toBe(0o600);
  const members = await listMembers(database.sql, { organizationId: demo.organizationId });
  expect(members.map(({ level }) => level).sort()).toEqual([1, 15]);
  expect(await keysOf(demo)).toMatchObject([{ scopes: ['*'] }]);

  expect(await ensureDemo(database, directory)).toEqual(demo);
});

test('the demo project has the same default filters and records as a new project', async () => {
  const demo = await ensureDemo(database, directory);
  const { test_account_filters: filters } = await database.prisma.environment.findUniqueOrThrow({
    where: { id: demo.environmentId },
  });
  expect(filters).toMatchObject([{ key: 'email', value: '@example.com' }, { key: '$host' }]);
  const records = await database.sql.query(
    'SELECT scope, activity FROM activity_log WHERE environment_id = $1 ORDER BY id',
    [demo.environmentId],
  );
  expect(records).toEqual([
    { scope: 'Project', activity: 'created' },
    { scope: 'Team', activity: 'created' },
  ]);
});

test("if the demo's file is lost, replaces the demo's personal key and revokes the old key", async () => {
  const before = await ensureDemo(database, directory);
  rmSync(join(directory, 'demo.json'));
  const after = await ensureDemo(database, directory);
  expect({ ...after, personalApiKey: '' }).toEqual({ ...before, personalApiKey: '' });
  expect(after.personalApiKey).not.toBe(before.personalApiKey);
  expect((await keysOf(after)).map(({ secure_value }) => secure_value)).toEqual([
    hashPersonalApiKey(after.personalApiKey),
  ]);
});

test("creates the demo in a new database even if the demo's file already exists", async () => {
  await ensureDemo(database, directory);
  const otherDatabase = await createTestDatabase();
  const other = createDatabase({ url: otherDatabase.url, logger: createLogger('test', 'error'), poolSize: 1 });
  try {
    const demo = await ensureDemo(other, directory);
    expect(await ensureDemo(other, directory)).toEqual(demo);
    expect(await other.prisma.environment.count({ where: { api_token: demo.projectApiKey } })).toBe(1);
  } finally {
    await other.stop();
    await otherDatabase.drop();
  }
});
