import {
  collectPods,
  collectPolicies,
  type PodObject,
  parseConntrackEvent,
  parseWatchEvent,
  type WatchEvent,
} from './watch-connections.ts';

test.each([
  [
    'returns the pod behind a service as the destination',
    '[1795381453.874235]\t    [NEW] tcp      6 120 SYN_SENT src=10.244.1.2 dst=10.96.0.10 sport=59282 dport=80 [UNREPLIED] src=10.244.2.7 dst=10.244.1.2 sport=8000 dport=59282',
    { from: '10.244.1.2', to: '10.244.2.7', port: 8000, protocol: 'TCP' },
  ],
  [
    'returns the pod as the source of a packet that leaves with the address of the node',
    '[1795381453.874235]\t    [NEW] tcp      6 120 SYN_SENT src=10.244.1.2 dst=198.18.0.1 sport=57828 dport=9092 [UNREPLIED] src=198.18.0.1 dst=198.18.0.2 sport=9092 dport=1024',
    { from: '10.244.1.2', to: '198.18.0.1', port: 9092, protocol: 'TCP' },
  ],
  [
    'parses a DNS query, which has no connection state',
    '[1795381453.874235]\t    [NEW] udp      17 30 src=10.244.1.2 dst=198.18.0.53 sport=54720 dport=53 [UNREPLIED] src=198.18.0.53 dst=10.244.1.2 sport=53 dport=54720',
    { from: '10.244.1.2', to: '198.18.0.53', port: 53, protocol: 'UDP' },
  ],
])('%s', (_, line, connection) => {
  expect(parseConntrackEvent(line)).toEqual({ ...connection, at: 1_795_381_453_874 });
});

test.each([
  'NOTICE: Netlink socket buffer size has been set to 16777216 bytes.',
  '[1795381453.874235]\t    [NEW] icmp     1 30 src=10.244.1.2 dst=198.18.0.1 type=8 code=0 id=1 [UNREPLIED] src=198.18.0.1 dst=10.244.1.2 type=0 code=0 id=1',
  '',
])('returns null for the conntrack line %j', (line) => {
  expect(parseConntrackEvent(line)).toBeNull();
});

test('parses an object change in a watch line', () => {
  expect(parseWatchEvent('1795381453.874235 ADDED {"metadata":{"name":"one two"}}')).toEqual({
    ...{ at: 1_795_381_453_874, type: 'ADDED', object: { metadata: { name: 'one two' } } },
  });
});

test.each(['1795381453.874235 error: the server has closed the connection', ''])(
  'returns null for the watch line %j',
  (line) => {
    expect(parseWatchEvent(line)).toBeNull();
  },
);

const change = (type: string, pod: PodObject): WatchEvent<PodObject> => {
  const names = { uid: 'u', name: 'm-gateway-0', namespace: 'prod', labels: { app: 'm' } };
  return { at: 0, type, object: { metadata: { ...names, creationTimestamp: '2026-11-22T21:00:00Z' }, ...pod } };
};
const ports = [
  { name: 'http', containerPort: 8000 },
  { name: 'metrics', containerPort: 9090 },
];

test('lists a pod from the time it has an IP address until after it was deleted', () => {
  const pod = { spec: { containers: [{ ports }, {}] }, status: { podIP: '10.244.1.4' } };
  expect(collectPods([change('ADDED', { ...pod, status: {} })])).toEqual([]);
  expect(
    collectPods([change('ADDED', { ...pod, status: {} }), change('MODIFIED', pod), change('DELETED', pod)]),
  ).toEqual([
    {
      ...{ name: 'm-gateway-0', ip: '10.244.1.4', createdAt: Date.UTC(2026, 10, 22, 21) },
      party: { namespace: 'prod', labels: { app: 'm' }, ports: { http: 8000, metrics: 9090 } },
    },
  ]);
});

const policyChange = (at: number, type: string, uid: string, spec = {}) => ({
  ...{ at, type },
  object: { metadata: { uid, name: uid, namespace: 'prod', creationTimestamp: '1970-01-01T00:00:01Z' }, spec },
});

test("returns each policy's last version, and when the policy was deleted", () => {
  const spec = { policyTypes: ['Egress'] };
  const known = collectPolicies([
    ...[policyChange(1500, 'ADDED', 'a'), policyChange(1500, 'ADDED', 'b')],
    ...[policyChange(2500, 'MODIFIED', 'a', spec), policyChange(3500, 'DELETED', 'b')],
    // After a watch ends, the next watch reports existing policies as added again.
    policyChange(9000, 'ADDED', 'a', spec),
  ]);
  expect(known).toMatchObject([
    { metadata: { name: 'a' }, spec, from: 1000, until: Number.POSITIVE_INFINITY },
    { metadata: { name: 'b' }, spec: {}, from: 1000, until: 3500 },
  ]);
});
