import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { createLogger } from '@millrace/runtime';
import {
  createFaultProxy,
  createTestDatabase,
  eventually,
  startPoolerWithoutListen,
  type TestDatabase,
  typeScriptProcess,
} from '@millrace/testing';
import { listen } from './listen.ts';
import { createSqlDatabase, type SqlDatabase } from './sql-database.ts';

const logger = createLogger('test', 'error');
logger.silent = true;
let testDatabase: TestDatabase;
let direct: SqlDatabase;
const ends: (() => Promise<unknown>)[] = [];

beforeAll(async () => {
  testDatabase = await createTestDatabase({ isMigrated: false });
  direct = createSqlDatabase({ url: testDatabase.url, logger });
});
afterEach(async () => {
  for (const end of ends.splice(0).reverse()) await end();
});
afterAll(async () => {
  await direct.stop();
  await testDatabase.drop();
});

const notify = (payload: string) => direct.sql.query('SELECT pg_notify($1, $2)', ['changes', payload]);

function through(host: string, port: number): SqlDatabase {
  const url = Object.assign(new URL(testDatabase.url), { hostname: host, port: String(port) });
  const database = createSqlDatabase({ url: url.toString(), logger, connectTimeoutMs: 3000 });
  ends.push(() => database.stop());
  return database;
}

function listenOn(database: SqlDatabase) {
  const received = { messages: [] as string[], starts: 0, errors: [] as Error[] };
  const listener = database.listen({
    channel: 'changes',
    onMessage: (payload) => received.messages.push(payload),
    onStart: () => {
      received.starts += 1;
    },
    onInterrupted: (error) => received.errors.push(error),
  });
  ends.push(() => listener.stop());
  return { listener, received };
}

test('listeners receive committed notifications, and nothing after they are stopped', async () => {
  const [one, other] = [listenOn(direct), listenOn(direct)];
  await eventually(() => one.listener.isListening() && other.listener.isListening(), { what: 'listening' });
  await notify('a');
  await direct
    .transaction(async (tx) => {
      await tx.query('SELECT pg_notify($1, $2)', ['changes', 'undone']);
      throw new Error('no');
    })
    .catch(() => {});
  await notify('b');
  await eventually(() => one.received.messages.includes('b') && other.received.messages.includes('b'), {
    what: 'the messages',
  });
  expect([one.received, other.received]).toEqual(Array(2).fill({ messages: ['a', 'b'], starts: 1, errors: [] }));
  await one.listener.stop();
  await notify('c');
  await eventually(() => other.received.messages.includes('c'), { what: 'the last message' });
  expect(one.received.messages).not.toContain('c');
});

test.each(['cut', 'refuse', 'blackHole'] as const)(
  'a listener reports a connection lost by %s, and reconnects',
  async (fault) => {
    const { hostname, port } = new URL(testDatabase.url);
    const proxy = await createFaultProxy({ targetHost: hostname, targetPort: Number(port || 5432) });
    ends.push(() => proxy.stop());
    const { listener, received } = listenOn(through(proxy.host, proxy.port));
    await eventually(() => listener.isListening(), { what: 'listening' });
    await proxy[fault]();
    await eventually(() => received.errors.length > 0, { what: 'the report' });
    await proxy.pass();
    await eventually(() => received.starts > 1 && listener.isListening(), { what: 'listening again' });
    await notify('after');
    await eventually(() => received.messages.includes('after'), { what: 'the message' });
    // Each interruption is reported once, even after several failed attempts to reconnect.
    await eventually(() => received.errors.length === received.starts - 1, { what: 'one report' });
  },
);

test('a listener whose process was blocked finds notifications that arrived in the meantime', async () => {
  const errors: Error[] = [];
  const config = () => ({ connectionString: testDatabase.url });
  const listener = listen(
    { channel: 'changes', onMessage() {}, onStart() {}, onInterrupted: (error) => errors.push(error) },
    {
      config,
      async notify(channel, payload) {
        direct.sql.query('SELECT pg_notify($1, $2) FROM pg_sleep(0.5)', [channel, payload]).catch(() => {});
        // Block the process for longer than the echo timeout, while the notification arrives.
        setTimeout(() => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 2500), 100);
      },
    },
  );
  ends.push(() => listener.stop());
  await eventually(() => listener.isListening() || errors.length > 0, { what: 'the message' });
  expect(errors).toEqual([]);
});

test('a listener uses constant memory over time', async () => {
  // Count the objects in a separate process, because tests in Jest use a different `Promise` object.
  const script = `
    import { once } from 'node:events';
    import { Socket } from 'node:net';
    import { queryObjects } from 'node:v8';
    import pg from 'pg';
    import { listen } from './src/listen.ts';
    const socket = new Socket();
    const pool = new pg.Pool({ connectionString: process.argv[1] });
    const started = new EventTarget();
    const listener = listen(
      { channel: 'changes', onMessage() {}, onStart: () => started.dispatchEvent(new Event('start')), onInterrupted() {} },
      {
        config: () => ({ connectionString: process.argv[1], stream: () => socket }),
        notify: (channel, payload) => pool.query('SELECT pg_notify($1, $2)', [channel, payload]),
        pingEveryMs: 0,
      },
    );
    await once(started, 'start');
    const receiveResponses = async (number) => { for (let left = number; left > 0; left -= 1) await once(socket, 'data'); };
    await receiveResponses(50);
    const before = queryObjects(Promise);
    await receiveResponses(500);
    console.log(queryObjects(Promise) - before);
    await listener.stop();
    await pool.end();`;
  const args = [...typeScriptProcess.options, '--input-type=module', '-e', script, testDatabase.url];
  const cwd = fileURLToPath(new URL('..', import.meta.url));
  const { stdout } = await promisify(execFile)(process.execPath, args, { cwd, env: typeScriptProcess.env });
  expect(Number(stdout)).toBeLessThan(100);
});

test('a listener detects a pooler that accepts LISTEN but delivers nothing', async () => {
  const pooler = await startPoolerWithoutListen(testDatabase.url);
  ends.push(pooler.stop);
  const { listener, received } = listenOn(through('127.0.0.1', pooler.port));
  await eventually(() => received.errors.length === 1, { what: 'the report' });
  expect(received.errors[0]?.message).toContain('pooler');
  expect([listener.isListening(), received.starts]).toEqual([false, 0]);
});
