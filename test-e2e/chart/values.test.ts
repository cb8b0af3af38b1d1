import { helmTemplate, leastValues } from './testing/render-chart.ts';

const { postgresql, kafka } = leastValues;
const ipv6 = (name: string) => ({ [name]: '::', METRICS_HOST: '::' });

test.each<[object, string]>([
  [{ gateway: { replica: 3 } }, "at '/gateway': additional properties 'replica' not allowed"],
  [{ gatway: {} }, "additional properties 'gatway' not allowed"],
  [
    { gateway: { settings: { MAX_BODY_BYTE: 1 } } },
    "at '/gateway/settings': additional properties 'MAX_BODY_BYTE' not",
  ],
  [{ gateway: { settings: { DATABASE_URL: 'x' } } }, "additional properties 'DATABASE_URL' not allowed"],
  [
    { gateway: { settings: { STOP_DELAY_MS: 'ten' } } },
    "at '/gateway/settings/STOP_DELAY_MS': got string, want integer",
  ],
  [{ gateway: { settings: { LARGE_BODY_THREADS: 65 } } }, 'maximum: got 65, want 64'],
  [{ gateway: { replicas: -1 } }, "at '/gateway/replicas': minimum: got -1, want 0"],
  [{ keda: { enabled: 'yes' } }, "at '/keda/enabled': got string, want boolean"],
  [{ eventLog: { type: 'kinesis' } }, "at '/eventLog/type': value must be one of 'kafka', 'postgres'"],
  [{ consumers: { live: { topics: ['lve'] } } }, "value must be one of 'live', 'historical', 'overflow'"],
  [{ podAnnotations: { a: 1 } }, "at '/podAnnotations/a': got number, want string"],
  [{ gateway: null }, "missing property 'gateway'"],
  [{ managementApi: { service: null } }, "at '/managementApi': missing property 'service'"],
  [{ networkPolicies: { world: null } }, "at '/networkPolicies': missing property 'world'"],
  [{ redis: { nodes: null } }, "at '/redis': missing property 'nodes'"],
  [{ postgresql: {} }, 'postgresql: the address is required.'],
  [{ postgresql: { ...postgresql, host: 'db' } }, 'postgresql: the address is set more than once.'],
  [{ postgresql: { host: 'db', user: 'u' } }, 'Set `postgresql.user` and `postgresql.password`'],
  [{ postgresql: { ...postgresql, direct: { host: 'db' } } }, 'postgresql.direct.host requires `postgresql.host`'],
  [{ postgresql: { url: 'mysql://db' } }, 'postgresql.url must have the form postgresql://'],
  [
    { postgresql: { ...postgresql, tls: { mode: 'disable', ca: { secret: 'x' } } } },
    'certificates are set, but `mode` is disable',
  ],
  [{ postgresql: { ...postgresql, tls: { mode: 'no-verify', ca: { secret: 'x' } } } }, '`ca` has no effect'],
  [{ kafka: {} }, 'kafka.brokers is required. List some brokers as host:port'],
  [{ kafka: { brokers: ['k'] } }, 'kafka.brokers: "k" must have the form host:port.'],
  [{ kafka: { brokers: ['[fd00::1]:9092'] } }, 'kafka.brokers: "[fd00::1]:9092" is an IPv6 address.'],
  [{ kafka: { ...kafka, sasl: { mechanism: 'plain', password: 'p' } } }, 'kafka.sasl: a user name is required.'],
  [{ kafka: { ...kafka, sasl: { mechanism: 'plain', username: 'u' } } }, 'kafka.sasl: a password is required.'],
  [{ kafka: { ...kafka, sasl: { username: 'u' } } }, 'but `mechanism` is missing'],
  [{ kafka: { ...kafka, tls: { ca: { secret: 'x' } } } }, '`kafka.tls.enabled` is false'],
  [{ redis: { url: 'redis://a', nodes: ['a:1'] } }, 'redis: the address is set more than once.'],
  [{ redis: { password: 'p' } }, 'redis: credentials are set, but the address is missing.'],
  [{ redis: { nodes: ['a'] } }, 'redis.nodes: "a" must have the form host:port.'],
  [{ redis: { nodes: ['a:1', 'b:1'] } }, 'Set `redis.mode` to sentinel or cluster.'],
  [{ redis: { url: 'redis://a', tls: { ca: { secret: 'x' } } } }, 'but the connection does not use TLS'],
  [
    { eventLog: { type: 'postgres', fallback: 'postgres' } },
    'eventLog.fallback is supported only with `eventLog.type: kafka`',
  ],
  [{ consumers: { live: null } }, 'no consumer reads the topic live'],
  [{ consumers: { more: {} } }, 'consumers.more.topics is required.'],
  [{ consumers: { A_b: { topics: ['live'] } } }, 'Use at most 18 lower-case letters'],
  [{ consumers: { 'nineteen-characters': { topics: ['live'] } } }, 'Use at most 18 lower-case letters'],
  [{ gateway: { autoscaling: { minReplicas: 20 } } }, 'maxReplicas (10) is less than minReplicas (20)'],
  [{ gateway: { autoscaling: { minReplicas: 0 } } }, 'Only consumers can be scaled to zero, and only with KEDA'],
  [{ eventLog: { type: 'postgres' }, keda: { enabled: true } }, 'KEDA reads the lag from Kafka'],
  [{ gateway: { resources: { requests: { cpu: null } } } }, 'gateway.resources.requests.cpu is required'],
  [{ consumers: { live: { resources: { requests: null } } } }, 'consumers.live.resources.requests.cpu is required'],
  [{ gateway: { extraEnv: [{ name: 'DATABASE_URL', value: 'x' }] } }, 'gateway: `extraEnv` contains DATABASE_URL'],
  [{ podLabels: { 'app.kubernetes.io/name': 'x' } }, 'gateway: the label app.kubernetes.io/name is reserved'],
  [{ ingress: { enabled: true } }, 'ingress.enabled requires `host`'],
  [
    { host: 'e.x', ingress: { enabled: true, annotations: { 'cert-manager.io/issuer': 'ca' } } },
    'Set `ingress.tls.secretName` to the secret',
  ],
  [{ gatewayApi: { enabled: true }, host: 'a.b' }, 'gatewayApi.parentRefs is required.'],
  [{ host: 'https://a.b' }, '"https://a.b" is not a host name.'],
  [{ host: 'a.b', apiHost: 'a.b' }, 'apiHost is the same as `host`'],
  [{ gateway: { terminationGracePeriodSeconds: 10 } }, 'but a gateway takes up to 30 s to stop'],
  [{ gateway: { settings: { STOP_DELAY_MS: 30_000 } } }, 'STOP_DELAY_MS (30000) is part of DRAIN_TIMEOUT_MS (25000)'],
  [
    { postgresql: { host: 'db:5433', user: 'u', password: 'p' } },
    'postgresql.host must contain only a host name or IP address.',
  ],
  [
    { postgresql: { host: 'u:secret@db', user: 'u', password: 'p' } },
    'postgresql.host must contain only a host name or IP address.',
  ],
  [
    { postgresql: { ...postgresql, existingSecret: { name: 's' } } },
    'postgresql: the user and password have no effect',
  ],
  [{ redis: { url: 'redis://r', password: 'p' } }, 'redis: the user and password have no effect with a complete URL.'],
  [{ redis: { url: 'redis://r', existingSecret: { name: 's' } } }, 'redis: the user and password have no effect'],
  [{ mail: { url: 'smtp://m', existingSecret: { name: 's' } } }, 'mail: the address is set twice'],
  [{ keys: { secretsKeyKey: 'k', tokenSecretKey: 'k' } }, 'keys: `secretsKeyKey` and `tokenSecretKey` must be'],
  [
    { fullnameOverride: 'Mill_race' },
    'The prefix must consist of lower-case letters, digits and hyphens, and start with a letter.',
  ],
  [{ nameOverride: 'mill race' }, 'nameOverride: "mill race" cannot be used as a label.'],
  [{ host: 'Events.x', ingress: { enabled: true } }, '"Events.x" cannot be used in an Ingress or a Gateway.'],
  [{ host: '10.0.0.1', ingress: { enabled: true } }, '"10.0.0.1" cannot be used in an Ingress or a Gateway.'],
  [{ metrics: { port: 8021 } }, 'metrics.port is 8021, which is also the port of a delivery-worker.'],
  [{ labels: { 'helm.sh/chart': 'x' } }, 'labels: helm.sh/chart is reserved for the chart'],
  [{ migrations: { extraEnv: [{ name: 'DATABASE_URL', value: 'x' }] } }, 'migrations.extraEnv contains DATABASE_URL'],
  [{ tests: { podLabels: { 'app.kubernetes.io/component': 'x' } } }, 'tests.podLabels: app.kubernetes.io/component is'],
  [
    { gateway: { service: { loadBalancerSourceRanges: ['10.0.0.0/8'] } } },
    'gateway.service.loadBalancerSourceRanges requires `type: LoadBalancer`.',
  ],
  [
    { flags: { enabled: true, service: { externalTrafficPolicy: 'Local' } } },
    'flags.service.externalTrafficPolicy requires',
  ],
  [{ gateway: { extraEnv: [{ name: 'A', value: 5 }] } }, "at '/gateway/extraEnv/0/value': got number, want string"],
  [{ gateway: { extraEnv: [{ value: '5' }] } }, "at '/gateway/extraEnv/0': missing property 'name'"],
  [{ gateway: { resources: { limit: {} } } }, "at '/gateway/resources': additional properties 'limit' not allowed"],
  [{ gateway: { resources: { limits: { memory: '1GB' } } } }, "at '/gateway/resources/limits/memory': '1GB' does not"],
  [{ image: { digest: 'abc' } }, "at '/image/digest': 'abc' does not match"],
  [{ image: { repository: 'millrace:1' } }, "at '/image/repository': 'millrace:1' does not match"],
  [{ image: { registry: 'https://r' } }, "at '/image/registry': 'https://r' does not match"],
  [{ keys: { existingSecret: 'My keys' } }, "at '/keys/existingSecret': 'My keys' does not match"],
  [{ serviceMonitor: { interval: '15' } }, "at '/serviceMonitor/interval': '15' does not match"],
  [{ dashboards: { label: '' } }, "at '/dashboards/label': '' does not match"],
  [{ eventLog: { topicPrefix: 'a b' } }, "at '/eventLog/topicPrefix': 'a b' does not match"],
  [{ consumers: { live: { topics: ['live', 'live'] } } }, "at '/consumers/live/topics': items at 0 and 1 are equal"],
  [
    { ingress: { extraPaths: [{ path: 'x', service: 'flags' }] } },
    "at '/ingress/extraPaths/0/path': 'x' does not match",
  ],
  [{ networkPolicies: { world: { cidrs: ['10.0.0.1'] } } }, "'10.0.0.1' does not match"],
  [{ deliveryWorker: { terminationGracePeriodSeconds: 20 } }, 'but a delivery-worker takes up to 33 s to stop'],
])('the chart rejects the values %j', async (values, sentence) => {
  const { status, output } = await helmTemplate({ values: { ...leastValues, ...values } });
  expect(output).toContain(sentence);
  expect(status).toBe(1);
  expect(output).not.toContain('secret@');
});

test.each(['1st', 'events.eu'])(
  'rejects the release name %s, because Service names cannot begin like this',
  async (release) => {
    const { output } = await helmTemplate({ release, values: leastValues });
    expect(output).toContain(`The name "${release}-millrace" cannot be used as the prefix`);
    await expect(helmTemplate({ release, values: { ...leastValues, fullnameOverride: 'm' } })).resolves.toMatchObject({
      status: 0,
    });
  },
);

test('reports all invalid values at the same time', async () => {
  const values = { postgresql: {}, kafka: {}, ingress: { enabled: true }, consumers: { overflow: null } };
  const { output } = await helmTemplate({ values });
  expect(output.match(/^ {2}- /gm)).toHaveLength(4);
});

test.each<object>([
  { gateway: { settings: { LARGE_BODY_HEAP_MB: null } } },
  { flags: { enabled: true, settings: null } },
  { consumers: { overflow: null, all: { topics: ['overflow'], podLabels: { a: 'b' } } } },
  { networkPolicies: { clients: [], monitoring: [], dns: [], extraEgress: [] }, podLabels: {}, affinity: {} },
  { gateway: { replicas: 0, autoscaling: { enabled: false }, preStopSeconds: 0 } },
  { global: { anything: true } },
  { gateway: { resources: { requests: { cpu: null }, limits: { cpu: '2' } } } },
  { gateway: { settings: { STOP_DELAY_MS: 30_000, DRAIN_TIMEOUT_MS: 60_000 } } },
  { postgresql: { host: '[fd00::1]', user: 'u', password: 'p' }, image: { registry: '', repository: 'r:5000/a/b' } },
  { host: '10.0.0.1', redis: { url: 'redis://r:26379', mode: 'sentinel', sentinel: { password: 'p' } } },
  { redis: { nodes: ['[fd00::1]:6379'] } },
  { gateway: { resources: { requests: { cpu: 1, memory: '1.5Gi' }, limits: null } } },
  { keys: { existingSecret: 'k', secretsKeyKey: 'a', tokenSecretKey: 'a' } },
  // A cluster with IPv6 (docs/operations/install.md)
  {
    ...{ gateway: { settings: ipv6('INGEST_HOST') }, flags: { enabled: true, settings: ipv6('INGEST_HOST') } },
    ...{ managementApi: { settings: ipv6('API_HOST') }, consumerDefaults: { settings: ipv6('HEALTH_HOST') } },
    deliveryWorker: { settings: ipv6('HEALTH_HOST') },
  },
])('the chart accepts the values %j', async (values) => {
  expect(await helmTemplate({ values: { ...leastValues, ...values } })).toMatchObject({ status: 0 });
});
