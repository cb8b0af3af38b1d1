import { randomBytes } from 'node:crypto';
import { createDatabase, type Database, type Transaction } from '@millrace/db';
import { createLogger } from '@millrace/runtime';
import {
  createFaultProxy,
  createTestDatabase,
  eventually,
  type FaultProxy,
  type TestDatabase,
} from '@millrace/testing';
import { endFrozenSessions } from './frozen-session-store.ts';

const logger = createLogger('test', 'error');
logger.silent = true;
let testDatabase: TestDatabase;
let proxy: FaultProxy;
let others: Database;
let database: Database;
beforeAll(async () => {
  testDatabase = await createTestDatabase({ isMigrated: false });
  const { hostname, port } = new URL(testDatabase.url);
  proxy = await createFaultProxy({ targetHost: hostname, targetPort: Number(port || 5432) });
  const through = Object.assign(new URL(testDatabase.url), { hostname: proxy.host, port: String(proxy.port) });
  const open = (url: string) => createDatabase({ url, logger, applicationName: 'consumer', lockTimeoutMs: 200 });
  [database, others] = [open(testDatabase.url), open(through.toString())];
  await database.sql.query('CREATE TABLE item (name text PRIMARY KEY)');
});
afterAll(async () => {
  await Promise.all([database.stop(), others.stop()]);
  await proxy.stop();
  await testDatabase.drop();
});

const take = `INSERT INTO item VALUES ('one')`;
const silentMs = 1000;

async function exists(session: string): Promise<boolean> {
  const rows = await database.sql.query(
    `SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid() AND ${session}`,
  );
  return rows.length > 0;
}

const untilSessionIs = (session: string) =>
  eventually(() => exists(`${session} AND state_change < now() - interval '1.1 seconds'`));

/** Resumes the stopped process, which sends nothing until then. */
let release = () => {};
const untilReleased = () =>
  new Promise<void>((resolve) => {
    release = resolve;
  });

test.each<[string, string, (tx: Transaction) => Promise<void>]>([
  ['between two statements', `state = 'idle in transaction'`, untilReleased],
  [
    'in the middle of a copy',
    `state = 'active' AND wait_event = 'ClientRead'`,
    async (tx) => {
      const copied = tx.copy('COPY item FROM STDIN', endlessRows());
      await eventually(() => exists(`state = 'active' AND query LIKE 'COPY %'`));
      proxy.blackHole();
      await copied;
    },
  ],
])('ends the transaction of a process that stopped %s, and releases its locks', async (_, state, stop) => {
  const outcome = others
    .transaction(async (tx) => {
      await tx.query(take);
      await stop(tx);
    })
    .then(
      () => 'committed',
      () => 'undone',
    );
  await untilSessionIs(state);
  await expect(database.sql.query(take)).rejects.toMatchObject({ code: '55P03' });
  expect(await endFrozenSessions(database.sql, 60_000)).toEqual({ ended: 0, hidden: 0 });
  expect(await endFrozenSessions(database.sql, silentMs)).toEqual({ ended: 1, hidden: 0 });
  await eventually(() => database.sql.query(take));
  release();
  await proxy.pass();
  expect(await outcome).toBe('undone');
  await database.sql.query('TRUNCATE item');
});

test('ends frozen sessions, and does not end active ones', async () => {
  const work = others.transaction((tx) => tx.query('SELECT pg_sleep(600)')).catch((error: unknown) => error);
  await untilSessionIs(`state = 'active' AND wait_event = 'PgSleep'`);
  expect(await endFrozenSessions(database.sql, silentMs)).toEqual({ ended: 0, hidden: 0 });
  await database.sql.query(
    `SELECT pg_cancel_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND wait_event = 'PgSleep'`,
  );
  expect(await work).toMatchObject({ code: '57014' });
});

test('counts frozen sessions of a different role, and ends them if the consumer is a member of that role', async () => {
  const [frozen, member] = ['frozen', 'member'].map((name) => `${name}_${randomBytes(6).toString('hex')}`);
  const password = randomBytes(12).toString('hex');
  for (const role of [frozen, member]) await database.sql.query(`CREATE ROLE ${role} LOGIN PASSWORD '${password}'`);
  const [theirs, ours] = [frozen, member].map((username) =>
    createDatabase({
      url: Object.assign(new URL(testDatabase.url), { username, password }).toString(),
      ...{ logger, applicationName: 'consumer', poolSize: 1 },
    }),
  ) as [Database, Database];
  const stopped = theirs
    .transaction(async (tx) => {
      await tx.query('SELECT 1');
      await untilReleased();
    })
    .catch(() => {});
  await untilSessionIs(`usename = '${frozen}' AND state = 'idle in transaction'`);
  const seen = await endFrozenSessions(ours.sql, silentMs);
  expect(seen.ended).toBe(0);
  expect(seen.hidden).toBeGreaterThan(0);
  await database.sql.query(`GRANT ${frozen} TO ${member}`);
  expect(await endFrozenSessions(ours.sql, silentMs)).toMatchObject({ ended: 1 });
  release();
  await stopped;
  await Promise.all([theirs.stop(), ours.stop()]);
  await database.sql.query(`DROP ROLE ${frozen}, ${member}`);
});

/** Generates an endless number of rows, so that the copy is still in progress when the connection is blocked. */
function* endlessRows(): Generator<Buffer> {
  for (let n = 0; ; n += 1) yield Buffer.from(`${'x'.repeat(64 * 1024)}${n}`);
}
