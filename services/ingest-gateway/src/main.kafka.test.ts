import { type ChildProcess, spawn } from 'node:child_process';
import { connect } from 'node:net';
import { readEnvironment } from '@millrace/runtime';
import {
  type CompiledPrograms,
  compilePrograms,
  createFaultProxy,
  createTestDatabase,
  createTestTenant,
  eventually,
  testServers,
  uniqueTopicPrefix,
} from '@millrace/testing';

let programs: CompiledPrograms;
const running = new Set<ChildProcess>();
beforeAll(async () => {
  programs = await compilePrograms(['services/ingest-gateway/src/main.ts']);
});
afterAll(async () => {
  for (const child of running) child.kill('SIGKILL');
  await programs.remove();
});

interface GatewayProcess {
  url: string;
  output(): string;
  stop(): Promise<number | null>;
}

async function startMain(settings: Record<string, string>): Promise<GatewayProcess> {
  const child = spawn(process.execPath, programs.files, {
    env: {
      ...readEnvironment(),
      NODE_OPTIONS: '',
      INGEST_PORT: '0',
      KAFKA_BROKERS: testServers().kafkaBrokers.join(','),
      TOPIC_PREFIX: uniqueTopicPrefix(),
      TOPIC_PARTITIONS: '2',
      ...settings,
    },
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
  });
  running.add(child);
  let output = '';
  for (const stream of [child.stdout, child.stderr]) stream?.setEncoding('utf8').on('data', (text) => (output += text));
  const exited = new Promise<number | null>((resolve) => child.once('exit', resolve)).finally(() =>
    running.delete(child),
  );
  const listening = new Promise<number>((resolve) => {
    child.on(
      'message',
      (message: { type: string; port: number }) => message.type === 'listening' && resolve(message.port),
    );
  });
  const port = await Promise.race([listening, exited.then(() => Promise.reject(new Error(`It ended.\n${output}`)))]);
  return {
    url: `http://127.0.0.1:${port}`,
    output: () => output,
    stop: () => {
      child.kill('SIGTERM');
      return exited;
    },
  };
}

const ready = (gateway: GatewayProcess) =>
  eventually(async () => (await fetch(`${gateway.url}/_readiness`)).status === 200, {
    what: 'readiness',
  });
const capture = async (gateway: GatewayProcess, token: string) => {
  const body = JSON.stringify({ api_key: token, event: 'a', distinct_id: 'b' });
  return (await fetch(`${gateway.url}/capture/`, { method: 'POST', body })).status;
};

test.each([
  ['kafka', 'Redis'],
  ['postgres', 'no Redis'],
])('the gateway process accepts events with the %s log and %s, and stops cleanly', async (eventLog, cache) => {
  const database = await createTestDatabase();
  const { token } = await createTestTenant(database.url);
  const gateway = await startMain({
    DATABASE_URL: database.url,
    EVENT_LOG: eventLog,
    REDIS_URL: cache === 'Redis' ? testServers().redisUrl : '',
  });
  await ready(gateway);
  expect(await capture(gateway, token)).toBe(200);
  // On a slow machine, the first key lookup may time out, and the event is then accepted.
  await eventually(async () => expect(await capture(gateway, 'phc_nobody')).toBe(401), { what: 'the refusal' });
  expect(await gateway.stop()).toBe(0);
  expect(gateway.output()).toContain('"message":"listening"');
  expect(gateway.output()).not.toContain(token);
  await database.drop();
});

test('the gateway starts and accepts events without PostgreSQL and Redis', async () => {
  const gateway = await startMain({
    DATABASE_URL: 'postgresql://unknown@127.0.0.1:1/none',
    EVENT_LOG: 'kafka',
    REDIS_URL: 'redis://127.0.0.1:1',
  });
  await ready(gateway);
  expect(await capture(gateway, 'phc_anything')).toBe(200);
  expect(await gateway.stop()).toBe(0);
});

test('the gateway stops in time while a client sends a body byte by byte', async () => {
  const gateway = await startMain({
    ...{ DATABASE_URL: 'postgresql://unknown@127.0.0.1:1/none', EVENT_LOG: 'postgres', REDIS_URL: '' },
    ...{ STOP_DELAY_MS: '0', DRAIN_TIMEOUT_MS: '8000' },
  });
  const { hostname, port } = new URL(gateway.url);
  const client = connect(Number(port), hostname).on('error', () => {});
  client.write('POST /capture/ HTTP/1.1\r\nhost: x\r\ncontent-length: 1000\r\n\r\n');
  const sending = setInterval(() => client.write('x'), 100);
  client.once('close', () => clearInterval(sending));
  await eventually(async () => /requests_in_flight [1-9]/.test(await (await fetch(`${gateway.url}/metrics`)).text()), {
    what: 'the request',
  });
  expect(await gateway.stop()).toBe(0);
});

test('the gateway reports all configuration errors together', async () => {
  await expect(startMain({ DATABASE_URL: '', EVENT_LOG: 'paper', MAX_BODY_BYTES: 'many' })).rejects.toThrow(
    /DATABASE_URL[\s\S]*EVENT_LOG[\s\S]*MAX_BODY_BYTES/,
  );
});

test('a gateway for flags is ready after PostgreSQL has responded once, and stays ready during an outage', async () => {
  const database = await createTestDatabase();
  const url = new URL(database.url);
  const proxy = await createFaultProxy({ targetHost: url.hostname, targetPort: Number(url.port || 5432) });
  url.host = `${proxy.host}:${proxy.port}`;
  await proxy.refuse();
  const gateway = await startMain({ DATABASE_URL: url.toString(), GATEWAY_ROLES: 'flags' });
  const readiness = async () => {
    const response = await fetch(`${gateway.url}/_readiness`);
    return { status: response.status, body: await response.json() };
  };
  expect(await readiness()).toEqual({
    status: 503,
    body: { status: 'failing', failing: { database: 'PostgreSQL has not responded yet.' } },
  });
  await proxy.pass();
  await ready(gateway);
  await proxy.refuse();
  expect((await readiness()).status).toBe(200);
  expect(await gateway.stop()).toBe(0);
  await proxy.stop();
  await database.drop();
});
