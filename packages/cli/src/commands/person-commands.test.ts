import { randomUUID } from 'node:crypto';
import { createDatabase, type Database } from '@millrace/db';
import { createLogger } from '@millrace/runtime';
import { createTestDatabase, createTestTenant, type TestDatabase, type TestTenant } from '@millrace/testing';
import { runCli } from '../program.ts';

let testDatabase: TestDatabase;
let database: Database;
let tenant: TestTenant;
beforeAll(async () => {
  testDatabase = await createTestDatabase();
  database = createDatabase({ url: testDatabase.url, logger: createLogger('test', 'error') });
  tenant = await createTestTenant(database);
});
afterAll(async () => {
  await database.stop();
  await testDatabase.drop();
});

async function run(...args: string[]) {
  const [out, err]: string[][] = [[], []];
  const exitCode = await runCli(['persons', ...args, '--environment', String(tenant.environmentId), '--json'], {
    env: { DATABASE_URL: testDatabase.url },
    out: { write: (text) => out?.push(text) },
    err: { write: (text) => err?.push(text) },
  });
  const text = out?.join('') ?? '';
  return { exitCode, result: text === '' ? null : JSON.parse(text), err: err?.join('') };
}

async function storePerson(...distinctIds: string[]): Promise<string> {
  const uuid = randomUUID();
  await database.sql.query(
    `INSERT INTO person (project_id, uuid, main_distinct_id, properties, created_at) VALUES ($1, $2, $3, '{"plan": "pro"}', now())`,
    [tenant.environmentId, uuid, distinctIds[0]],
  );
  await database.sql.query(
    'INSERT INTO person_distinct_id (project_id, distinct_id, person_uuid) SELECT $1, unnest($2::text[]), $3',
    [tenant.environmentId, distinctIds, uuid],
  );
  return uuid;
}

test('shows a person, and deletes it by any of its distinct IDs', async () => {
  const uuid = await storePerson('ada', 'anonymous');
  expect((await run('show', 'anonymous')).result).toEqual({
    uuid,
    id: expect.any(Number),
    distinctIds: ['ada', 'anonymous'],
    isIdentified: false,
    properties: '{"plan":"pro"}',
    createdAt: expect.any(String),
  });
  const { result } = await run('delete', 'ada', '--delete-events');
  expect(result).toEqual({ deletionId: expect.any(String), personUuid: uuid, deleteEvents: true, deleted: true });
  for (const command of ['show', 'delete']) {
    expect(await run(command, uuid)).toMatchObject({ exitCode: 1, err: expect.stringContaining('<id>: Not found.') });
  }
  const records = await database.sql.query('SELECT user_id, scope, item_id, detail FROM activity_log WHERE id = $1', [
    result.deletionId,
  ]);
  expect(records).toMatchObject([
    { user_id: null, scope: 'Person', item_id: uuid, detail: { trigger: { job_id: 'persons delete' } } },
  ]);
});

test('rejects an ID that matches two persons, and the ID of an environment that does not exist', async () => {
  const first = await storePerson('first');
  await storePerson(first);
  expect(await run('delete', first)).toMatchObject({
    exitCode: 1,
    err: expect.stringContaining('Use the UUID of the person'),
  });
  expect((await run('show', first)).result.uuid).toBe(first);
  tenant = { ...tenant, environmentId: 2_000_000_000 };
  expect(await run('delete', 'x')).toMatchObject({ exitCode: 1, err: expect.stringContaining('--environment') });
});
