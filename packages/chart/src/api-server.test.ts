import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type ApiServer, missingForApiServer, startApiServer } from '@millrace/cluster';
import { customResourceFiles } from './testing/custom-resources.ts';
import { type Manifest, podOf } from './testing/manifest.ts';
import { exampleNames, leastValues, ofKind, renderChart, root } from './testing/render-chart.ts';

const missing = await missingForApiServer();
let server: ApiServer;
let directory: string;

/** What the API server says to these objects; it keeps them unless it is a dry run. */
async function apply(objects: unknown[], { namespace, isDryRun = true }: { namespace: string; isDryRun?: boolean }) {
  const file = join(directory, 'objects.json');
  await writeFile(file, JSON.stringify({ apiVersion: 'v1', kind: 'List', items: objects }));
  const dry = isDryRun ? ['--dry-run=server'] : [];
  return server.kubectl('apply', ...dry, '--server-side', '--validate=strict', '-n', namespace, '-f', file);
}

/** The pods a deployment or a job would make, as pods: only those are looked at by Pod Security. */
function podsOf(rendered: Manifest[]) {
  return rendered.flatMap((manifest) => {
    const spec = podOf(manifest);
    return spec === undefined
      ? []
      : [{ apiVersion: 'v1', kind: 'Pod', metadata: { name: manifest.metadata.name }, spec }];
  });
}

/** Of the namespace a release is installed to, as its secrets and routes are. */
const everything: object = {
  ...leastValues,
  host: 'events.example.com',
  ingress: { enabled: true, tls: { enabled: true, secretName: 'tls' } },
  gatewayApi: { enabled: true, parentRefs: [{ name: 'public' }], patterns: true },
  flags: { enabled: true },
  redis: { url: 'redis://redis' },
  mail: { url: 'smtp://mail' },
  keda: { enabled: true },
  consumers: { live: { autoscaling: { enabled: true } } },
  kafka: {
    brokers: ['k:1'],
    sasl: { mechanism: 'plain', username: 'u', password: 'p' },
    tls: { enabled: true, ca: { configMap: 'ca' } },
  },
  priorityClasses: { create: true },
  serviceMonitor: { enabled: true },
  prometheusRules: { enabled: true },
  dashboards: { enabled: true },
  podLabels: { team: 'data' },
  podAnnotations: { 'example.com/note': 'yes' },
  serviceAccounts: { annotations: { 'example.com/role': 'x' } },
  nodeSelector: { 'kubernetes.io/arch': 'amd64' },
  tolerations: [{ key: 'dedicated', operator: 'Exists' }],
  affinity: { nodeAffinity: {} },
};

const examples = await exampleNames();
const installations: [string, Parameters<typeof renderChart>[0]][] = [
  ...examples.map((name) => [`examples/${name}.yaml`, { examples: [name] }] as [string, object]),
  ['everything that can be switched on', { values: everything }],
  ['the platform chooses users (OpenShift)', { values: { ...leastValues, podSecurity: { user: null } } }],
];

(missing === null ? describe : describe.skip)(`by a real API server${missing === null ? '' : ` (${missing})`}`, () => {
  beforeAll(async () => {
    directory = await mkdtemp(join(tmpdir(), 'millrace-chart-'));
    server = await startApiServer();
    await server.kubectl('create', 'namespace', 'prod');
    await server.kubectl('create', 'namespace', 'strict');
    await server.kubectl('label', 'namespace', 'strict', 'pod-security.kubernetes.io/enforce=restricted');
    for (const file of await customResourceFiles()) {
      const { status, output } = await server.kubectl('apply', '--server-side', '-f', file);
      if (status !== 0) throw new Error(output);
    }
    await server.kubectl('wait', '--for=condition=Established', 'crd', '--all', '--timeout=60s');
    // The first time on a machine the server is built.
  }, 1_500_000);
  afterAll(async () => {
    await server?.stop();
    await rm(directory, { recursive: true, force: true });
  });

  describe.each(installations)('%s', (_, options) => {
    let rendered: Manifest[];
    beforeAll(async () => {
      rendered = await renderChart(options);
      await apply(ofKind(rendered, 'PriorityClass'), { namespace: 'prod', isDryRun: false });
    });

    test('every object is taken', async () => {
      const { status, output } = await apply(rendered, { namespace: 'prod' });
      expect({
        status,
        refused: output.split('\n').filter((line) => /error|invalid|unknown|warning/i.test(line)),
      }).toEqual({
        status: 0,
        refused: [],
      });
      expect(output.match(/serverside-applied \(server dry run\)/g)).toHaveLength(rendered.length);
    });

    test('every pod may run where Pod Security is restricted', async () => {
      const pods = podsOf(rendered);
      expect(pods.length).toBeGreaterThan(5);
      const { status, output } = await apply(pods, { namespace: 'strict' });
      expect({ status, refused: output.split('\n').filter((line) => !line.includes('serverside-applied')) }).toEqual({
        status: 0,
        refused: [''],
      });
    });
  });

  test.each(['postgresql-one-node', 'cloudnative-pg'])('examples/stores/%s.yaml is taken', async (name) => {
    const file = join(root, 'deploy/helm/examples/stores', `${name}.yaml`);
    const { status, output } = await server.kubectl(
      'apply',
      '--dry-run=server',
      '--validate=strict',
      '-n',
      'strict',
      '-f',
      file,
    );
    expect([status, output.match(/warning|error/i)]).toEqual([0, null]);
  });

  test('Helm installs it without the kinds of others, when nothing of them is asked for', async () => {
    const values = Object.entries(leastValues).flatMap(([name, value]) => [
      '--set-json',
      `${name}=${JSON.stringify(value)}`,
    ]);
    const chart = join(root, 'deploy/helm/millrace');
    const { status, output } = await server.helm('install', 'm', chart, '-n', 'prod', '--dry-run=server', ...values);
    expect([status, output.includes('helm test m --namespace prod')]).toEqual([0, true]);
  });
});
