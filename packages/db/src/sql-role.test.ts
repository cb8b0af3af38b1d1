import { createLogger } from '@millrace/runtime';
import { createTestDatabase, type TestDatabase } from '@millrace/testing';
import pg from 'pg';
import { createReadPool, type ReadPool } from './read-pool.ts';
import { createSqlRole, sqlRole } from './sql-role.ts';

const warnings: string[] = [];
const logger = Object.assign(createLogger('test', 'error'), { warn: (message: string) => void warnings.push(message) });
let database: TestDatabase;
let reader: ReadPool;
beforeAll(async () => {
  database = await createTestDatabase();
  reader = createReadPool({ url: database.url, logger, poolSize: 1 });
});
afterAll(async () => {
  await reader.stop();
  await database.drop();
});

async function read(text: string, { isUserSql = true, from = reader } = {}): Promise<unknown[]> {
  const rows: unknown[][] = [];
  const limits = { signal: new AbortController().signal, maxMs: 60_000, maxBytes: 1e6, isUserSql };
  await from.read(text, [], limits, (row) => void rows.push(row));
  return rows.flat();
}

test('only user SQL runs with the restricted role', async () => {
  const text = "SELECT current_user, current_setting('transaction_read_only')";
  expect(await read(text)).toEqual([sqlRole, 'on']);
  expect(await read('SELECT current_user', { isUserSql: false })).not.toEqual([sqlRole]);
  expect(await read("SELECT current_setting('temp_file_limit')")).toEqual(['1GB']);
});

test.each(['event', 'person', 'person_distinct_id', '"group"', 'cohort_member'])(
  'the restricted role can read %s',
  async (table) => {
    expect(await read(`SELECT count(*)::int FROM ${table}`)).toEqual([0]);
  },
);

test.each(['"user"', 'environment', 'personal_api_key', 'organization', 'session', 'pg_authid'])(
  'the restricted role cannot read %s',
  async (table) => {
    await expect(read(`SELECT count(*) FROM ${table}`)).rejects.toMatchObject({ code: '42501' });
  },
);

test('a failed user query leaves the connection usable', async () => {
  await expect(read('SELECT 1 / 0')).rejects.toMatchObject({ code: '22012' });
  await expect(read('DELETE FROM event')).rejects.toMatchObject({ code: '25006' });
  expect(await read('SELECT 1')).toEqual([1]);
});

test('runs user SQL with the usual role and logs a warning if the role cannot be created', async () => {
  const user = `limited_${process.pid}`;
  const admin = new pg.Client(database.url);
  await admin.connect();
  await admin.query(`CREATE ROLE ${user} LOGIN PASSWORD 'p'`);
  await admin.query(`GRANT SELECT ON "event" TO ${user}`);
  const url = new URL(database.url);
  Object.assign(url, { username: user, password: 'p' });
  const limited = new pg.Client(String(url));
  await limited.connect();
  const from = createReadPool({ url: String(url), logger, poolSize: 1 });
  try {
    await createSqlRole(limited);
    expect(await read('SELECT current_user', { from })).toEqual([user]);
    expect(await read('SELECT count(*)::int FROM event', { from })).toEqual([0]);
    expect(warnings).toEqual([expect.stringContaining(`without the database role ${sqlRole}`)]);
  } finally {
    await from.stop();
    await limited.end();
    await admin.query(`REVOKE ALL ON "event" FROM ${user}`);
    await admin.query(`DROP ROLE ${user}`);
    await admin.end();
  }
});
