import { getEnvironment, type Manifest } from './testing/manifest.ts';
import { filterByKind, findManifest, leastValues, renderChart } from './testing/render-chart.ts';

const values = {
  ...leastValues,
  redis: { nodes: ['redis.stores:6380'] },
  flags: { enabled: true },
  mail: { url: 'smtp://mail' },
};
let rendered: Manifest[];
beforeAll(async () => {
  rendered = await renderChart({ values });
});

const policyOf = (component: string) => findManifest(rendered, 'NetworkPolicy', `m-millrace-${component}`).spec;
/** Returns the ports that a component may connect to. `all` stands for a rule without ports. */
const outward = (component: string) =>
  (policyOf(component).egress ?? []).flatMap(({ ports }) => ports?.map(({ port }) => port) ?? ['all']);

test("denies all traffic to and from the release's pods by default", () => {
  const everything = findManifest(rendered, 'NetworkPolicy', 'm-millrace').spec;
  expect(everything).toEqual({
    podSelector: { matchLabels: { 'app.kubernetes.io/name': 'millrace', 'app.kubernetes.io/instance': 'm' } },
    policyTypes: ['Ingress', 'Egress'],
  });
  for (const { spec } of filterByKind(rendered, 'NetworkPolicy'))
    expect(spec.policyTypes).toEqual(['Ingress', 'Egress']);
});

test('the pods of every Deployment, the migration and the test have a network policy', () => {
  const components = [...filterByKind(rendered, 'Deployment'), ...filterByKind(rendered, 'Job')].map(
    ({ spec }) => spec.template?.metadata.labels?.['app.kubernetes.io/component'],
  );
  const pods = filterByKind(rendered, 'Pod').map(({ metadata }) => metadata.labels?.['app.kubernetes.io/component']);
  for (const component of [...components, ...pods]) {
    expect(policyOf(component ?? '').podSelector?.matchLabels?.['app.kubernetes.io/component']).toBe(component);
  }
});

test.each([
  ['gateway', [53, 53, 5432, 9092, 6380]],
  ['flags', [53, 53, 5432, 6380]],
  ['consumer-live', [53, 53, 5432, 9092]],
  ['management-api', [53, 53, 5432, 9092, 6380, 25, 465, 587, 'http', 'all']],
  ['delivery-worker', [53, 53, 5432, 25, 465, 587, 'all']],
  ['migrate', [53, 53, 5432]],
  ['test', [53, 53, 5432, 6380, 'http']],
])('network policies allow %s to connect to %j', (component, ports) => {
  expect(outward(component)).toEqual(ports);
});

test.each([
  ['webhooks and exports', 'delivery-worker'],
  ['requests to sign-in providers', 'management-api'],
])('network policies allow %s to connect to the internet, but not to private networks', (_, component) => {
  const { to } = (policyOf(component).egress ?? []).find(({ ports }) => ports === undefined) ?? {};
  const [v4, v6] = (to ?? []).map(({ ipBlock }) => ipBlock);
  expect(v4).toMatchObject({ cidr: '0.0.0.0/0', except: expect.arrayContaining(['10.0.0.0/8', '169.254.0.0/16']) });
  expect(v6).toMatchObject({ cidr: '::/0', except: expect.arrayContaining(['fc00::/7']) });
});

test.each(['consumer-live', 'delivery-worker'])(
  'network policies allow %s to accept connections only on its metrics port',
  (component) => {
    const ports = (policyOf(component).ingress ?? []).flatMap((rule) => rule.ports?.map(({ port }) => port));
    expect(ports).toEqual(['metrics']);
  },
);

test('beyond configured clients and stores, network policies allow only test events from the API and `helm test`', async () => {
  const clients = [{ namespaceSelector: { matchLabels: { name: 'ingress' } } }];
  const to = [{ ipBlock: { cidr: '192.0.2.1/32' } }];
  const networkPolicies = { clients, postgresql: { to, ports: [6432] } };
  const { spec } = findManifest(
    await renderChart({ values: { ...values, networkPolicies } }),
    'NetworkPolicy',
    'm-millrace-gateway',
  );
  const http = spec.ingress?.find(({ ports }) => ports?.[0]?.port === 'http');
  expect(http?.from?.[0]).toEqual(clients[0]);
  const ofRelease = http?.from?.slice(1).map((peer) => peer.podSelector?.matchLabels?.['app.kubernetes.io/component']);
  expect(ofRelease).toEqual(['management-api', 'test']);
  expect(spec.egress).toContainEqual({ to, ports: [{ port: 6432, protocol: 'TCP' }] });
});

test('renders no network policies if they are disabled', async () => {
  const none = await renderChart({ values: { ...values, networkPolicies: { enabled: false } } });
  expect(filterByKind(none, 'NetworkPolicy')).toEqual([]);
});

test('only components that query ClickHouse or copy events to it may connect to it', async () => {
  const clickhouse = { existingSecret: { name: 'clickhouse' } };
  const withClickHouse = await renderChart({ values: { ...values, clickhouse } });
  const ports = (component: string) =>
    (findManifest(withClickHouse, 'NetworkPolicy', `m-millrace-${component}`).spec.egress ?? []).flatMap(
      ({ ports: some }) => some?.map(({ port }) => port) ?? [],
    );
  expect(['management-api', 'delivery-worker', 'gateway'].map((one) => ports(one).includes(8123))).toEqual([
    ...[true, true, false],
  ]);
  const settingsOf = (component: string) =>
    getEnvironment(findManifest(withClickHouse, 'Deployment', `m-millrace-${component}`));
  expect(settingsOf('delivery-worker')).toMatchObject({
    EVENT_STORE: 'clickhouse',
    CLICKHOUSE_URL: 'clickhouse/CLICKHOUSE_URL',
    CLICKHOUSE_POSTGRES_URL: 'clickhouse/CLICKHOUSE_POSTGRES_URL',
  });
  expect(settingsOf('management-api')).toMatchObject({
    EVENT_STORE: 'clickhouse',
    CLICKHOUSE_URL: 'clickhouse/CLICKHOUSE_URL',
  });
  expect(settingsOf('gateway')).not.toHaveProperty('EVENT_STORE');
});
