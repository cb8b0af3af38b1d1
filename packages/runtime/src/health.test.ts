import { createHealth, type Health, serveMetricsSeparately, startHealthServer } from './health.ts';
import type { Stoppable } from './lifecycle.ts';
import { createLogger } from './logger.ts';
import { createMetrics } from './metrics.ts';

const newHealth = () => createHealth(createMetrics({ withProcessMetrics: false }));

async function request(health: Health, path: string) {
  const response = await health.respond(path);
  return response && { status: response.status, body: JSON.parse(response.body) as unknown };
}

test('health checks report ok while no check fails', async () => {
  const health = newHealth();
  health.addReadinessCheck('database', () => null);
  health.addLivenessCheck('consumer', () => null);

  for (const path of ['/_readiness', '/_liveness']) {
    expect(await request(health, path)).toEqual({ status: 200, body: { status: 'ok', failing: {} } });
  }
});

test('lists a failing readiness check, and reports the process as not ready but alive', async () => {
  const health = newHealth();
  let problem: string | null = 'the database cannot be reached';
  health.addReadinessCheck('database', () => problem);
  health.addReadinessCheck('log', () => null);

  expect(await request(health, '/_readiness')).toEqual({
    status: 503,
    body: { status: 'failing', failing: { database: 'the database cannot be reached' } },
  });
  expect(await request(health, '/_liveness')).toMatchObject({ status: 200 });
  problem = null;
  expect(await request(health, '/_readiness')).toMatchObject({ status: 200 });
});

test('a failing liveness check makes `/_liveness` fail, but not `/_readiness`', async () => {
  const health = newHealth();
  health.addLivenessCheck('consumer', () => 'stuck for 60 s');

  expect(await request(health, '/_liveness')).toEqual({
    status: 500,
    body: { status: 'failing', failing: { consumer: 'stuck for 60 s' } },
  });
  expect(await request(health, '/_readiness')).toMatchObject({ status: 200 });
});

test('runs each health check once per response, so that the response is consistent', async () => {
  const health = newHealth();
  const results: (string | null)[] = ['down', null];
  health.addReadinessCheck('flapping', () => results.shift() ?? null);

  expect(await request(health, '/_readiness')).toEqual({
    status: 503,
    body: { status: 'failing', failing: { flapping: 'down' } },
  });
});

test('treats a health check that throws as failed', async () => {
  const health = newHealth();
  health.addReadinessCheck('broken', () => {
    throw new Error('boom');
  });
  expect(await request(health, '/_readiness')).toEqual({
    status: 503,
    body: { status: 'failing', failing: { broken: 'the health check failed: boom' } },
  });
});

test('a stopping process reports that it is alive but not ready', async () => {
  const health = newHealth();
  health.addReadinessCheck('database', () => null);
  health.setStopping();

  expect(await request(health, '/_readiness')).toEqual({ status: 503, body: { status: 'stopping', failing: {} } });
  expect(await request(health, '/_liveness')).toMatchObject({ status: 200 });
});

test('returns null for paths that are not health checks', async () => {
  expect(await newHealth().respond('/_ready')).toBeNull();
});

test('the health server serves the three health paths and no others until it is stopped', async () => {
  const metrics = createMetrics({ withProcessMetrics: false });
  metrics.counter('millrace_events_stored_total', 'Events stored.', ['topic']).inc({ topic: 'live' }, 3);
  const health = createHealth(metrics);
  health.addReadinessCheck('database', () => 'away');
  const server = await startHealthServer(health, { port: 0, host: '127.0.0.1', setting: 'HEALTH_PORT' });
  const get = async (path: string) => {
    const response = await fetch(`http://127.0.0.1:${server.port}${path}`);
    return { status: response.status, type: response.headers.get('content-type'), body: await response.text() };
  };

  expect(await get('/_readiness?probe=1')).toMatchObject({ status: 503, type: 'application/json' });
  expect(await get('/_liveness')).toMatchObject({ status: 200, body: '{"status":"ok","failing":{}}' });
  expect(await get('/metrics')).toMatchObject({
    status: 200,
    type: expect.stringContaining('text/plain'),
    body: expect.stringContaining('millrace_events_stored_total{topic="live"} 3'),
  });
  expect(await get('/')).toMatchObject({ status: 404 });

  await Promise.all([server.stop(), server.stop()]);
  await expect(get('/_liveness')).rejects.toThrow();
});

test('the health server fails to start on a port in use, with an error that names the setting', async () => {
  const first = await startHealthServer(newHealth(), { port: 0, host: '127.0.0.1', setting: 'HEALTH_PORT' });
  const again = startHealthServer(newHealth(), { port: first.port, host: '127.0.0.1', setting: 'HEALTH_PORT' });
  await expect(again).rejects.toMatchObject({
    code: 'EADDRINUSE',
    message: expect.stringMatching(/port \d+ of 127\.0\.0\.1 is in use.* set HEALTH_PORT/),
  });
  await first.stop();
});

test('serves metrics only on the separate metrics port if one is configured', async () => {
  const health = newHealth();
  const parts: { name: string; stop(): Promise<void>; port?: number }[] = [];
  const lifecycle = {
    own: <T extends Stoppable>(name: string, part: T) => {
      parts.push({ name, ...part });
      return part;
    },
    stop: async () => {},
  };
  const logger = createLogger('test', 'error');
  await serveMetricsSeparately({ metricsHost: '127.0.0.1' }, { lifecycle, health, logger });
  expect([parts, (await health.respond('/metrics'))?.status]).toEqual([[], 200]);

  await serveMetricsSeparately({ metricsPort: 0, metricsHost: '127.0.0.1' }, { lifecycle, health, logger });
  const [server] = parts;
  const statusOf = async (path: string) => (await fetch(`http://127.0.0.1:${server?.port}${path}`)).status;
  expect(await health.respond('/metrics')).toBeNull();
  expect((await health.respond('/_liveness'))?.status).toBe(200);
  expect([await statusOf('/metrics'), await statusOf('/_liveness')]).toEqual([200, 404]);
  await server?.stop();
});
