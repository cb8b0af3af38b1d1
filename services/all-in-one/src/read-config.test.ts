import { readAllConfig } from './read-config.ts';

const least = { DATABASE_URL: 'postgresql://x', EVENT_LOG: 'postgres' };

function problemsOf(env: Record<string, string>): string[] {
  try {
    readAllConfig({ ...least, ...env });
  } catch (error) {
    return (error as { problems?: string[] }).problems ?? [String(error)];
  }
  return [];
}

test('a setting that several services have keeps its default for each service', () => {
  const { gateway, api, consumer, worker } = readAllConfig(least);
  expect([api.databasePoolSize, worker.databasePoolSize]).toEqual([10, 8]);
  expect([gateway, api, consumer, worker].map(({ drainTimeoutMs }) => drainTimeoutMs)).toEqual([
    25_000, 15_000, 25_000, 30_000,
  ]);
});

test("a setting applies to all services that have it, or with a service's name as a prefix, only to that service", () => {
  const { gateway, api, worker } = readAllConfig({
    ...least,
    DATABASE_POOL_SIZE: '20',
    DELIVERY_WORKER_DATABASE_POOL_SIZE: '5',
    INGEST_GATEWAY_LOG_LEVEL: 'debug',
  });
  expect([api.databasePoolSize, worker.databasePoolSize]).toEqual([20, 5]);
  expect([gateway.logLevel, api.logLevel]).toEqual(['debug', 'info']);
});

test('reports the configuration errors of all services together and without duplicates', () => {
  expect(problemsOf({ DATABASE_URL: '', API_PORT: 'x', POLL_INTERVAL_MS: '1', STOP_DELAY_MS: '-1' })).toEqual([
    expect.stringMatching(/^DATABASE_URL is required/),
    expect.stringMatching(/^STOP_DELAY_MS must be a whole number of at least 0/),
    expect.stringMatching(/^API_PORT must be/),
    expect.stringMatching(/^POLL_INTERVAL_MS must be/),
  ]);
});

test.each([
  [{ INGEST_PORT: '8010' }, 'INGEST_PORT and API_PORT are both 8010'],
  [{ HEALTH_PORT: '8000' }, 'INGEST_PORT and HEALTH_PORT are both 8000'],
  [{ METRICS_PORT: '8001' }, 'HEALTH_PORT and METRICS_PORT are both 8001'],
  [
    { DELIVERY_WORKER_HEALTH_PORT: '8021' },
    'DELIVERY_WORKER_HEALTH_PORT has no effect when one process runs all services. Set HEALTH_PORT',
  ],
])('rejects %p, which cannot work in a single process', (env, problem) => {
  expect(problemsOf(env)).toEqual([expect.stringContaining(problem)]);
});

test('accepts port 0 for several ports of the process', () => {
  expect(problemsOf({ INGEST_PORT: '0', API_PORT: '0', HEALTH_PORT: '0', METRICS_PORT: '0' })).toEqual([]);
});

test('every service rejects an unknown log level', () => {
  const problem = 'LOG_LEVEL must be one of error, warn, info, debug (lowest level of log messages to write)';
  expect(problemsOf({ LOG_LEVEL: 'loud' })).toEqual([problem]);
  expect(problemsOf({ INGEST_GATEWAY_LOG_LEVEL: 'loud', EVENT_CONSUMER_LOG_LEVEL: 'loud' })).toEqual([problem]);
});
