import { getContainer, getEnvironment, getPodSpec, type Manifest } from './testing/manifest.ts';
import { filterByKind, findManifest, leastValues, renderChart } from './testing/render-chart.ts';

/**
 * Chart values, and the resulting environment variables of a gateway. A value from a secret has the format
 * `secret/key`.
 */
const cases: [string, object, Record<string, string | undefined>][] = [
  ['a PostgreSQL URL in the values', {}, { DATABASE_URL: 'm-millrace-stores/DATABASE_URL', DATABASE_USER: undefined }],
  [
    'CloudNativePG',
    {
      postgresql: {
        existingSecret: { name: 'db-app', urlKey: 'uri' },
        tls: { mode: 'verify-full', ca: { secret: 'db-ca' } },
      },
    },
    {
      DATABASE_URL: 'db-app/uri',
      DATABASE_SSL_MODE: 'verify-full',
      DATABASE_SSL_CA_FILE: '/etc/millrace/certificates/postgresql-ca.crt',
      DATABASE_USER: undefined,
    },
  ],
  [
    'a managed PostgreSQL with user and password in a secret',
    { postgresql: { host: 'db.example.net', database: 'events', existingSecret: { name: 'rds' } } },
    {
      DATABASE_URL: 'postgresql://db.example.net:5432/events',
      DATABASE_USER: 'rds/username',
      DATABASE_PASSWORD: 'rds/password',
    },
  ],
  [
    'PostgreSQL on an IPv6 address, user and password in the values',
    { postgresql: { host: 'fd00::1', port: 6432, user: 'u', password: 'p' } },
    {
      DATABASE_URL: 'postgresql://[fd00::1]:6432/millrace',
      DATABASE_USER: 'u',
      DATABASE_PASSWORD: 'm-millrace-stores/DATABASE_PASSWORD',
    },
  ],
  [
    'PostgreSQL that requires a client certificate',
    { postgresql: { ...leastValues.postgresql, tls: { client: { secret: 'pg' } } } },
    {
      DATABASE_SSL_CERT_FILE: '/etc/millrace/certificates/postgresql.crt',
      DATABASE_SSL_KEY_FILE: '/etc/millrace/certificates/postgresql.key',
    },
  ],
  [
    'Kafka without TLS',
    {},
    { KAFKA_BROKERS: 'kafka.stores:9092', KAFKA_SSL: 'false', KAFKA_SASL_MECHANISM: undefined },
  ],
  [
    'Strimzi with a password',
    {
      kafka: {
        brokers: ['a:9093', 'b:9093'],
        sasl: { mechanism: 'scram-sha-512', username: 'millrace', existingSecret: { name: 'user' } },
        tls: { enabled: true, ca: { secret: 'cluster-ca' } },
      },
    },
    {
      KAFKA_BROKERS: 'a:9093,b:9093',
      KAFKA_SSL: 'true',
      KAFKA_SSL_CA_FILE: '/etc/millrace/certificates/kafka-ca.crt',
      KAFKA_SASL_MECHANISM: 'scram-sha-512',
      KAFKA_SASL_USERNAME: 'millrace',
      KAFKA_SASL_PASSWORD: 'user/password',
    },
  ],
  [
    'a managed Kafka with key and secret',
    {
      kafka: {
        brokers: ['pkc.example.net:9092'],
        sasl: { mechanism: 'plain', existingSecret: { name: 'cloud', usernameKey: 'key', passwordKey: 'secret' } },
        tls: { enabled: true },
      },
    },
    {
      KAFKA_SSL: 'true',
      KAFKA_SSL_CA_FILE: undefined,
      KAFKA_SASL_USERNAME: 'cloud/key',
      KAFKA_SASL_PASSWORD: 'cloud/secret',
    },
  ],
  [
    'Kafka with mTLS',
    { kafka: { brokers: ['a:9093'], tls: { enabled: true, ca: { configMap: 'bundle' }, client: { secret: 'user' } } } },
    {
      KAFKA_SSL_CA_FILE: '/etc/millrace/certificates/kafka-ca.crt',
      KAFKA_SSL_CERT_FILE: '/etc/millrace/certificates/kafka.crt',
      KAFKA_SSL_KEY_FILE: '/etc/millrace/certificates/kafka.key',
      KAFKA_SASL_MECHANISM: undefined,
    },
  ],
  [
    'the event log in PostgreSQL',
    { eventLog: { type: 'postgres' }, kafka: {} },
    { EVENT_LOG: 'postgres', KAFKA_BROKERS: undefined, EVENT_LOG_FALLBACK: undefined },
  ],
  ['an installation without Redis', {}, { REDIS_URL: undefined, REDIS_MODE: undefined }],
  [
    'a Redis URL in the values',
    { redis: { url: 'redis://r' } },
    { REDIS_URL: 'm-millrace-stores/REDIS_URL', REDIS_MODE: 'single' },
  ],
  [
    'a Redis URL in a secret',
    { redis: { existingSecret: { name: 'theirs', urlKey: 'url' } } },
    { REDIS_URL: 'theirs/url', REDIS_PASSWORD: undefined },
  ],
  [
    'Redis Sentinel',
    {
      redis: {
        mode: 'sentinel',
        nodes: ['s1:26379', 's2:26379'],
        existingSecret: { name: 'redis' },
        sentinel: { master: 'events', passwordKey: 'redis-password' },
      },
    },
    {
      REDIS_URL: 'redis://s1:26379,s2:26379',
      REDIS_MODE: 'sentinel',
      REDIS_PASSWORD: 'redis/redis-password',
      REDIS_SENTINEL_MASTER: 'events',
      REDIS_SENTINEL_PASSWORD: 'redis/redis-password',
    },
  ],
  [
    'Redis Sentinel with passwords in the values',
    { redis: { mode: 'sentinel', nodes: ['s1:26379'], password: 'p', sentinel: { password: 's' } } },
    {
      REDIS_PASSWORD: 'm-millrace-stores/REDIS_PASSWORD',
      REDIS_SENTINEL_MASTER: 'mymaster',
      REDIS_SENTINEL_PASSWORD: 'm-millrace-stores/REDIS_SENTINEL_PASSWORD',
    },
  ],
  [
    'Redis Cluster with TLS',
    {
      redis: {
        mode: 'cluster',
        nodes: ['a:6379', 'b:6379'],
        username: 'u',
        password: 'p',
        tls: { enabled: true, ca: { secret: 'ca' } },
      },
    },
    {
      REDIS_URL: 'rediss://a:6379,b:6379',
      REDIS_MODE: 'cluster',
      REDIS_USERNAME: 'u',
      REDIS_PASSWORD: 'm-millrace-stores/REDIS_PASSWORD',
      REDIS_CA_FILE: '/etc/millrace/certificates/redis-ca.crt',
    },
  ],
];

const gatewayOf = (rendered: Manifest[]) => findManifest(rendered, 'Deployment', 'm-millrace-gateway');

describe.each(cases)('%s', (_, values, expected) => {
  let rendered: Manifest[];
  beforeAll(async () => {
    rendered = await renderChart({ values: { ...leastValues, ...values } });
  });

  test('the gateway gets the expected settings', () => {
    const environment = getEnvironment(gatewayOf(rendered));
    const configured = Object.keys(expected).map((name) => [name, environment[name]]);
    expect(Object.fromEntries(configured)).toEqual(expected);
  });

  test('creates every secret that the chart refers to, with its key', () => {
    const made = filterByKind(rendered, 'Secret').flatMap(({ metadata, data = {} }) =>
      Object.keys(data).map((key) => `${metadata.name}/${key}`),
    );
    const named = rendered
      .filter((one) => getPodSpec(one) !== undefined)
      .flatMap((one) => Object.values(getEnvironment({ ...one, spec: one.spec })))
      .filter((value) => value.startsWith('m-millrace'));
    expect(named.filter((name) => !made.includes(name))).toEqual([]);
  });

  test('mounts every file that settings refer to', () => {
    for (const deployment of filterByKind(rendered, 'Deployment')) {
      const files = Object.entries(getEnvironment(deployment)).filter(([name]) => name.endsWith('_FILE'));
      const volumes = getPodSpec(deployment)?.volumes ?? [];
      for (const [, file] of files) {
        const [, volume, path] = /^\/etc\/millrace\/(\w+)\/(.+)$/.exec(file) ?? [];
        const sources = volumes.find(({ name }) => name === volume)?.projected?.sources;
        expect(JSON.stringify(sources)).toContain(`"${path}"`);
      }
    }
  });
});

test('renders no secret in plain text', async () => {
  const values = {
    postgresql: { host: 'db', user: 'u', password: 'hush-1' },
    kafka: { brokers: ['k:1'], sasl: { mechanism: 'plain', username: 'u', password: 'hush-2' } },
    redis: { nodes: ['r:1'], mode: 'sentinel', password: 'hush-3', sentinel: { password: 'hush-4' } },
    mail: { url: 'smtp://u:hush-5@mail' },
  };
  const rendered = await renderChart({ values });
  expect(JSON.stringify(rendered.filter(({ kind }) => kind !== 'Secret'))).not.toContain('hush');
  const secretValues = filterByKind(rendered, 'Secret').map(({ data = {} }) =>
    Object.values(data).map((value) => atob(value)),
  );
  expect(secretValues.flat().filter((value) => value.includes('hush')).length).toBe(6);
});

test("with secretsAsFiles, mounts secrets as files and sets only the operator's own variables", async () => {
  const own = { name: 'OWN', valueFrom: { secretKeyRef: { name: 'theirs', key: 'own' } } };
  const values = {
    ...leastValues,
    secretsAsFiles: true,
    postgresql: { host: 'db', existingSecret: { name: 'pg' } },
    redis: { nodes: ['r:1'], existingSecret: { name: 'redis' } },
    gateway: { extraEnv: [own] },
  };
  const gateway = gatewayOf(await renderChart({ values }));
  expect(getEnvironment(gateway)).toMatchObject({
    DATABASE_USER_FILE: '/etc/millrace/secrets/DATABASE_USER',
    DATABASE_PASSWORD_FILE: '/etc/millrace/secrets/DATABASE_PASSWORD',
    REDIS_PASSWORD_FILE: '/etc/millrace/secrets/REDIS_PASSWORD',
    SECRETS_KEY_FILE: '/etc/millrace/secrets/SECRETS_KEY',
  });
  expect(getContainer(gateway).env.filter(({ valueFrom }) => valueFrom !== undefined)).toEqual([own]);
  expect(getPodSpec(gateway)?.volumes?.find(({ name }) => name === 'secrets')?.projected?.sources).toContainEqual({
    secret: { name: 'redis', items: [{ key: 'redis-password', path: 'REDIS_PASSWORD' }] },
  });
});

test("replaces the pods when a secret in the chart's values changes", async () => {
  const annotations = async (values: object) =>
    gatewayOf(await renderChart({ values: { ...leastValues, ...values } })).spec.template?.metadata.annotations;
  expect(await annotations({})).toEqual(await annotations({ mail: { from: 'us@example.com' } }));
  expect(await annotations({})).not.toEqual(await annotations({ redis: { url: 'redis://other' } }));
});

test.each<[object, Record<string, string | undefined>, number[]]>([
  [
    { direct: { host: 'db', port: 5433 } },
    { DATABASE_URL: 'postgresql://db:5433/millrace', DATABASE_USER: 'pg/username' },
    [6432, 5433],
  ],
  [
    { direct: { existingSecret: { name: 'direct' } }, host: '', ...leastValues.postgresql, existingSecret: {} },
    { DATABASE_URL: 'direct/uri' },
    [5432],
  ],
  [{}, { DATABASE_URL: 'postgresql://pgbouncer:6432/millrace', DATABASE_PASSWORD: 'pg/password' }, [6432]],
])('migrations bypass a pooler: %j', async (postgresql, expected, expectedPorts) => {
  const pooled = { host: 'pgbouncer', port: 6432, existingSecret: { name: 'pg' } };
  const rendered = await renderChart({ values: { ...leastValues, postgresql: { ...pooled, ...postgresql } } });
  expect(getEnvironment(findManifest(rendered, 'Job', 'm-millrace-migrate'))).toMatchObject(expected);
  expect(getEnvironment(gatewayOf(rendered)).DATABASE_URL).not.toMatch(/db|direct/);
  const { spec } = findManifest(rendered, 'NetworkPolicy', 'm-millrace-migrate');
  const ports = spec.egress?.flatMap((rule) => rule.ports?.map(({ port }) => port));
  expect(ports).toEqual([53, 53, ...expectedPorts]);
});
