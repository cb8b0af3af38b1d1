import { randomUUID } from 'node:crypto';
import { AppError, createLogger } from '@millrace/runtime';
import {
  createFaultProxy,
  createTestDatabase,
  eventually,
  type FaultProxy,
  type TestDatabase,
} from '@millrace/testing';
import { createDatabase, type Database } from './database.ts';
import { isConnectionError, isTransientError } from './transient-error.ts';

const logger = createLogger('test', 'error');
let testDatabase: TestDatabase;
let proxy: FaultProxy;
let database: Database;
let faulty: Database;

beforeAll(async () => {
  testDatabase = await createTestDatabase();
  const url = new URL(testDatabase.url);
  proxy = await createFaultProxy({ targetHost: url.hostname, targetPort: Number(url.port) });
  url.host = `${proxy.host}:${proxy.port}`;
  database = createDatabase({ url: testDatabase.url, logger });
  faulty = createDatabase({ url: url.toString(), logger, connectTimeoutMs: 2000, poolSize: 2 });
  await database.sql.query('CREATE TABLE counter (id INT PRIMARY KEY, value INT NOT NULL CHECK (value >= 0))');
  await database.sql.query('INSERT INTO counter VALUES (1, 0), (2, 0)');
});
afterEach(() => proxy.pass());
afterAll(async () => {
  await faulty.stop();
  await database.stop();
  await proxy.stop();
  await testDatabase.drop();
});

const add = (id: number) => `UPDATE counter SET value = value + 1 WHERE id = ${id}`;

async function killedTransaction(): Promise<unknown> {
  return database.transaction(async (tx) => {
    const [backend] = await tx.query<{ pid: number }>('SELECT pg_backend_pid() AS pid');
    await database.sql.query('SELECT pg_terminate_backend($1, 5000)', [backend?.pid]);
    await tx.query('SELECT 1');
  });
}

async function deadlock(): Promise<unknown> {
  let arrived = 0;
  const gate: { open?: () => void } = {};
  const bothArrived = new Promise<void>((resolve) => {
    gate.open = resolve;
  });
  const lockBoth = (first: number, second: number) =>
    database.transaction(async (tx) => {
      await tx.query(add(first));
      arrived += 1;
      if (arrived === 2) gate.open?.();
      await bothArrived;
      await tx.query(add(second));
    });
  const outcomes = await Promise.allSettled([lockBoth(1, 2), lockBoth(2, 1)]);
  throw outcomes.find((outcome) => outcome.status === 'rejected')?.reason;
}

async function serializationFailure(): Promise<unknown> {
  return database.transaction(async (tx) => {
    await tx.query('SET TRANSACTION ISOLATION LEVEL REPEATABLE READ');
    await tx.query('SELECT * FROM counter');
    await database.sql.query(add(1));
    await tx.query(add(1));
  });
}

async function lockTimeout(): Promise<unknown> {
  return database.transaction(async (holder) => {
    await holder.query(add(1));
    await database.transaction(async (tx) => {
      await tx.query(`SET LOCAL lock_timeout = '20ms'`);
      await tx.query(add(1));
    });
  });
}

async function statementTimeout(): Promise<unknown> {
  return database.transaction(async (tx) => {
    await tx.query(`SET LOCAL statement_timeout = '20ms'`);
    await tx.query('SELECT pg_sleep(20)');
  });
}

async function throughRefusingProxy(query: () => Promise<unknown>): Promise<unknown> {
  await proxy.refuse();
  return query();
}

async function throughBlackHole(query: () => Promise<unknown>): Promise<unknown> {
  proxy.cut();
  proxy.blackHole();
  return query();
}

const org = { id: '00000000-0000-4000-8000-000000000001', name: 'x' };

const cases: [string, () => Promise<unknown>, { isTransient: boolean; isConnection: boolean }][] = [
  ['a terminated backend', killedTransaction, { isTransient: true, isConnection: true }],
  [
    'a refused connection',
    () => throughRefusingProxy(() => faulty.sql.query('SELECT 1')),
    { isTransient: true, isConnection: true },
  ],
  [
    'a refused connection of the typed client',
    () => throughRefusingProxy(() => faulty.prisma.organization.findMany()),
    { isTransient: true, isConnection: true },
  ],
  [
    'a refused connection of a typed transaction',
    () => throughRefusingProxy(() => faulty.prisma.$transaction([faulty.prisma.organization.count()])),
    { isTransient: true, isConnection: true },
  ],
  [
    'a connection without a response',
    () => throughBlackHole(() => faulty.sql.query('SELECT 1')),
    { isTransient: true, isConnection: true },
  ],
  [
    'a connection of the typed client without a response',
    () => throughBlackHole(() => faulty.prisma.organization.findMany()),
    { isTransient: true, isConnection: true },
  ],
  [
    'a statement whose connection was terminated',
    () => cutWhile((name) => faulty.sql.query(`SELECT pg_sleep(20) /* ${name} */`)),
    { isTransient: true, isConnection: true },
  ],
  [
    'a typed statement whose connection was terminated',
    () => cutWhile((name) => faulty.prisma.$queryRawUnsafe(`SELECT pg_sleep(20) IS NULL AS done /* ${name} */`)),
    { isTransient: true, isConnection: true },
  ],
  ['a deadlock', deadlock, { isTransient: true, isConnection: false }],
  ['a serialization failure', serializationFailure, { isTransient: true, isConnection: false }],
  ['a lock timeout', lockTimeout, { isTransient: true, isConnection: false }],
  ['a statement timeout', statementTimeout, { isTransient: true, isConnection: false }],
  [
    'a write on a read-only server',
    () => database.sql.query(`BEGIN READ ONLY; ${add(1)}; COMMIT`),
    { isTransient: true, isConnection: false },
  ],
  [
    'an AppError with a transient cause',
    async () => {
      throw new AppError('unavailable', 'No.', { cause: await reasonOf(statementTimeout) });
    },
    { isTransient: true, isConnection: false },
  ],
  [
    'several addresses that all refuse',
    async () => {
      throw new AggregateError([Object.assign(new Error('no'), { code: 'ECONNREFUSED' })]);
    },
    { isTransient: true, isConnection: true },
  ],
  [
    'a unique violation',
    () => database.sql.query('INSERT INTO counter VALUES (1, 1)'),
    { isTransient: false, isConnection: false },
  ],
  [
    'a unique violation of the typed client',
    async () => {
      await database.prisma.organization.create({ data: org });
      await database.prisma.organization.create({ data: org });
    },
    { isTransient: false, isConnection: false },
  ],
  [
    'a check violation',
    () => database.sql.query('UPDATE counter SET value = -1'),
    { isTransient: false, isConnection: false },
  ],
  ['a syntax error', () => database.sql.query('SELEKT'), { isTransient: false, isConnection: false }],
  [
    'a null character in a string',
    () => database.sql.query('SELECT $1::text', ['\0']),
    { isTransient: false, isConnection: false },
  ],
  ['an unknown database', () => withoutDatabase(), { isTransient: false, isConnection: false }],
  [
    'a programming error',
    async () => {
      throw new TypeError('x is not a function');
    },
    { isTransient: false, isConnection: false },
  ],
  [
    'a thrown string',
    async () => {
      throw 'ECONNREFUSED';
    },
    { isTransient: false, isConnection: false },
  ],
  [
    'a circular cause',
    async () => {
      const error = new Error('a');
      error.cause = new Error('b', { cause: error });
      throw error;
    },
    { isTransient: false, isConnection: false },
  ],
];

test.each(cases)(
  'classifies %s as transient or permanent, and as a connection error or not',
  async (_, provoke, expected) => {
    const error = await reasonOf(provoke);

    expect({ isTransient: isTransientError(error), isConnection: isConnectionError(error) }).toEqual(expected);
  },
);

async function cutWhile(query: (name: string) => Promise<unknown>): Promise<unknown> {
  // Use a unique name, because the previous case's statement may still be running.
  const name = randomUUID();
  const isSleeping = `query LIKE '%${name}%' AND state = 'active' AND pid <> pg_backend_pid()`;
  const running = query(name);
  running.catch(() => {});
  await eventually(
    async () => (await database.sql.query(`SELECT 1 FROM pg_stat_activity WHERE ${isSleeping}`)).length > 0,
    { what: 'The start of the statement' },
  );
  proxy.cut();
  // The backend notices the broken connection only after its sleep, so terminate it.
  await database.sql.query(`SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity WHERE ${isSleeping}`);
  return running;
}

async function withoutDatabase(): Promise<unknown> {
  const url = new URL(testDatabase.url);
  url.pathname = '/there_is_no_such_database';
  const other = createDatabase({ url: url.toString(), logger });
  try {
    return await other.sql.query('SELECT 1');
  } finally {
    await other.stop();
  }
}

async function reasonOf(provoke: () => Promise<unknown>): Promise<unknown> {
  try {
    await provoke();
  } catch (error) {
    return error;
  }
  throw new Error('It should have failed.');
}
