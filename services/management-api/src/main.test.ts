import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createDatabase } from '@millrace/db';
import { createLogger, readEnvironment } from '@millrace/runtime';
import {
  type CompiledPrograms,
  compilePrograms,
  createFaultProxy,
  createTestDatabase,
  createTestTenant,
  eventually,
  type FaultProxy,
  type TestDatabase,
  type TestTenant,
} from '@millrace/testing';

/** Tests the process as an operator runs it: it starts while PostgreSQL is unreachable, recovers, and stops cleanly. */
let programs: CompiledPrograms;
let testDatabase: TestDatabase;
let tenant: TestTenant;
let proxy: FaultProxy;
let child: ChildProcess;
let url: string;
let output = '';

beforeAll(async () => {
  programs = await compilePrograms(['services/management-api/src/main.ts']);
  testDatabase = await createTestDatabase();
  const database = createDatabase({ url: testDatabase.url, logger: createLogger('test', 'error') });
  tenant = await createTestTenant(database);
  await database.stop();
  const address = new URL(testDatabase.url);
  proxy = await createFaultProxy({ targetHost: address.hostname, targetPort: Number(address.port || 5432) });
  await proxy.refuse();
  address.host = `${proxy.host}:${proxy.port}`;
  child = spawn(process.execPath, programs.files, {
    env: {
      ...readEnvironment(),
      NODE_OPTIONS: '',
      DATABASE_URL: address.toString(),
      API_PORT: '0',
      API_HOST: '127.0.0.1',
      DRAIN_TIMEOUT_MS: '2000',
    },
    stdio: ['ignore', 'pipe', 'inherit', 'ipc'],
  });
  child.stdout?.on('data', (chunk: Buffer) => {
    output += chunk.toString();
  });
  const [message] = (await once(child, 'message')) as [{ type: string; port: number }];
  expect(message.type).toBe('listening');
  url = `http://127.0.0.1:${message.port}`;
});
afterAll(async () => {
  if (child.exitCode === null) {
    child.kill('SIGKILL');
    await once(child, 'exit');
  }
  await proxy.stop();
  await testDatabase.drop();
  await programs.remove();
});

const probe = () => fetch(`${url}/api/users/@me/`, { headers: { authorization: `Bearer ${tenant.personalApiKey}` } });
const readiness = async () => (await fetch(`${url}/_readiness`)).status;

test('the API is alive but not ready without its database, and reports this in its error responses', async () => {
  expect((await fetch(`${url}/_liveness`)).status).toBe(200);
  expect(await readiness()).toBe(503);
  const response = await probe();
  expect([response.status, response.headers.get('retry-after')]).toEqual([503, '1']);
  expect(await response.json()).toMatchObject({ type: 'server_error', code: 'unavailable', attr: null });
  expect((await fetch(`${url}/api/schema/`)).status).toBe(200);
});

test('the API recovers from several database failures', async () => {
  for (let round = 0; round < 2; round += 1) {
    await proxy.pass();
    await eventually(async () => (await readiness()) === 200, { what: 'becoming ready' });
    expect((await probe()).status).toBe(200);
    await proxy.refuse();
    expect((await probe()).status).toBe(503);
    await eventually(async () => (await readiness()) === 503, { what: 'noticing the loss' });
  }
  await proxy.pass();
  await eventually(async () => (await readiness()) === 200, { what: 'becoming ready' });
});

test('the API serves metrics, and neither the metrics nor the log contain a key', async () => {
  await fetch(`${url}/api/projects/?personal_api_key=${tenant.personalApiKey}`);
  const figures = await (await fetch(`${url}/metrics`)).text();
  expect(figures).toContain('millrace_http_request_seconds_count{operation="users_me_retrieve",status="2xx"}');
  expect(output).toContain('"request failed"');
  for (const text of [figures, output]) expect(text).not.toContain(tenant.personalApiKey);
});

test('the API stops cleanly on a signal', async () => {
  child.kill('SIGTERM');
  const [code] = await once(child, 'exit');
  expect(code).toBe(0);
  expect(output).toContain('"stopped"');
});

test('the API reports all configuration errors at once', async () => {
  const wrong = spawn(process.execPath, programs.files, {
    env: { PATH: readEnvironment().PATH, API_PORT: 'x', TRUST_PROXY: 'perhaps' },
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  let errors = '';
  wrong.stderr?.on('data', (chunk: Buffer) => {
    errors += chunk.toString();
  });
  const [code] = await once(wrong, 'exit');
  expect(code).not.toBe(0);
  for (const name of ['DATABASE_URL', 'API_PORT', 'TRUST_PROXY']) expect(errors).toContain(name);
});
