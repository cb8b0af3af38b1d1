import { setTimeout as sleep } from 'node:timers/promises';
import { createLogger } from '@millrace/runtime';
import {
  createFaultProxy,
  createTestDatabase,
  eventually,
  type FaultProxy,
  type TestDatabase,
} from '@millrace/testing';
import { createDatabase, type Database } from '../database.ts';

/** The pools use the services' time limits: half a minute for a statement, and slightly more for its response. */
const logger = createLogger('test', 'error');
let testDatabase: TestDatabase;
let proxy: FaultProxy;
let database: Database;
/** A connection that bypasses the proxy. */
let direct: Database;
beforeAll(async () => {
  testDatabase = await createTestDatabase({ isMigrated: false });
  const { hostname, port } = new URL(testDatabase.url);
  proxy = await createFaultProxy({ targetHost: hostname, targetPort: Number(port || 5432) });
  const url = Object.assign(new URL(testDatabase.url), { hostname: proxy.host, port: String(proxy.port) }).toString();
  database = createDatabase({ url, logger, poolSize: 3 });
  direct = createDatabase({ url: testDatabase.url, logger, poolSize: 2 });
  await database.sql.query(
    'CREATE TABLE counter (id int PRIMARY KEY, n int); INSERT INTO counter VALUES (1, 0), (2, 0)',
  );
});
afterAll(async () => {
  await database.stop();
  await direct.stop();
  await proxy.stop();
  await testDatabase.drop();
});

const add = 'UPDATE counter SET n = n + 1 WHERE id = $1 RETURNING n';
/** This limit is far below the statement time limits, which would also end the wait. */
const patienceMs = 25_000;

function inTime<T>(work: Promise<T>): Promise<T> {
  const tooLong = sleep(patienceMs, undefined, { ref: false }).then(() => {
    throw new Error(`still waiting after ${patienceMs} ms`);
  });
  return Promise.race([work, tooLong]);
}

test('fails a transaction whose connection is lost while it waits for a response, and releases its locks', async () => {
  const work = database.transaction(async (tx) => {
    await tx.query(add, [1]);
    proxy.forget();
    await tx.query(add, [1]);
  });
  await expect(inTime(work)).rejects.toMatchObject({ code: 'ETIMEDOUT' });
  expect(await inTime(database.sql.query(add, [1]))).toEqual([{ n: 1 }]);
});

test('closes all idle connections together if they were lost at the same time', async () => {
  await Promise.all([1, 2, 3].map(() => database.sql.query('SELECT pg_sleep(0.5)')));
  proxy.forget();
  await expect(inTime(database.sql.query('SELECT 1'))).rejects.toMatchObject({ code: 'ETIMEDOUT' });
  expect(await inTime(database.sql.query('SELECT 1 AS one'))).toEqual([{ one: 1 }]);
});

test('closes a connection that is lost before the response arrives or during COPY', async () => {
  const result = database.transaction(async (tx) => {
    const adding = await direct.transaction(async (holder) => {
      await holder.query('SELECT pg_advisory_xact_lock(1)');
      const held = tx.query(`${add}, pg_advisory_xact_lock(1)`, [2]);
      const isHeld = `datname = current_database() AND wait_event = 'advisory'`;
      await eventually(
        async () => (await direct.sql.query(`SELECT 1 FROM pg_stat_activity WHERE ${isHeld}`)).length > 0,
      );
      proxy.forget();
      return { held };
    });
    await adding.held;
  });
  await expect(inTime(result)).rejects.toMatchObject({ code: 'ETIMEDOUT' });
  const copy = database.transaction((tx) => {
    proxy.forget();
    return tx.copy('COPY counter FROM STDIN', [Buffer.from('3\t0\n')]);
  });
  await expect(inTime(copy)).rejects.toMatchObject({ code: 'ETIMEDOUT' });
  expect(await inTime(database.sql.query('SELECT n FROM counter WHERE id > 1'))).toEqual([{ n: 0 }]);
});

test('the server checks that clients are alive on all connections, even those opened later', async () => {
  const check = `SELECT current_setting('tcp_keepalives_idle') AS idle, current_setting('tcp_keepalives_interval') AS interval,
                        current_setting('client_connection_check_interval') AS check`;
  const all = await Promise.all([1, 2, 3].map(() => database.sql.query(check)));
  for (const rows of all) expect(rows).toEqual([{ idle: '5', interval: '2', check: '5s' }]);
});

test('keeps connections whose statements take a long time or wait for a lock', async () => {
  let announceLock = () => {};
  const locked = new Promise<void>((resolve) => {
    announceLock = resolve;
  });
  const holding = database.transaction(async (tx) => {
    await tx.query(add, [2]);
    announceLock();
    await tx.query('SELECT pg_sleep(6)');
  });
  await locked;
  const waiting = database.sql.query(add, [2]);
  // If `track_activities` is off, the server reports no state for the session.
  const untracked = database.transaction(async (tx) => {
    await tx.query('SET LOCAL track_activities = off');
    return tx.query("SELECT 'slept' AS done FROM pg_sleep(6)");
  });
  await holding;
  expect(await waiting).toEqual([{ n: 2 }]);
  expect(await untracked).toEqual([{ done: 'slept' }]);
});
