import { readFileSync } from 'node:fs';
import { createLogger, readConfig } from '@millrace/runtime';
import {
  createTestDatabase,
  eventually,
  keepLogs,
  type MountedSecret,
  mountSecret,
  startTlsProxy,
  type TestDatabase,
  testCertificates,
} from '@millrace/testing';
import pg from 'pg';
import { Type } from 'typebox';
import { databaseConfigFields, withDatabaseAddress } from './database-config.ts';
import { createSqlDatabase, type SqlDatabase } from './sql-database.ts';

/** Rotates secrets while a pool is in use. Open connections continue, and new ones use the files' current content. */
const logger = createLogger('test', 'error');
const [one, two] = ['one', 'two'].map((name) => `rotated_${name}_${process.pid}_${Date.now()}`) as [string, string];
let testDatabase: TestDatabase;
let admin: pg.Client;
let secret: MountedSecret;

beforeAll(async () => {
  testDatabase = await createTestDatabase({ isMigrated: false });
  admin = new pg.Client(testDatabase.url);
  await admin.connect();
  for (const role of [one, two]) await admin.query(`CREATE ROLE ${role} LOGIN PASSWORD 'first'`);
});
afterEach(() => secret.remove());
afterAll(async () => {
  for (const role of [one, two]) await admin.query(`DROP ROLE ${role}`);
  await admin.end();
  await testDatabase.drop();
});

function placeOf(url: string): string {
  const place = new URL(url);
  place.username = '';
  place.password = '';
  return place.toString();
}

function open(settings: Record<string, string>): SqlDatabase {
  const { databaseUrl: url } = withDatabaseAddress(readConfig(Type.Object(databaseConfigFields), settings));
  return createSqlDatabase({ url, logger, poolSize: 2 });
}

const endConnections = (role: string) =>
  admin.query('SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = $1', [role]);
async function whoAmI({ sql }: SqlDatabase): Promise<string | undefined> {
  const [row] = await sql.query<{ name: string }>('SELECT current_user AS name');
  return row?.name;
}

const waitForRole = (database: SqlDatabase, who: string) =>
  eventually(async () => (await whoAmI(database)) === who, { what: `a query as ${who}` });

test.each([
  [
    'a password outside the URL',
    (password: string) => ({ password }),
    () => ({
      DATABASE_URL: placeOf(testDatabase.url),
      DATABASE_USER: one,
      DATABASE_PASSWORD_FILE: secret.file('password'),
    }),
  ],
  [
    'a URL with a password',
    (password: string) => ({ uri: placeOf(testDatabase.url).replace('://', `://${one}:${password}@`) }),
    () => ({ DATABASE_URL_FILE: secret.file('uri') }),
  ],
])('keeps open connections, and uses the new password for new ones: %s', async (_, entries, settings) => {
  await admin.query(`ALTER ROLE ${one} PASSWORD 'first'`);
  // The password ends with a line break, because editors add one.
  secret = mountSecret(Object.fromEntries(Object.entries(entries('first')).map(([key, text]) => [key, `${text}\n`])));
  const database = open(settings());
  try {
    await waitForRole(database, one);
    await admin.query(`ALTER ROLE ${one} PASSWORD 'second'`);
    expect(await whoAmI(database)).toBe(one);
    await endConnections(one);
    await eventually(() => expect(whoAmI(database)).rejects.toMatchObject({ code: '28P01' }), {
      what: 'the authentication error',
    });
    secret.exchange(entries('second'));
    await waitForRole(database, one);
    await eventually(() => database.isHealthy(), { what: 'a healthy database' });
  } finally {
    await database.stop();
  }
});

test('switching to a second database role causes no outage: the next connection uses the new role', async () => {
  await admin.query(`ALTER ROLE ${one} PASSWORD 'first'`);
  secret = mountSecret({ username: one, password: 'first' });
  const [DATABASE_USER_FILE, DATABASE_PASSWORD_FILE] = [secret.file('username'), secret.file('password')];
  const database = open({ DATABASE_URL: placeOf(testDatabase.url), DATABASE_USER_FILE, DATABASE_PASSWORD_FILE });
  try {
    await waitForRole(database, one);
    secret.exchange({ username: two, password: 'first' });
    await endConnections(one);
    await waitForRole(database, two);
  } finally {
    await database.stop();
  }
});

test('applies a changed certificate authority file, and ignores an invalid one', async () => {
  const { authorityFile, otherAuthorityFile } = testCertificates;
  secret = mountSecret({ 'ca.crt': readFileSync(otherAuthorityFile, 'utf8') });
  const target = new URL(testDatabase.url);
  const proxy = await startTlsProxy({
    target: { host: target.hostname, port: Number(target.port) },
    protocol: 'postgres',
    certificate: testCertificates.ofThisHost(),
  });
  target.host = `127.0.0.1:${proxy.port}`;
  const database = open({
    DATABASE_URL: target.toString(),
    DATABASE_SSL_MODE: 'verify-full',
    DATABASE_SSL_CA_FILE: secret.file('ca.crt'),
  });
  try {
    await expect(whoAmI(database)).rejects.toMatchObject({ code: 'UNABLE_TO_VERIFY_LEAF_SIGNATURE' });
    secret.exchange({ 'ca.crt': readFileSync(authorityFile, 'utf8') });
    await eventually(async () => (await whoAmI(database)) !== undefined, { what: 'a successful query' });
    const warner = createLogger('test', 'warn');
    const url = target.toString();
    const { logged } = await keepLogs(warner, async () => {
      const second = createSqlDatabase({
        url: `${url}?sslmode=verify-full&sslrootcert=${secret.file('ca.crt')}`,
        logger: warner,
      });
      secret.exchange({ 'ca.crt': 'half a fi' });
      expect(await whoAmI(second)).toBeDefined();
      await second.stop();
    });
    expect(logged.map(({ message }) => message)).toContain(
      'could not reload the database settings; keeping the previous ones',
    );
  } finally {
    await database.stop();
    await proxy.stop();
  }
});
