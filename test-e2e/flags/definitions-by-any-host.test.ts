import { createServer, request as pass, type Server } from 'node:http';
import { type AddressInfo, createServer as createTcpServer } from 'node:net';
import { PostHog } from 'posthog-node';
import { type RunningServices, startServices } from '../support/start-services.ts';
import { createSecretKey } from './create-secret-key.ts';

/**
 * An SDK that evaluates by itself gets its definitions and the payloads of remote configuration, whatever `host` it is told of:
 * the gateway, the management API, or one host before both, divided by path as the chart divides it.
 */
let services: RunningServices;
let oneHost: Server;
let secretKey: string;

beforeAll(async () => {
  const ingestPort = await freePort();
  services = await startServices({
    eventLog: 'postgres',
    settings: { INGEST_PORT: String(ingestPort), INGEST_URL: `http://127.0.0.1:${ingestPort}`, LOG_LEVEL: 'error' },
  });
  oneHost = await startOneHost(services);
  secretKey = await createSecretKey(services, services.tenant);
  await createFlag({ key: 'everybody', filters: { groups: [{ rollout_percentage: 100 }] } });
  await createFlag({
    key: 'theme',
    is_remote_configuration: true,
    filters: { groups: [{ rollout_percentage: 100 }], payloads: { true: '{"theme":"dark"}' } },
  });
});
afterAll(async () => {
  oneHost?.close();
  oneHost?.closeAllConnections();
  await services?.stop();
});

async function freePort(): Promise<number> {
  const server = createTcpServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}

async function createFlag(flag: Record<string, unknown>): Promise<void> {
  const { apiUrl, tenant } = services;
  const response = await fetch(`${apiUrl}/api/projects/${tenant.projectId}/feature_flags/`, {
    method: 'POST',
    headers: { authorization: `Bearer ${tenant.personalApiKey}`, 'content-type': 'application/json' },
    body: JSON.stringify({ active: true, ...flag }),
  });
  expect(response.status).toBe(201);
}

async function startOneHost({ ingestUrl, apiUrl }: RunningServices): Promise<Server> {
  const server = createServer((request, response) => {
    const { url = '/', method, headers } = request;
    const isOfApi = url.startsWith('/api/') && !url.startsWith('/api/feature_flag/local_evaluation');
    const asked = pass(new URL(url, isOfApi ? apiUrl : ingestUrl), { method, headers });
    asked.on('response', (answer) => {
      response.writeHead(answer.statusCode ?? 502, answer.headers);
      answer.pipe(response);
    });
    request.pipe(asked);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return server;
}

const hosts: [string, () => string][] = [
  ['the gateway', () => services.ingestUrl],
  ['the management API', () => services.apiUrl],
  ['one host before both', () => `http://127.0.0.1:${(oneHost.address() as AddressInfo).port}`],
];
const keys: [string, () => string][] = [
  ['a secret key', () => secretKey],
  ['a personal key', () => services.tenant.personalApiKey],
];
const rows = hosts.flatMap(([place, host]) => keys.map(([key, value]) => [place, key, host, value] as const));

test.each(rows)('%s, with %s: definitions and a payload', async (_place, _key, host, value) => {
  const client = new PostHog(services.tenant.projectApiKey, {
    host: host(),
    personalApiKey: value(),
    enableLocalEvaluation: true,
    featureFlagsPollingInterval: 60_000,
  });
  try {
    expect(await client.waitForLocalEvaluationReady(20_000)).toBe(true);
    const options = { onlyEvaluateLocally: true, sendFeatureFlagEvents: false };
    expect(await client.getFeatureFlagResult('everybody', 'somebody', options)).toMatchObject({ enabled: true });
    expect(await client.getRemoteConfigPayload('theme')).toEqual({ theme: 'dark' });
  } finally {
    await client.shutdown();
  }
});

test.each([
  '/flags/definitions',
  '/api/feature_flag/local_evaluation',
  '/api/feature_flag/local_evaluation/',
  '/api/projects/@current/feature_flags/local_evaluation/',
])('what SDKs asked for over the years is there by every host: %s', async (path) => {
  const { projectApiKey } = services.tenant;
  for (const [, host] of hosts) {
    const response = await fetch(`${host()}${path}?token=${projectApiKey}&send_cohorts`, {
      headers: { authorization: `Bearer ${secretKey}` },
    });
    expect([response.status, response.headers.get('etag') === null]).toEqual([200, false]);
    await response.arrayBuffer();
  }
});

test('a wrong key is refused by every host, and scripts are answered by the API as before', async () => {
  const { projectApiKey, personalApiKey, projectId } = services.tenant;
  const path = `/api/projects/@current/feature_flags/theme/remote_config?token=${projectApiKey}`;
  for (const [, host] of hosts) {
    const response = await fetch(`${host()}${path}`, { headers: { authorization: 'Bearer phs_wrong' } });
    expect(response.status).toBe(401);
    await response.arrayBuffer();
  }
  const own = await fetch(`${services.apiUrl}/api/projects/${projectId}/feature_flags/local_evaluation/`, {
    headers: { authorization: `Bearer ${personalApiKey}` },
  });
  const { flags } = (await own.json()) as { flags: { key: string }[] };
  // With what the client library makes, nothing else.
  expect(flags.map(({ key }) => key)).toEqual(expect.arrayContaining(['everybody', 'theme']));
});
