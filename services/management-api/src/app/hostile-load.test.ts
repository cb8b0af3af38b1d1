import { request as httpRequest } from 'node:http';
import { createDatabase } from '@millrace/db';
import { createLogger } from '@millrace/runtime';
import {
  type CompiledPrograms,
  compilePrograms,
  createTestDatabase,
  createTestTenant,
  type HostileBody,
  hostileBodies,
  type ServiceProcess,
  startService,
  type TestDatabase,
  type TestTenant,
} from '@millrace/testing';

/**
 * Tests how the worst request bodies affect the process, according to its own metrics: how long they block the event
 * loop, and how much memory grows. On an idle machine, no body blocks the event loop for more than 30 ms. The limits in
 * this test are higher, so that it passes on busy machines.
 */
const maxBlockedSeconds = 2;
const maxGrowth = 96 * 1024 * 1024;

let program: CompiledPrograms;
let testDatabase: TestDatabase;
let tenant: TestTenant;
let service: ServiceProcess;
beforeAll(async () => {
  program = await compilePrograms(['services/management-api/src/main.ts']);
  testDatabase = await createTestDatabase();
  const database = createDatabase({ url: testDatabase.url, logger: createLogger('test', 'error') });
  tenant = await createTestTenant(database);
  await database.stop();
  service = await startService('management-api', program.files[0] ?? '', {
    DATABASE_URL: testDatabase.url,
    API_PORT: '0',
    API_HOST: '127.0.0.1',
    API_WRONG_KEYS_PER_MINUTE: '0',
    API_REQUESTS_PER_MINUTE: '0',
    API_REQUESTS_PER_HOUR: '0',
  });
  await send('PATCH', '/api/organizations/@current/', { body: Buffer.from('{}'), headers: withKey(), what: '' });
});
afterAll(async () => {
  await service?.stop();
  await testDatabase.drop();
  await program.remove();
});

const withKey = () => ({ authorization: `Bearer ${tenant.personalApiKey}` });
const withoutKey = () => ({});
/** Add smaller bodies that stay within all limits on the number and depth of JSON values. */
const anywhere = [...hostileBodies(1024 * 1024 - 200), ...hostileBodies(128 * 1024)];
const inField = (name: string) =>
  [1024 * 1024 - 200, 128 * 1024].flatMap((bytes) => hostileBodies(bytes, (text) => `{"${name}":${text}}`));

test.each([
  [
    'a path that requires a key, without a key',
    'PATCH',
    '/api/organizations/@current/',
    { credentials: withoutKey, bodies: anywhere },
  ],
  [
    'a public path',
    'POST',
    '/api/signup/00000000-0000-4000-8000-000000000000/',
    { credentials: withoutKey, bodies: anywhere },
  ],
  [
    'a path that requires a key, with a key',
    'PATCH',
    '/api/organizations/@current/',
    { credentials: withKey, bodies: anywhere },
  ],
  [
    'a field of any type',
    'PATCH',
    '/api/environments/@current/',
    { credentials: withKey, bodies: inField('survey_config') },
  ],
  [
    'a list in a field',
    'PATCH',
    '/api/environments/@current/',
    { credentials: withKey, bodies: inField('session_recording_url_trigger_config') },
  ],
] as const)(
  'the process stays responsive when it receives hostile JSON for %s',
  async (_where, method, path, { credentials, bodies }) => {
    const before = await figures();
    for (const hostile of bodies) {
      const status = await send(method, path, { ...hostile, headers: { ...hostile.headers, ...credentials() } });
      const after = await figures();
      expect([hostile.what, status, status < 500]).toEqual([hostile.what, status, true]);
      expect([hostile.what, after.blockedSeconds < maxBlockedSeconds]).toEqual([hostile.what, true]);
      expect([hostile.what, after.memory - before.memory < maxGrowth]).toEqual([hostile.what, true]);
    }
  },
  120_000,
);

function send(method: string, path: string, { body, headers }: HostileBody): Promise<number> {
  return new Promise((resolve, reject) => {
    const length = { 'content-length': String(body.length) };
    const options = { port: service.port, method, path, headers: { ...headers, ...length }, agent: false };
    const outgoing = httpRequest(options, (response) => {
      response.resume().on('end', () => resolve(response.statusCode ?? 0));
    });
    outgoing.on('error', reject).end(body);
  });
}

/** Returns the longest time that the event loop was blocked since the last call, and the current memory usage. */
async function figures(): Promise<{ blockedSeconds: number; memory: number }> {
  const text = await (await fetch(`http://127.0.0.1:${service.port}/metrics`)).text();
  const figure = (name: string) => Number(new RegExp(`^${name} (\\S+)$`, 'm').exec(text)?.[1]);
  return {
    blockedSeconds: figure('nodejs_eventloop_lag_max_seconds'),
    memory: figure('process_resident_memory_bytes'),
  };
}
