import { mayConnect, type Party } from '../cluster/index.ts';
import { getPodParty, type Manifest } from './testing/manifest.ts';
import { filterByKind, renderChart } from './testing/render-chart.ts';

/** Other pods in the cluster, and hosts outside the cluster. */
const others = {
  prometheus: { namespace: 'monitoring', labels: { app: 'prometheus' } },
  dns: { namespace: 'kube-system', labels: { 'k8s-app': 'kube-dns' } },
  nginx: { namespace: 'ingress-nginx', labels: { app: 'controller' } },
  envoy: { namespace: 'gateways', labels: { app: 'envoy' } },
  'a stranger': { namespace: 'prod', labels: { app: 'shop' } },
  'another namespace': { namespace: 'default', labels: { app: 'shop' } },
  'another release': { namespace: 'prod', labels: { 'app.kubernetes.io/instance': 'n' } },
  'the world': { address: '203.0.113.7' },
  'the world by IPv6': { address: '2001:db8::7' },
  'a private network': { address: '10.1.2.3' },
  'a private network by IPv6': { address: 'fd00::7' },
  'the metadata of a cloud': { address: '169.254.169.254' },
  cnpg: { namespace: 'prod', labels: { 'cnpg.io/cluster': 'millrace-db' } },
  pgbouncer: { namespace: 'databases', labels: { app: 'pgbouncer' } },
  postgresql: { namespace: 'databases', labels: { app: 'postgresql' } },
  kafka: { namespace: 'kafka', labels: { app: 'kafka' } },
  redis: { namespace: 'redis', labels: { app: 'redis' } },
} satisfies Record<string, Party>;

/**
 * IP addresses of the stores in each example. An example must not allow connections to a store that only another
 * example uses.
 */
const examples = {
  smallest: { postgresql: ['postgresql', 5432], kafka: ['kafka', 9093], redis: ['redis', 6379] },
  regional: { postgresql: ['cnpg', 5432], kafka: ['kafka', 9093], redis: ['redis', 6379] },
  large: { postgresql: ['pgbouncer', 6432], kafka: ['the world', 9094], redis: ['redis', 6379] },
} as const;

/**
 * Source, destination, port, and whether the policies in the examples smallest, regional and large allow the
 * connection. `-` means that the example does not include the pod.
 */
const rows: [from: string, to: string, port: number | string, verdicts: string][] = [
  // Only the configured clients can connect to the public services.
  ['nginx', 'gateway', 'http', 'yes yes no'],
  ['envoy', 'gateway', 'http', 'yes no yes'],
  ['envoy', 'flags', 'http', '- - yes'],
  ['nginx', 'management-api', 'http', 'yes yes no'],
  ['envoy', 'management-api', 'http', 'yes no yes'],
  ['the world', 'gateway', 'http', 'yes no no'],
  ['a stranger', 'gateway', 'http', 'yes no no'],
  ['another namespace', 'management-api', 'http', 'yes no no'],
  ['nginx', 'consumer-live', 'metrics', 'no no no'],
  ['envoy', 'delivery-worker', 'metrics', 'no no no'],
  // Only Prometheus can read metrics.
  ['prometheus', 'gateway', 'metrics', 'yes yes yes'],
  ['prometheus', 'flags', 'metrics', '- - yes'],
  ['prometheus', 'consumer-live', 'metrics', 'yes yes yes'],
  ['prometheus', 'consumer-historical', 'metrics', '- yes yes'],
  ['prometheus', 'consumer-overflow', 'metrics', '- yes yes'],
  ['prometheus', 'management-api', 'metrics', 'yes yes yes'],
  ['prometheus', 'delivery-worker', 'metrics', 'yes yes yes'],
  ['prometheus', 'gateway', 'http', 'yes no no'],
  ['a stranger', 'gateway', 'metrics', 'no no no'],
  ['a stranger', 'consumer-live', 'metrics', 'no no no'],
  ['another namespace', 'delivery-worker', 'metrics', 'no no no'],
  ['another release', 'consumer-live', 'metrics', 'no no no'],
  ['the world', 'management-api', 'metrics', 'no no no'],
  // Each service can connect to its stores.
  ['gateway', 'the database', 0, 'yes yes yes'],
  ['gateway', 'the log', 0, 'no yes yes'],
  ['gateway', 'the cache', 0, 'no yes yes'],
  ['flags', 'the database', 0, '- - yes'],
  ['flags', 'the log', 0, '- - no'],
  ['flags', 'the cache', 0, '- - yes'],
  ['consumer-live', 'the database', 0, 'yes yes yes'],
  ['consumer-live', 'the log', 0, 'no yes yes'],
  ['consumer-live', 'the cache', 0, 'no no no'],
  ['consumer-historical', 'the log', 0, '- yes yes'],
  ['management-api', 'the database', 0, 'yes yes yes'],
  ['management-api', 'the log', 0, 'no yes yes'],
  ['management-api', 'the cache', 0, 'no yes yes'],
  ['delivery-worker', 'the database', 0, 'yes yes yes'],
  ['delivery-worker', 'the log', 0, 'no no yes'],
  ['delivery-worker', 'the cache', 0, 'no no no'],
  ['gateway', 'redis', 26379, 'no yes no'],
  // The smallest example does not specify the PostgreSQL pods, so it allows connections to PostgreSQL's port on all
  // hosts.
  ['gateway', 'another namespace', 5432, 'yes no no'],
  ['gateway', 'cnpg', 5432, 'yes yes no'],
  ['gateway', 'cnpg', 22, 'no no no'],
  // The migration connects only to the database, and does so directly even if a pooler is configured.
  ['migrate', 'the database', 0, 'yes yes yes'],
  ['migrate', 'postgresql', 5432, 'yes no yes'],
  ['migrate', 'the log', 0, 'no no no'],
  ['migrate', 'gateway', 'http', 'no no no'],
  ['migrate', 'the world', 443, 'no no no'],
  // The API requests flag definitions from a gateway and sends test events to it. The services have no other
  // connections to each other.
  ['management-api', 'gateway', 'http', 'yes yes yes'],
  ['management-api', 'flags', 'http', '- - yes'],
  ['management-api', 'gateway', 'metrics', 'no no no'],
  ['gateway', 'management-api', 'http', 'no no no'],
  ['consumer-live', 'gateway', 'http', 'no no no'],
  ['delivery-worker', 'management-api', 'http', 'no no no'],
  ['test', 'gateway', 'http', 'yes yes yes'],
  ['test', 'flags', 'http', '- - yes'],
  ['test', 'management-api', 'http', 'yes yes yes'],
  ['test', 'the database', 0, 'yes yes yes'],
  ['test', 'the log', 0, 'no no no'],
  ['test', 'consumer-live', 'metrics', 'no no no'],
  ['test', 'the world', 443, 'no no no'],
  ['a stranger', 'test', 80, 'no no no'],
  // The delivery worker may connect to hosts outside the cluster for webhooks, exports and emails.
  ['delivery-worker', 'the world', 443, 'yes yes yes'],
  ['delivery-worker', 'the world', 587, 'yes yes yes'],
  ['delivery-worker', 'the world by IPv6', 443, 'yes yes yes'],
  ['delivery-worker', 'a private network', 443, 'no no no'],
  ['delivery-worker', 'a private network', 587, 'no no no'],
  ['delivery-worker', 'a private network by IPv6', 443, 'no no no'],
  ['delivery-worker', 'the metadata of a cloud', 80, 'no no no'],
  ['gateway', 'the world', 443, 'no no no'],
  ['flags', 'the world', 443, '- - no'],
  ['consumer-live', 'the world', 443, 'no no no'],
  // The API can connect to sign-in providers.
  ['management-api', 'the world', 443, 'yes yes yes'],
  ['management-api', 'the metadata of a cloud', 80, 'no no no'],
];

const release = (example: string, values = {}) => renderChart({ examples: [example], values });
const policiesOf = (rendered: Manifest[]) => filterByKind(rendered, 'NetworkPolicy');

function podsOf(rendered: Manifest[]): Map<string, Party> {
  const running = ['Deployment', 'Job', 'Pod'].flatMap((kind) => filterByKind(rendered, kind)).map(getPodParty);
  return new Map(running.map((party) => [party.labels['app.kubernetes.io/component'] ?? '', party]));
}

describe.each(Object.keys(examples) as (keyof typeof examples)[])(
  'the network policies of the example %s',
  (example) => {
    const column = Object.keys(examples).indexOf(example);
    let rendered: Manifest[];
    let parties: Map<string, Party>;
    beforeAll(async () => {
      rendered = await release(example);
      parties = new Map([...podsOf(rendered), ...Object.entries(others)]);
    });

    const { postgresql, kafka, redis } = examples[example];
    const stores: Record<string, readonly [string, number]> = {
      'the database': postgresql,
      'the log': kafka,
      'the cache': redis,
    };

    test('network policies allow exactly the connections in the table', () => {
      const found = rows.map(([from, to, port, verdicts]) => {
        const [place, at] = stores[to] ?? [to, port];
        const [a, b] = [parties.get(from), parties.get(place)];
        const isLet = a && b ? mayConnect(policiesOf(rendered), { from: a, to: b, port: at }) : undefined;
        const verdict = isLet === undefined ? '-' : isLet ? 'yes' : 'no';
        return [from, to, port, verdicts.split(' ').with(column, verdict).join(' ')];
      });
      expect(found).toEqual(rows);
    });

    test('network policies allow DNS queries over both protocols from every pod, and the table lists every pod', () => {
      for (const [component, from] of podsOf(rendered)) {
        const ask = (port: number, protocol: 'UDP' | 'TCP') =>
          mayConnect(policiesOf(rendered), { from, to: others.dns, port, protocol });
        expect([component, ask(53, 'UDP'), ask(53, 'TCP'), ask(80, 'TCP')]).toEqual([component, true, true, false]);
        expect(rows.some((row) => row.slice(0, 2).includes(component))).toBe(true);
      }
    });
  },
);

test('network policies allow emails to a server in the private network if one is configured', async () => {
  const rendered = await release('regional', { mail: { url: 'smtp://mail.internal:587' } });
  const reach = ['management-api', 'delivery-worker', 'gateway', 'consumer-live'].map((component) => {
    const from = podsOf(rendered).get(component);
    if (from === undefined) throw new Error(`There is no ${component}.`);
    const to = { namespace: 'mail', labels: {} };
    return [component, ...[587, 443].map((port) => mayConnect(policiesOf(rendered), { from, to, port }))];
  });
  expect(reach).toEqual([
    ['management-api', true, false],
    ['delivery-worker', true, false],
    ['gateway', false, false],
    ['consumer-live', false, false],
  ]);
});
