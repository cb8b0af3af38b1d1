import { judgeConnections } from './judge-connections.ts';
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
/** The API asks for names and the gateway, whom only the API asks. */
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
const judge = (...connections: ConnectionEvent[]) => judgeConnections({ connections, pods, policies });
const nothing = { allowed: [], refused: [], fromNode: [] };

test.each<[string, ConnectionEvent, Partial<ReturnType<typeof judge>>]>([
  [
    'one to the port by its name',
    connect('10.244.2.2', '10.244.1.2'),
    { allowed: ['prod/api → prod/gateway:8000/TCP'] },
  ],
  ['one to another port', connect('10.244.2.2', '10.244.1.2', 9090), { refused: ['prod/api → prod/gateway:9090/TCP'] }],
  ["a stranger's", connect('10.244.1.3', '10.244.1.2'), { refused: ['prod/shop-0 → prod/gateway:8000/TCP'] }],
  [
    'one of the same labels in another namespace',
    connect('10.244.1.4', '10.244.1.2'),
    { refused: ['other/api → prod/gateway:8000/TCP'] },
  ],
  [
    'a question for a name',
    connect('10.244.2.2', '198.18.0.53', 53, 'UDP'),
    { allowed: ['prod/api → kube-system/dns:53/UDP'] },
  ],
  [
    'the same by the other protocol',
    connect('10.244.2.2', '198.18.0.53', 53),
    { refused: ['prod/api → kube-system/dns:53/TCP'] },
  ],
  ['one to a store', connect('10.244.2.2', '198.18.0.1', 5432), { allowed: ['prod/api → 198.18.0.1:5432/TCP'] }],
  [
    'one to a store of whom may ask none',
    connect('10.244.1.2', '198.18.0.1', 5432),
    { refused: ['prod/gateway → 198.18.0.1:5432/TCP'] },
  ],
  [
    'one of whom no policy selects',
    connect('10.244.1.3', '198.18.0.1', 22),
    { allowed: ['prod/shop-0 → 198.18.0.1:22/TCP'] },
  ],
  [
    'one of a pod nobody knows',
    connect('10.244.1.99', '10.244.1.3'),
    { refused: ['unknown/10.244.1.99 → prod/shop-0:8000/TCP'] },
  ],
  ['a probe', connect('10.244.1.1', '10.244.1.2', 9090), { fromNode: ['node → prod/gateway:9090/TCP'] }],
  ['a client beside the pods', connect('198.18.0.1', '10.244.1.2'), { fromNode: ['node → prod/gateway:8000/TCP'] }],
  ['one between parts of the cluster', connect('198.18.0.1', '198.18.0.2', 10_251), {}],
])('%s', (_, connection, found) => {
  expect(judge(connection)).toEqual({ ...nothing, ...found });
});

test('the same again is no other', () => {
  const again = { ...connect('10.244.2.2', '10.244.1.2'), at: 2000 };
  expect(judge(connect('10.244.2.2', '10.244.1.2'), again).allowed).toHaveLength(1);
});

test('an address that is given again is of whom had it at the time', () => {
  const given = [...pods, pod('shop', '10.244.2.2', { createdAt: 5000 })];
  const connections = [connect('10.244.2.2', '10.244.1.2'), { ...connect('10.244.2.2', '10.244.1.2'), at: 6000 }];
  expect(judgeConnections({ connections, pods: given, policies })).toEqual({
    ...nothing,
    allowed: ['prod/api → prod/gateway:8000/TCP'],
    refused: ['prod/shop-0 → prod/gateway:8000/TCP'],
  });
});

test('a policy counts while it is there', () => {
  const hook = policies.map((policy) => ({
    ...policy,
    ...(policy.metadata.name === 'api' ? { from: 500, until: 2000 } : {}),
  }));
  const during = connect('10.244.2.2', '198.18.0.1', 22);
  const at = (time: number) =>
    judgeConnections({ connections: [{ ...during, at: time }], pods, policies: hook }).refused;
  expect([at(400), at(1000), at(2000)].map(({ length }) => length)).toEqual([0, 1, 0]);
});
