import { randomUUID } from 'node:crypto';
import { createSqlDatabase, type SqlDatabase } from '@millrace/db/sql';
import { createLogger } from '@millrace/runtime';
import {
  type CompiledPrograms,
  compilePrograms,
  createTestDatabase,
  createTestTenant,
  eventually,
  type ServiceProcess,
  startServer,
  startService,
  type TestDatabase,
  type TestTenant,
  testServers,
  uniqueTopicPrefix,
} from '@millrace/testing';

let programs: CompiledPrograms;
let testDatabase: TestDatabase;
let tenant: TestTenant;
let database: SqlDatabase;
const started: ServiceProcess[] = [];

beforeAll(async () => {
  programs = await compilePrograms(['services/all-in-one/src/main.ts']);
  testDatabase = await createTestDatabase();
  tenant = await createTestTenant(testDatabase.url);
  database = createSqlDatabase({ url: testDatabase.url, logger: createLogger('test', 'error'), poolSize: 2 });
});
afterEach(async () => {
  for (const one of started.splice(0)) await one.kill();
});
afterAll(async () => {
  await database.stop();
  await testDatabase.drop();
  await programs.remove();
});

const settings = () => ({
  ...{ DATABASE_URL: testDatabase.url, EVENT_LOG: 'postgres', TOPIC_PARTITIONS: '2', NODE_ENV: 'production' },
  ...{ INGEST_PORT: '0', API_PORT: '0', HEALTH_PORT: '0' },
});

interface Addresses {
  process: ServiceProcess;
  ingestUrl: string;
  apiUrl: string;
  healthUrl: string;
}

async function start(more: Record<string, string> = {}): Promise<Addresses> {
  const process = await startService('all-in-one', String(programs.files[0]), { ...settings(), ...more });
  started.push(process);
  const portOf = (name: string) => new RegExp(`"${name}":(\\d+)`).exec(process.output())?.[1];
  await eventually(() => portOf('apiPort') !== undefined, { what: 'The ports in the log' });
  const [ingest, api] = [portOf('ingestPort'), portOf('apiPort')].map((port) => `http://127.0.0.1:${port}`);
  return { process, ingestUrl: `${ingest}`, apiUrl: `${api}`, healthUrl: `http://127.0.0.1:${process.port}` };
}

async function post(url: string, body: object) {
  const response = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ api_key: tenant.projectApiKey, ...body }),
  });
  return { status: response.status, body: await response.text() };
}

const readiness = async (url: string) => {
  const response = await fetch(`${url}/_readiness`);
  return { status: response.status, body: (await response.json()) as { status: string; failing: object } };
};
const becomesReady = (url: string) =>
  eventually(async () => expect(await readiness(url)).toMatchObject({ status: 200 }), { what: 'Readiness' });

const storedUuids = async (event: string): Promise<string[]> => {
  const rows = await database.sql.query<{ uuid: string }>('SELECT uuid FROM event WHERE event = $1', [event]);
  return rows.map(({ uuid }) => uuid);
};

test.each(['postgres', 'kafka'])(
  'with the event log on %s, the process stores and returns an event, evaluates flags, and stops',
  async (log) => {
    const { kafkaBrokers, redisUrl } = testServers();
    const onKafka = { KAFKA_BROKERS: kafkaBrokers.join(','), REDIS_URL: redisUrl, TOPIC_PREFIX: uniqueTopicPrefix() };
    const { process, ingestUrl, apiUrl, healthUrl } = await start({
      EVENT_LOG: log,
      ...(log === 'kafka' ? onKafka : {}),
    });
    await becomesReady(healthUrl);
    const event = `first on ${log}`;
    expect(await post(`${ingestUrl}/capture/`, { event, distinct_id: 'ada' })).toMatchObject({ status: 200 });
    const list = `${apiUrl}/api/projects/${tenant.projectId}/events/?event=${encodeURIComponent(event)}`;
    const headers = { authorization: `Bearer ${tenant.personalApiKey}` };
    await eventually(
      async () =>
        expect(await (await fetch(list, { headers })).json()).toMatchObject({
          results: [{ event, distinct_id: 'ada' }],
        }),
      { what: 'The event' },
    );
    const flags = await post(`${ingestUrl}/flags/?v=2`, { distinct_id: 'ada' });
    expect([flags.status, JSON.parse(flags.body)]).toEqual([200, expect.objectContaining({ flags: {} })]);
    const large = await post(`${ingestUrl}/capture/`, {
      event: `large on ${log}`,
      distinct_id: 'ada',
      properties: { text: 'x'.repeat(400_000) },
    });
    expect(large.status).toBe(200);
    expect((await fetch(`${ingestUrl}/static/array.js`)).status).not.toBe(500);

    const figures = await (await fetch(`${healthUrl}/metrics`)).text();
    expect(await (await fetch(`${ingestUrl}/metrics`)).text()).toContain('service="management-api"');
    for (const service of ['ingest-gateway', 'event-consumer', 'management-api', 'delivery-worker']) {
      expect(figures).toMatch(new RegExp(`^millrace_\\w+\\{.*service="${service}".*\\} `, 'm'));
    }
    const names = [...figures.matchAll(/^# TYPE (\S+)/gm)].map(([, name]) => name);
    expect(names.filter((name, at) => names.indexOf(name) !== at)).toEqual([]);
    expect(figures.match(/^process_resident_memory_bytes /gm)).toHaveLength(1);

    expect(await process.stop()).toBe(0);
    expect(process.output()).toMatch(/"service":"delivery-worker"[\s\S]*"message":"stopped","service":"all-in-one"/);
  },
);

test('events acknowledged during shutdown are stored after a restart', async () => {
  const event = `tick ${randomUUID()}`;
  const { process, ingestUrl, healthUrl } = await start();
  await becomesReady(healthUrl);
  const acknowledged: string[] = [];
  let hasEnded = false;
  const clients = Array.from({ length: 8 }, async () => {
    while (!hasEnded) {
      const uuid = randomUUID();
      const response = await post(`${ingestUrl}/capture/`, { event, distinct_id: 'ada', uuid }).catch(() => null);
      if (response?.status === 200) acknowledged.push(uuid);
      if (response === null) await new Promise((resolve) => setTimeout(resolve, 20));
    }
  });
  await eventually(() => acknowledged.length > 100, { what: 'Load' });
  const code = await process.stop();
  hasEnded = true;
  await Promise.all(clients);
  expect(code).toBe(0);

  await start();
  await eventually(
    async () => {
      const stored = new Set(await storedUuids(event));
      expect(acknowledged.filter((uuid) => !stored.has(uuid))).toEqual([]);
    },
    { what: 'All acknowledged events' },
  );
  const stored = await storedUuids(event);
  expect(stored).toHaveLength(new Set(stored).size);
});

test('reports the consumer as not ready if it cannot connect, and keeps the other services running', async () => {
  const { ingestUrl, apiUrl, healthUrl } = await start({ EVENT_LOG: 'kafka', KAFKA_BROKERS: '127.0.0.1:1' });
  expect(await readiness(healthUrl)).toMatchObject({
    status: 503,
    body: { status: 'failing', failing: { 'event-consumer': expect.stringContaining('consumers: Not all topics') } },
  });
  expect((await fetch(`${healthUrl}/_liveness`)).status).toBe(200);
  expect(await post(`${ingestUrl}/flags/?v=2`, { distinct_id: 'ada' })).toMatchObject({ status: 200 });
  await becomesReady(apiUrl);
});

test('if METRICS_PORT is set, serves metrics only on that port', async () => {
  const { process, ingestUrl, apiUrl, healthUrl } = await start({ METRICS_PORT: '0' });
  const line = process
    .output()
    .split('\n')
    .find((one) => /"message":"[^"]*metrics/.test(one));
  const { port } = JSON.parse(line ?? '{}') as { port?: number };
  const text = await (await fetch(`http://127.0.0.1:${port}/metrics`)).text();
  expect(text).toContain('service="ingest-gateway"');
  for (const url of [ingestUrl, apiUrl, healthUrl]) expect((await fetch(`${url}/metrics`)).status).not.toBe(200);
});

test('exits and names the setting if a port is in use', async () => {
  const other = await startServer((_request, response) => response.end());
  const API_PORT = new URL(other.url).port;
  await expect(start({ API_PORT })).rejects.toThrow(
    new RegExp(
      `ended with 1[\\s\\S]*management-api: EADDRINUSE: port ${API_PORT} [\\s\\S]*set API_PORT to a free port`,
    ),
  );
  await other.stop();
});
