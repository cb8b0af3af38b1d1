import { request as pass } from 'node:http';
import { patienceMs, startServer, type TestServer } from '@millrace/testing';
import { PostHog } from 'posthog-node';
import { type RunningServices, startServices } from '../support/start-services.ts';
import { createSecretKey } from './create-secret-key.ts';

/**
 * An SDK with local evaluation can request definitions and remote config payloads from the gateway, from the management
 * API, or from a single host that routes paths like the chart.
 */
let services: RunningServices;
let oneHost: TestServer;
/**
 * A proxy from the management API to the gateway, because the gateway's port is known only after both services have
 * started.
 */
let beforeGateway: TestServer;
let secretKey: string;

beforeAll(async () => {
  beforeGateway = await startPassing(() => services.ingestUrl);
  services = await startServices({
    eventLog: 'postgres',
    settings: { INGEST_URL: beforeGateway.url, LOG_LEVEL: 'error' },
  });
  oneHost = await startPassing((path) => {
    const isOfApi = path.startsWith('/api/') && !path.startsWith('/api/feature_flag/local_evaluation');
    return isOfApi ? services.apiUrl : services.ingestUrl;
  });
  secretKey = await createSecretKey(services, services.tenant);
  await createFlag({ key: 'everybody', filters: { groups: [{ rollout_percentage: 100 }] } });
  await createFlag({
    key: 'theme',
    is_remote_configuration: true,
    filters: { groups: [{ rollout_percentage: 100 }], payloads: { true: '{"theme":"dark"}' } },
  });
});
afterAll(async () => {
  await services?.stop();
  await Promise.all([oneHost?.stop(), beforeGateway?.stop()]);
});

async function createFlag(flag: Record<string, unknown>): Promise<void> {
  const { apiUrl, tenant } = services;
  const response = await fetch(`${apiUrl}/api/projects/${tenant.projectId}/feature_flags/`, {
    method: 'POST',
    headers: { authorization: `Bearer ${tenant.personalApiKey}`, 'content-type': 'application/json' },
    body: JSON.stringify({ active: true, ...flag }),
  });
  expect(response.status).toBe(201);
}

function startPassing(hostOf: (path: string) => string): Promise<TestServer> {
  return startServer((request, response) => {
    const { url = '/', method, headers } = request;
    const forwarded = pass(new URL(url, hostOf(url)), { method, headers });
    forwarded.on('response', (received) => {
      response.writeHead(received.statusCode ?? 502, received.headers);
      received.pipe(response);
    });
    request.pipe(forwarded);
  });
}

const hosts: [string, () => string][] = [
  ['the gateway', () => services.ingestUrl],
  ['the management API', () => services.apiUrl],
  ['one host before both', () => oneHost.url],
];
const keys: [string, () => string][] = [
  ['a secret key', () => secretKey],
  ['a personal key', () => services.tenant.personalApiKey],
];
const rows = hosts.flatMap(([place, host]) => keys.map(([key, value]) => [place, key, host, value] as const));

test.each(rows)('%s, with %s: returns flag definitions and a payload', async (_place, _key, host, value) => {
  const client = new PostHog(services.tenant.projectApiKey, {
    host: host(),
    personalApiKey: value(),
    enableLocalEvaluation: true,
    featureFlagsPollingInterval: 60_000,
    requestTimeout: patienceMs,
  });
  try {
    expect(await client.waitForLocalEvaluationReady(patienceMs)).toBe(true);
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
])('serves the definitions path of older SDKs on every host: %s', async (path) => {
  const { projectApiKey } = services.tenant;
  for (const [, host] of hosts) {
    const response = await fetch(`${host()}${path}?token=${projectApiKey}&send_cohorts`, {
      headers: { authorization: `Bearer ${secretKey}` },
    });
    expect([response.status, response.headers.get('etag') === null]).toEqual([200, false]);
    await response.arrayBuffer();
  }
});

test('rejects a wrong key on every host, and returns definitions for a personal API key', async () => {
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
  // The response also contains flags that the client library creates.
  expect(flags.map(({ key }) => key)).toEqual(expect.arrayContaining(['everybody', 'theme']));
});
