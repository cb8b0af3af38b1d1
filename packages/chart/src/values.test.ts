import { helmTemplate, leastValues } from './testing/render-chart.ts';

const { postgresql, kafka } = leastValues;

/** What somebody might write, and the sentence that tells them. */
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
  [{ consumers: { live: { lanes: ['lve'] } } }, "value must be one of 'live', 'historical', 'overflow'"],
  [{ podAnnotations: { a: 1 } }, "at '/podAnnotations/a': got number, want string"],
  [{ gateway: null }, "missing property 'gateway'"],
  [{ managementApi: { service: null } }, "at '/managementApi': missing property 'service'"],
  [{ networkPolicies: { world: null } }, "at '/networkPolicies': missing property 'world'"],
  [{ redis: { nodes: null } }, "at '/redis': missing property 'nodes'"],
  [{ postgresql: {} }, 'postgresql: say where it is.'],
  [{ postgresql: { ...postgresql, host: 'db' } }, 'postgresql: the address is given more than once.'],
  [{ postgresql: { host: 'db', user: 'u' } }, 'set `postgresql.user` and `postgresql.password`'],
  [{ postgresql: { ...postgresql, direct: { host: 'db' } } }, 'postgresql.direct.host goes with `postgresql.host`'],
  [{ postgresql: { url: 'mysql://db' } }, 'postgresql.url is not an address like postgresql://'],
  [
    { postgresql: { ...postgresql, tls: { mode: 'disable', ca: { secret: 'x' } } } },
    '`mode` is disable, but certificates',
  ],
  [{ postgresql: { ...postgresql, tls: { mode: 'no-verify', ca: { secret: 'x' } } } }, '`ca` is of no use'],
  [{ kafka: {} }, 'kafka.brokers: name some brokers as host:port'],
  [{ kafka: { brokers: ['k'] } }, 'kafka.brokers: "k" is not host:port.'],
  [{ kafka: { ...kafka, sasl: { mechanism: 'plain', password: 'p' } } }, 'kafka.sasl: who are we to the brokers?'],
  [
    { kafka: { ...kafka, sasl: { mechanism: 'plain', username: 'u' } } },
    'kafka.sasl: set `kafka.sasl.existingSecret.name`',
  ],
  [{ kafka: { ...kafka, sasl: { username: 'u' } } }, 'but no `mechanism`'],
  [{ kafka: { ...kafka, tls: { ca: { secret: 'x' } } } }, '`kafka.tls.enabled` is false'],
  [{ redis: { url: 'redis://a', nodes: ['a:1'] } }, 'redis: the address is given more than once.'],
  [{ redis: { password: 'p' } }, 'redis: there is a password but no address.'],
  [{ redis: { nodes: ['a'] } }, 'redis.nodes: "a" is not host:port.'],
  [{ redis: { nodes: ['a:1', 'b:1'] } }, 'Set `redis.mode` to sentinel or cluster.'],
  [{ redis: { url: 'redis://a', tls: { ca: { secret: 'x' } } } }, 'but the connection is in the clear'],
  [{ eventLog: { type: 'postgres', fallback: 'postgres' } }, 'eventLog.fallback is for the time while Kafka is out'],
  [{ consumers: { live: null } }, 'nobody works on the lane live'],
  [{ consumers: { more: {} } }, 'consumers.more.lanes: say which'],
  [{ consumers: { A_b: { lanes: ['live'] } } }, 'Use at most 18 small letters'],
  [{ consumers: { 'nineteen-characters': { lanes: ['live'] } } }, 'Use at most 18 small letters'],
  [{ gateway: { autoscaling: { minReplicas: 20 } } }, 'maxReplicas (10) is less than minReplicas (20)'],
  [{ gateway: { autoscaling: { minReplicas: 0 } } }, 'only consumers can be scaled to none, and only by KEDA'],
  [{ eventLog: { type: 'postgres' }, keda: { enabled: true } }, 'KEDA asks Kafka for the lag'],
  [{ gateway: { resources: { requests: { cpu: null } } } }, 'gateway.resources.requests.cpu: it is scaled by its CPU'],
  [{ gateway: { extraEnv: [{ name: 'DATABASE_URL', value: 'x' }] } }, 'extraEnv of a gateway has DATABASE_URL'],
  [{ podLabels: { 'app.kubernetes.io/name': 'x' } }, 'The label app.kubernetes.io/name of a gateway is the chart'],
  [{ ingress: { enabled: true } }, 'ingress.enabled: set `host`'],
  [
    { host: 'e.x', ingress: { enabled: true, annotations: { 'cert-manager.io/issuer': 'ca' } } },
    'say by `ingress.tls.secretName` in which secret',
  ],
  [{ gatewayApi: { enabled: true }, host: 'a.b' }, 'gatewayApi.parentRefs: name the Gateway'],
  [{ host: 'https://a.b' }, '"https://a.b" is not the name of a host'],
  [{ host: 'a.b', apiHost: 'a.b' }, 'apiHost is the same as `host`'],
  [{ gateway: { terminationGracePeriodSeconds: 10 } }, 'but a gateway takes up to 30 s to stop'],
  [{ deliveryWorker: { terminationGracePeriodSeconds: 20 } }, 'but a delivery-worker takes up to 33 s to stop'],
])('%j is refused', async (values, sentence) => {
  const { status, output } = await helmTemplate({ values: { ...leastValues, ...values } });
  expect(output).toContain(sentence);
  expect(status).toBe(1);
  expect(output).not.toContain('secret@');
});

test('all mistakes are said at once', async () => {
  const values = { postgresql: {}, kafka: {}, ingress: { enabled: true }, consumers: { overflow: null } };
  const { output } = await helmTemplate({ values });
  expect(output.match(/^ {2}- /gm)).toHaveLength(4);
});

test.each<object>([
  { gateway: { settings: { LARGE_BODY_HEAP_MB: null } } },
  { flags: { enabled: true, settings: null } },
  { consumers: { overflow: null, all: { lanes: ['overflow'], podLabels: { a: 'b' } } } },
  { networkPolicies: { clients: [], monitoring: [], dns: [], extraEgress: [] }, podLabels: {}, affinity: {} },
  { gateway: { replicas: 0, autoscaling: { enabled: false }, preStopSeconds: 0 } },
  { global: { anything: true } },
])('%j is taken', async (values) => {
  expect(await helmTemplate({ values: { ...leastValues, ...values } })).toMatchObject({ status: 0 });
});
