import { createLogger } from '@millrace/runtime';
import {
  createFaultProxy,
  createTestDatabase,
  eventually,
  type FaultProxy,
  type TestDatabase,
} from '@millrace/testing';
import { type CopyRow, copyRows } from './copy-format.ts';
import { createDatabase, type Database } from './database.ts';
import { unpreparedPrefix } from './statements.ts';
import type { Transaction } from './transaction.ts';
import { isTransientError } from './transient-error.ts';

const logger = createLogger('test', 'error');
let testDatabase: TestDatabase;
let proxy: FaultProxy;
let database: Database;
/** A connection that bypasses the proxy. */
let direct: Database;

beforeAll(async () => {
  testDatabase = await createTestDatabase();
  direct = createDatabase({ url: testDatabase.url, logger });
  await direct.sql.query('CREATE TABLE note (id INT PRIMARY KEY)');
});
beforeEach(async () => {
  await direct.sql.query('TRUNCATE note');
  const url = new URL(testDatabase.url);
  proxy = await createFaultProxy({ targetHost: url.hostname, targetPort: Number(url.port) });
  url.host = `${proxy.host}:${proxy.port}`;
  database = createDatabase({ url: url.toString(), logger, poolSize: 2, connectTimeoutMs: 2000 });
});
afterEach(async () => {
  await database.stop();
  await proxy.stop();
});
afterAll(async () => {
  await direct.stop();
  await testDatabase.drop();
});

const notes = async () =>
  (await direct.sql.query<{ id: number }>('SELECT id FROM note ORDER BY id')).map(({ id }) => id);
const copyNotes = 'COPY note FROM STDIN (FORMAT binary)';
const writeNote = (row: CopyRow, number: number) => row.integer(number);
const expectHealth = (isHealthy: boolean) =>
  eventually(() => database.isHealthy() === isHealthy, { what: `isHealthy() being ${isHealthy}` });

describe('database transactions', () => {
  test('commits a transaction when its work resolves', async () => {
    const result = await database.transaction(async (tx) => {
      await tx.query('INSERT INTO note VALUES (1)');
      expect(await notes()).toEqual([]);
      return 'done';
    });
    expect([result, await notes()]).toEqual(['done', [1]]);
  });

  test('rolls back when the work throws, and keeps the connection usable', async () => {
    const reason = new Error('no');
    const work = () =>
      database.transaction(async (tx) => {
        await tx.query('INSERT INTO note VALUES (1)');
        throw reason;
      });
    // The test makes more attempts than the pool has connections, so each attempt must return its connection.
    for (let times = 0; times < 4; times += 1) await expect(work()).rejects.toBe(reason);

    expect(await notes()).toEqual([]);
    expect(proxy.connectionCount()).toBe(1);
  });

  test('rolls back when a statement fails', async () => {
    const work = database.transaction(async (tx) => {
      await tx.query('INSERT INTO note VALUES (1)');
      await tx.query('INSERT INTO note VALUES (1)');
    });
    await expect(work).rejects.toMatchObject({ code: '23505' });
    expect(await notes()).toEqual([]);
  });

  test('rolls back when the connection breaks between two statements, and the pool keeps working', async () => {
    const work = database.transaction(async (tx) => {
      await tx.query('INSERT INTO note VALUES (1)');
      proxy.cut();
      await eventually(() => proxy.connectionCount() === 0, { what: 'The end of the connection' });
      await tx.query('INSERT INTO note VALUES (2)');
    });
    await expect(work).rejects.toThrow();
    expect(await notes()).toEqual([]);

    await database.transaction((tx) => tx.query('INSERT INTO note VALUES (3)'));
    expect(await notes()).toEqual([3]);
  });

  test('copies rows, and rolls back when the server rejects one of them', async () => {
    const copy = (...numbers: number[]) =>
      database.transaction((tx) => tx.copy(copyNotes, copyRows(1, numbers, writeNote)));
    await copy(1, 2);
    await expect(copy(3, 2)).rejects.toMatchObject({ code: '23505' });
    const tooMany = database.transaction((tx) => tx.copy(copyNotes, copyRows(2, [5], writeNote)));
    await expect(tooMany).rejects.toMatchObject({ code: '22P04' });
    expect(await notes()).toEqual([1, 2]);
    await copy(4);
    expect(await notes()).toEqual([1, 2, 4]);
    expect(proxy.connectionCount()).toBe(1);
  });

  test('rolls back when creating a COPY row throws, and rejects with the same error', async () => {
    const reason = new Error('no such row');
    const fail = (row: CopyRow, number: number) => {
      if (number === 2) throw reason;
      row.integer(number);
    };
    const work = database.transaction((tx) => tx.copy(copyNotes, copyRows(1, [1, 2], fail)));
    await expect(work).rejects.toBe(reason);
    expect(await notes()).toEqual([]);
    await database.transaction((tx) => tx.query('INSERT INTO note VALUES (3)'));
    expect(await notes()).toEqual([3]);
  });

  test('copies several chunks of rows, and rolls back when a late row cannot be created or is rejected', async () => {
    await database.sql.query('CREATE TABLE long_note (body text NOT NULL)');
    const body = 'x'.repeat(1024 * 1024);
    const copy = (writeLast: (row: CopyRow) => void) => {
      const write = (row: CopyRow, megabyte: number) => (megabyte < 20 ? row.text(body) : writeLast(row));
      const megabytes = Array.from({ length: 21 }, (_, index) => index);
      const statement = 'COPY long_note FROM STDIN (FORMAT binary)';
      return database.transaction((tx) => tx.copy(statement, copyRows(1, megabytes, write)));
    };
    const reason = new Error('no such row');
    const fail = () => {
      throw reason;
    };
    await expect(copy(fail)).rejects.toBe(reason);
    await expect(copy((row) => row.null())).rejects.toMatchObject({ code: '23502' });
    expect(await database.sql.query('SELECT count(*)::int FROM long_note')).toEqual([{ count: 0 }]);
    await copy((row) => row.text(body));
    expect(await database.sql.query('SELECT count(*)::int FROM long_note')).toEqual([{ count: 21 }]);
    expect(proxy.connectionCount()).toBe(1);
  });

  test('runs pipelined statements in order, and rolls all of them back when one fails', async () => {
    const insert = (tx: Transaction, number: number) => tx.query('INSERT INTO note VALUES ($1)', [number]);
    const add = (tx: Transaction, number: number) => tx.query('UPDATE note SET id = id + $1', [number]);
    await database.transaction((tx) => tx.pipeline(() => [insert(tx, 1), add(tx, 10), insert(tx, 1), add(tx, 100)]));
    expect(await notes()).toEqual([101, 111]);

    const failing = database.transaction((tx) => tx.pipeline(() => [insert(tx, 7), insert(tx, 101), insert(tx, 8)]));
    await expect(failing).rejects.toMatchObject({ code: '23505' });
    const reason = new Error('there already');
    const explained = async (statement: Promise<unknown>) => {
      const outcome = await statement.catch(async () => null);
      await Promise.resolve();
      if (outcome === null) throw reason;
    };
    const explaining = database.transaction((tx) =>
      tx.commitWith(() => [explained(insert(tx, 101)), insert(tx, 8), insert(tx, 9)]),
    );
    await expect(explaining).rejects.toBe(reason);
    expect(await notes()).toEqual([101, 111]);
    expect(proxy.connectionCount()).toBe(1);
  });

  test('sends the last statements together with COMMIT, and rolls back when one of them fails', async () => {
    const insert = (tx: Transaction, number: number) => tx.query('INSERT INTO note VALUES ($1)', [number]);
    const work = (...numbers: number[]) =>
      database.transaction(async (tx) => {
        await insert(tx, 10);
        await tx.commitWith(() => numbers.map((number) => insert(tx, number)));
        return 'done';
      });
    await expect(work(1, 10, 2)).rejects.toMatchObject({ code: '23505' });
    expect(await notes()).toEqual([]);
    await expect(work(1, 2)).resolves.toBe('done');
    expect(await notes()).toEqual([1, 2, 10]);
    await expect(work()).rejects.toMatchObject({ code: '23505' });
    expect(await notes()).toEqual([1, 2, 10]);
    expect(proxy.connectionCount()).toBe(1);
  });

  test.each<[string, (tx: Transaction) => Promise<unknown>]>([
    ['in a pipeline', (tx) => tx.pipeline(() => [tx.query('SELECT 1'), tx.query('INSERT INTO note VALUES (2)')])],
    ['with the commit', (tx) => tx.commitWith(() => [tx.query('INSERT INTO note VALUES (2)')])],
  ])('a transaction fails when its connection breaks during statements that are sent %s', async (_, send) => {
    const work = database.transaction(async (tx) => {
      await tx.query('INSERT INTO note VALUES (1)');
      proxy.cut();
      await send(tx);
    });
    expect(isTransientError(await work.catch((reason: unknown) => reason))).toBe(true);
    expect(await notes()).toEqual([]);
  });

  test('rolls back when the connection breaks during COPY', async () => {
    const numbers = Array.from({ length: 2_000_000 }, (_, index) => index);
    const write = (row: CopyRow, number: number) => {
      if (number === 1_500_000) proxy.cut();
      row.integer(number);
    };
    const work = database.transaction((tx) => tx.copy(copyNotes, copyRows(1, numbers, write)));
    const error = await work.catch((reason: unknown) => reason);
    expect(isTransientError(error)).toBe(true);
    expect(await notes()).toEqual([]);
  });

  test('a transaction fails when the network drops its packets during COPY', async () => {
    const url = new URL(testDatabase.url);
    url.host = `${proxy.host}:${proxy.port}`;
    const impatient = createDatabase({ url: url.toString(), logger, poolSize: 1, queryTimeoutMs: 2000 });
    try {
      const work = impatient.transaction(async (tx) => {
        await tx.query('INSERT INTO note VALUES (1)');
        proxy.blackHole();
        await tx.copy(copyNotes, copyRows(1, [2], writeNote));
      });
      await expect(work).rejects.toThrow('Query read timeout');
      await proxy.pass();
      expect(await impatient.sql.query('SELECT 1 AS one')).toEqual([{ one: 1 }]);
      expect(await notes()).toEqual([]);
    } finally {
      await impatient.stop();
    }
  });

  test.each<[string, (tx: Transaction) => Promise<unknown>]>([
    ['one statement', (tx) => tx.query('INSERT INTO note VALUES (2)')],
    [
      'a pipeline',
      (tx) => tx.pipeline(() => [tx.query('INSERT INTO note VALUES (2)'), tx.query('INSERT INTO note VALUES (3)')]),
    ],
  ])('a transaction fails and closes its connection when the network drops its packets during %s', async (_, send) => {
    const url = new URL(testDatabase.url);
    url.host = `${proxy.host}:${proxy.port}`;
    const impatient = createDatabase({ url: url.toString(), logger, poolSize: 1, queryTimeoutMs: 2000 });
    try {
      const work = impatient.transaction(async (tx) => {
        await tx.query('INSERT INTO note VALUES (1)');
        proxy.blackHole();
        await send(tx);
      });
      await expect(work).rejects.toThrow('Query read timeout');
      await proxy.pass();
      await eventually(() => proxy.connectionCount() === 0, { what: 'The end of the connection' });
      expect(await impatient.sql.query('SELECT 1 AS one')).toEqual([{ one: 1 }]);
      expect(await notes()).toEqual([]);
    } finally {
      await impatient.stop();
    }
  });
});

describe('database health', () => {
  test('the database is healthy before the first query and after one backend is terminated', async () => {
    expect(database.isHealthy()).toBe(true);
    const [backend] = await database.sql.query<{ pid: number }>('SELECT pg_backend_pid() AS pid');
    await direct.sql.query('SELECT pg_terminate_backend($1, 5000)', [backend?.pid]);
    await eventually(() => proxy.connectionCount() === 0, { what: 'The end of the connection' });

    expect(await database.sql.query('SELECT 1 AS one')).toEqual([{ one: 1 }]);
    expect(database.isHealthy()).toBe(true);
  });

  test('the database becomes unhealthy while the server is down, even without queries, and then recovers', async () => {
    await database.sql.query('SELECT 1');
    await proxy.refuse();
    await expectHealth(false);
    await proxy.pass();
    await expectHealth(true);
    expect(await database.sql.query('SELECT 1 AS one')).toEqual([{ one: 1 }]);
  });

  test.each([
    ['a statement', () => database.sql.query('SELECT 1')],
    ['a transaction', () => database.transaction((tx) => tx.query('SELECT 1'))],
    ['the typed client', () => database.prisma.organization.findMany()],
  ])('the database becomes unhealthy when %s cannot get a connection', async (_, query) => {
    await proxy.refuse();
    await expect(query()).rejects.toThrow();
    await expectHealth(false);
    await proxy.pass();
    await expectHealth(true);
    await query();
  });

  test('the database is unhealthy only while the network drops all packets', async () => {
    proxy.blackHole();
    await expect(database.sql.query('SELECT 1')).rejects.toThrow();
    await expectHealth(false);
    await proxy.pass();
    await expectHealth(true);
  });

  test('failed statements do not make the database unhealthy', async () => {
    await expect(database.sql.query('SELEKT')).rejects.toThrow();
    await expect(
      database.transaction(async (tx) => {
        await tx.query(`SET LOCAL statement_timeout = '10ms'`);
        await tx.query('SELECT pg_sleep(20)');
      }),
    ).rejects.toMatchObject({ code: '57014' });
    expect(database.isHealthy()).toBe(true);
    expect(proxy.connectionCount()).toBe(1);
  });
});

describe('prepared statements', () => {
  let preparing: Database;
  beforeEach(() => {
    preparing = createDatabase({ url: testDatabase.url, logger, poolSize: 1, preparesQueries: true });
  });
  afterEach(() => preparing.stop());
  const prepared = () => preparing.sql.query('SELECT name FROM pg_prepared_statements');

  test('prepares a statement only once, and only if it has values', async () => {
    for (const id of [1, 2, 3]) {
      expect(await preparing.sql.query('SELECT $1::int AS id', [id])).toEqual([{ id }]);
      await preparing.sql.query('SELECT 1');
    }
    expect(await prepared()).toHaveLength(1);
  });

  test('limits the number of prepared statements', async () => {
    for (let index = 0; index < 320; index += 1) {
      expect(await preparing.sql.query(`SELECT $1::int AS i${index}`, [index])).toEqual([{ [`i${index}`]: index }]);
    }
    expect(await prepared()).toHaveLength(300);
  });

  test('does not prepare statements that are marked as unprepared', async () => {
    const text = `${unpreparedPrefix}SELECT $1::int AS id`;
    for (const id of [1, 2]) expect(await preparing.sql.query(text, [id])).toEqual([{ id }]);
    expect(await prepared()).toEqual([]);
  });

  test('runs a prepared statement after a column was added to its table', async () => {
    const ask = () => preparing.sql.query('SELECT * FROM growing WHERE id = $1', [1]);
    await direct.sql.query('CREATE TABLE growing AS SELECT 1 AS id');
    expect(await ask()).toEqual([{ id: 1 }]);
    await direct.sql.query('ALTER TABLE growing ADD COLUMN name TEXT');
    expect(await ask()).toEqual([{ id: 1, name: null }]);
    await expect(preparing.sql.query('SELECT $1::int / 0', [1])).rejects.toMatchObject({ code: '22012' });
  });
});

test('replaces the plan of a lookup that was prepared while the table was empty', async () => {
  const looking = createDatabase({ url: testDatabase.url, logger, poolSize: 1, preparesLookups: true });
  // Both indexes can find the row, but the index on (project, number) would read all rows of the project.
  await direct.sql.query(`
    CREATE TABLE visitor (project INT, name TEXT, number SERIAL, visits INT DEFAULT 0, PRIMARY KEY (project, name));
    CREATE UNIQUE INDEX visitor_number ON visitor (project, number);
    ANALYZE visitor`);
  const visit = `UPDATE visitor SET visits = visits + 1 FROM unnest($1::int[], $2::text[]) AS came (project, name)
                  WHERE visitor.project = came.project AND visitor.name = came.name`;
  const conditions = () =>
    looking.transaction(async (tx) => {
      await tx.query(visit, [[1], ['7']]);
      const lines = await tx.query<{ 'QUERY PLAN': string }>(`EXPLAIN EXECUTE millrace_1 ('{1}', '{7}')`);
      return lines.map((line) => line['QUERY PLAN'].trim()).filter((line) => line.startsWith('Index Cond'));
    });
  const byKey = ['Index Cond: ((project = came.project) AND (name = came.name))'];
  try {
    expect(await conditions()).not.toEqual(byKey);
    await direct.sql.query('INSERT INTO visitor SELECT 1, i::text FROM generate_series(1, 5000) AS i');
    await conditions();
    expect(await conditions()).toEqual(byKey);
  } finally {
    await looking.stop();
  }
});

describe('stopping a database', () => {
  test('stopping the database twice succeeds, even while the server is down', async () => {
    await database.sql.query('SELECT 1');
    await proxy.refuse();
    await expectHealth(false);
    await Promise.all([database.stop(), database.stop()]);
  });

  test('stopping the database closes all its connections', async () => {
    await Promise.all([database.sql.query('SELECT 1'), database.prisma.organization.findMany()]);
    await database.stop();
    await eventually(() => proxy.connectionCount() === 0, { what: 'The end of the last connection' });
  });
});
