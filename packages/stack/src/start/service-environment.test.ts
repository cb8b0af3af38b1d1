import { buildServiceEnvironment, buildServiceUrl } from './service-environment.ts';

const settings = { databaseUrl: 'postgresql://x', secretsKey: 'key of the data directory' };
const ports = { ingest: 8000, api: 8010, health: 8001 };

test("the services do not use Kafka brokers, Redis and databases that the user's environment specifies", () => {
  const env = {
    KAFKA_BROKERS: 'elsewhere:9092',
    REDIS_URL: 'redis://elsewhere',
    DATABASE_URL: 'postgresql://elsewhere',
  };
  expect(buildServiceEnvironment(env, settings, ports)).toMatchObject({
    EVENT_LOG: 'postgres',
    DATABASE_URL: 'postgresql://x',
    KAFKA_BROKERS: undefined,
    REDIS_URL: undefined,
    ...{
      INGEST_PORT: '8000',
      API_PORT: '8010',
      HEALTH_PORT: '8001',
      API_HOST: '127.0.0.1',
      INGEST_URL: 'http://127.0.0.1:8000',
    },
  });
});

test("the services inherit all other settings from the user's environment", () => {
  const env = buildServiceEnvironment(
    { MAX_BODY_BYTES: '5' },
    { ...settings, kafkaBrokers: 'b:1', redisUrl: 'redis://r' },
    ports,
  );
  expect(env).toMatchObject({ MAX_BODY_BYTES: '5', EVENT_LOG: 'kafka', KAFKA_BROKERS: 'b:1', REDIS_URL: 'redis://r' });
});

test.each([
  [{}, 'http://localhost:8010'],
  [{ API_HOST: '::1' }, 'http://localhost:8010'],
  [{ API_HOST: '0.0.0.0' }, undefined],
  [{ API_HOST: '0.0.0.0', PUBLIC_API_URL: 'https://a.example' }, 'https://a.example'],
])('with the environment %p, the public URL is %s', (env, url) => {
  expect(buildServiceEnvironment(env, settings, ports).PUBLIC_API_URL).toBe(url);
});

test.each([
  [{}, 'http://127.0.0.1:8000'],
  [{ INGEST_HOST: '0.0.0.0' }, 'http://127.0.0.1:8000'],
  [{ INGEST_HOST: '::1' }, 'http://[::1]:8000'],
  [{ INGEST_HOST: '10.1.2.3' }, 'http://10.1.2.3:8000'],
])('with the environment %p, the service URL is %s', (env, url) => {
  expect(buildServiceUrl(env, 'ingest', 8000)).toBe(url);
});
