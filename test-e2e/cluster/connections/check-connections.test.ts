import { checkConnections } from './check-connections.ts';
import type { ConnectionEvent, KnownPolicy, SeenPod } from './watch-connections.ts';

const component = (name: string) => ({ 'app.kubernetes.io/component': name });
const pod = (name: string, ip: string, { namespace = 'prod', createdAt = 0 } = {}): SeenPod => ({
  ...{ name: `${name}-0`, ip, createdAt },
  party: { namespace, labels: name === 'shop' ? {} : component(name), ports: { http: 8000 } },
});
const pods = [
  pod('gateway', '10.244.1.2'),
  pod('api', '10.244.2.2'),
  pod('shop', '10.244.1.3'),
  pod('api', '10.244.1.4', { namespace: 'other' }),
];

const always = { from: 0, until: Number.POSITIVE_INFINITY };
/** Policies that allow the API to query the DNS server and the gateway. Only the API may connect to the gateway. */
const policies: KnownPolicy[] = [
  {
    ...always,
    metadata: { name: 'api', namespace: 'prod' },
    spec: {
      podSelector: { matchLabels: component('api') },
      policyTypes: ['Ingress', 'Egress'],
      egress: [
        {
          to: [{ namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': 'kube-system' } } }],
          ports: [{ port: 53, protocol: 'UDP' }],
        },
        { to: [{ podSelector: { matchLabels: component('gateway') } }], ports: [{ port: 'http' }] },
        { ports: [{ port: 5432 }] },
      ],
    },
  },
  {
    ...always,
    metadata: { name: 'gateway', namespace: 'prod' },
    spec: {
      podSelector: { matchLabels: component('gateway') },
      policyTypes: ['Ingress', 'Egress'],
      ingress: [{ from: [{ podSelector: { matchLabels: component('api') } }], ports: [{ port: 'http' }] }],
    },
  },
];

const connect = (from: string, to: string, port = 8000, protocol: 'TCP' | 'UDP' = 'TCP'): ConnectionEvent => ({
  ...{ at: 1000, from, to, port, protocol },
});
const judge = (...connections: ConnectionEvent[]) => checkConnections({ connections, pods, policies });
const nothing = { allowed: [], refused: [], fromNode: [] };

test.each<[string, ConnectionEvent, Partial<ReturnType<typeof judge>>]>([
  [
    'allows a connection to a port that the policy names',
    connect('10.244.2.2', '10.244.1.2'),
    { allowed: ['prod/api → prod/gateway:8000/TCP'] },
  ],
  [
    'denies a connection to another port',
    connect('10.244.2.2', '10.244.1.2', 9090),
    { refused: ['prod/api → prod/gateway:9090/TCP'] },
  ],
  [
    'denies a connection from an unrelated pod',
    connect('10.244.1.3', '10.244.1.2'),
    { refused: ['prod/shop-0 → prod/gateway:8000/TCP'] },
  ],
  [
    'denies a connection from a pod with the same labels in another namespace',
    connect('10.244.1.4', '10.244.1.2'),
    { refused: ['other/api → prod/gateway:8000/TCP'] },
  ],
  [
    'allows a DNS query',
    connect('10.244.2.2', '198.18.0.53', 53, 'UDP'),
    { allowed: ['prod/api → kube-system/dns:53/UDP'] },
  ],
  [
    'denies a DNS query over the other protocol',
    connect('10.244.2.2', '198.18.0.53', 53),
    { refused: ['prod/api → kube-system/dns:53/TCP'] },
  ],
  [
    'allows a connection to a store',
    connect('10.244.2.2', '198.18.0.1', 5432),
    { allowed: ['prod/api → 198.18.0.1:5432/TCP'] },
  ],
  [
    'denies a connection to a store from a component without access',
    connect('10.244.1.2', '198.18.0.1', 5432),
    { refused: ['prod/gateway → 198.18.0.1:5432/TCP'] },
  ],
  [
    'allows a connection from a pod that no policy selects',
    connect('10.244.1.3', '198.18.0.1', 22),
    { allowed: ['prod/shop-0 → 198.18.0.1:22/TCP'] },
  ],
  [
    'denies a connection from an unknown pod',
    connect('10.244.1.99', '10.244.1.3'),
    { refused: ['unknown/10.244.1.99 → prod/shop-0:8000/TCP'] },
  ],
  [
    'lists a probe as a connection from the node',
    connect('10.244.1.1', '10.244.1.2', 9090),
    { fromNode: ['node → prod/gateway:9090/TCP'] },
  ],
  [
    'lists a client outside of pods as a connection from the node',
    connect('198.18.0.1', '10.244.1.2'),
    { fromNode: ['node → prod/gateway:8000/TCP'] },
  ],
  ['ignores a connection between parts of the cluster', connect('198.18.0.1', '198.18.0.2', 10_251), {}],
])('%s', (_, connection, found) => {
  expect(judge(connection)).toEqual({ ...nothing, ...found });
});

test('lists repeated connections once', () => {
  const again = { ...connect('10.244.2.2', '10.244.1.2'), at: 2000 };
  expect(judge(connect('10.244.2.2', '10.244.1.2'), again).allowed).toHaveLength(1);
});

test('attributes a reused IP address to the pod that had it at the time of the connection', () => {
  const given = [...pods, pod('shop', '10.244.2.2', { createdAt: 5000 })];
  const connections = [connect('10.244.2.2', '10.244.1.2'), { ...connect('10.244.2.2', '10.244.1.2'), at: 6000 }];
  expect(checkConnections({ connections, pods: given, policies })).toEqual({
    ...nothing,
    allowed: ['prod/api → prod/gateway:8000/TCP'],
    refused: ['prod/shop-0 → prod/gateway:8000/TCP'],
  });
});

test('applies a policy only while it exists', () => {
  const hook = policies.map((policy) => ({
    ...policy,
    ...(policy.metadata.name === 'api' ? { from: 500, until: 2000 } : {}),
  }));
  const during = connect('10.244.2.2', '198.18.0.1', 22);
  const at = (time: number) =>
    checkConnections({ connections: [{ ...during, at: time }], pods, policies: hook }).refused;
  expect([at(400), at(1000), at(2000)].map(({ length }) => length)).toEqual([0, 1, 0]);
});
