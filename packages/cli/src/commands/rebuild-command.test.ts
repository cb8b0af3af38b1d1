import { createDatabase, type Database } from '@millrace/db';
import { createLogger } from '@millrace/runtime';
import { createTestDatabase, type TestDatabase } from '@millrace/testing';
import { runCli } from '../program.ts';

let testDatabase: TestDatabase;
let database: Database;
beforeAll(async () => {
  testDatabase = await createTestDatabase();
  database = createDatabase({ url: testDatabase.url, logger: createLogger('test', 'error') });
});
afterAll(async () => {
  await database.stop();
  await testDatabase.drop();
});

async function run(...args: string[]) {
  const err: string[] = [];
  const exitCode = await runCli(['events', 'rebuild', ...args], {
    env: { DATABASE_URL: testDatabase.url },
    out: { write: () => true },
    err: { write: (text) => err.push(text) },
  });
  return { exitCode, err: err.join('') };
}

const copies = () =>
  database.sql.query('SELECT store, copied_until, claimed_until FROM event_store_copy ORDER BY store');

test('`rebuild --persons` makes the delivery worker copy all persons again, but no events', async () => {
  await database.sql.query(
    `INSERT INTO event_store_copy (store, copied_until) VALUES ('clickhouse', '2026-11-10Z'), ('clickhouse persons', '2026-11-10Z')`,
  );
  expect(await run('--persons')).toMatchObject({
    exitCode: 0,
    err: expect.stringContaining('The delivery worker copies all persons again.'),
  });
  expect(await copies()).toEqual([
    { store: 'clickhouse', copied_until: new Date('2026-11-10Z'), claimed_until: null },
    { store: 'clickhouse persons', copied_until: null, claimed_until: null },
  ]);
});

test('`rebuild` rejects --persons in combination with the options for rebuilding events', async () => {
  expect(await run('--persons', '--lose-events')).toMatchObject({
    exitCode: 2,
    err: expect.stringContaining('--lose-events'),
  });
});
