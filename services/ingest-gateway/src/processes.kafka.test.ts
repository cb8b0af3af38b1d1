import { type ChildProcess, spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { environment } from '@millrace/runtime';
import {
  type CompiledPrograms,
  compilePrograms,
  createTestDatabase,
  createTestTenant,
  eventually,
  type TestDatabase,
  testServers,
  uniqueTopicPrefix,
} from '@millrace/testing';

let programs: CompiledPrograms;
let database: TestDatabase;
let token: string;
let child: ChildProcess;
let exited: Promise<number | null>;
let url: string;
let taken = 0;

beforeAll(async () => {
  database = await createTestDatabase();
  ({ token } = await createTestTenant(database.url));
  programs = await compilePrograms(['services/ingest-gateway/src/main.ts']);
  child = spawn(process.execPath, programs.files, {
    env: {
      ...environment(),
      NODE_OPTIONS: '',
      GATEWAY_PROCESSES: '2',
      INGEST_PORT: '0',
      INGEST_HOST: '127.0.0.1',
      TOPIC_PREFIX: uniqueTopicPrefix(),
      TOPIC_PARTITIONS: '2',
      STOP_DELAY_MS: '500',
      DATABASE_URL: database.url,
      REDIS_URL: testServers().redisUrl,
      EVENT_LOG: 'kafka',
      KAFKA_BROKERS: testServers().kafkaBrokers.join(','),
    },
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  });
  exited = new Promise((resolve) => child.once('exit', resolve));
  const port = await new Promise<number>((resolve, reject) => {
    child.on('message', (message: { port: number }) => resolve(message.port));
    void exited.then((code) => reject(new Error(`It ended with ${code}.`)));
  });
  url = `http://127.0.0.1:${port}`;
  await eventually(async () => (await capture()) === 200, { what: 'the first event' });
});
afterAll(async () => {
  child.kill('SIGKILL');
  await exited;
  await database.drop();
  await programs.remove();
});

/** Over a connection of its own, so that the processes get requests in turn. */
async function capture(): Promise<number> {
  const { status } = await fetch(`${url}/capture/`, {
    method: 'POST',
    headers: { connection: 'close' },
    body: JSON.stringify({ api_key: token, event: 'a', distinct_id: 'b' }),
  });
  if (status === 200) taken += 1;
  return status;
}

/** The processes the first one has started and that are there. */
function processIds(): number[] {
  const { pid } = child;
  return readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim().split(/\s+/).map(Number);
}

async function countedRequests(): Promise<number> {
  const text = await (await fetch(`${url}/metrics`, { headers: { connection: 'close' } })).text();
  return Number(/^millrace_capture_requests_total\{path="\/capture",status="200"\} (\d+)/m.exec(text)?.[1]);
}

test('whichever process is asked tells the figures of all', async () => {
  for (let sent = 0; sent < 10; sent++) expect(await capture()).toBe(200);
  // Asked in turn. One that is late with its figures is left out of an answer, so a busy machine gets another try.
  await eventually(
    async () => {
      const counted: number[] = [];
      for (let asked = 0; asked < 6; asked++) counted.push(await countedRequests());
      expect(counted).toEqual(counted.map(() => taken));
    },
    { what: 'that all tell the same' },
  );
});

test('a process that ends is replaced, and the others go on', async () => {
  const [victim = 0, other] = processIds();
  process.kill(victim, 'SIGKILL');
  await eventually(() => !processIds().includes(victim) && processIds().length === 2, {
    what: 'another process in its place',
  });
  expect(processIds()).toContain(other);
  for (let sent = 0; sent < 10; sent++) expect(await capture()).toBe(200);
});

test('stopping answers all that comes, and ends all of them in order', async () => {
  const ids = processIds();
  const failures: { why: string; at: number }[] = [];
  let lastTakenAt = 0;
  let isOver = false;
  const clients = Array.from({ length: 4 }, async () => {
    while (!isOver) {
      const begunAt = performance.now();
      await capture().then(
        () => {
          lastTakenAt = Math.max(lastTakenAt, begunAt);
        },
        (error: Error & { cause?: { code?: string } }) => {
          // Nobody listens any more: the end that a client expects.
          if (error.cause?.code === 'ECONNREFUSED') isOver = true;
          else failures.push({ why: String(error.cause?.code ?? error), at: performance.now() });
        },
      );
    }
  });
  await new Promise((resolve) => setTimeout(resolve, 200));
  child.kill('SIGTERM');
  await Promise.all(clients);
  expect(await exited).toBe(0);
  // Who was in the queue of connections when the listening ended is cut off too.
  expect(failures.filter(({ at }) => at < lastTakenAt)).toEqual([]);
  for (const id of ids) expect(() => process.kill(id, 0)).toThrow('ESRCH');
});
