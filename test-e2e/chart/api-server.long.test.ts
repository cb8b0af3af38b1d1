import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type ApiServer, missingForApiServer, startApiServer } from '../cluster/index.ts';
import { fetchCustomResourceFiles } from './testing/custom-resources.ts';
import { getContainer, getEnvironment, getPodSpec, type Manifest } from './testing/manifest.ts';
import { filterByKind, leastValues, listExampleNames, renderChart, root } from './testing/render-chart.ts';

const missing = await missingForApiServer();
let server: ApiServer;
let directory: string;
/** The API server's response before custom resource definitions are installed. */
let withoutOthersKinds: { status: number; output: string };

/** Applies objects and returns the API server's response. A dry run does not store the objects. */
async function apply(
  objects: unknown[],
  { namespace, isDryRun = true, words = [] }: { namespace: string; isDryRun?: boolean; words?: string[] },
) {
  const file = join(directory, 'objects.json');
  await writeFile(file, JSON.stringify({ apiVersion: 'v1', kind: 'List', items: objects }));
  const dry = isDryRun ? ['--dry-run=server'] : [];
  return server.kubectl('apply', ...dry, '--server-side', '--validate=strict', '-n', namespace, '-f', file, ...words);
}

function listsOf(value: unknown, path = ''): [string, unknown][] {
  if (Array.isArray(value)) return [[path, value]];
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([name, field]) => listsOf(field, `${path}.${name}`));
}

/** Returns the pods that a Deployment or Job would create. Pod Security checks only pods. */
function podsOf(rendered: Manifest[]) {
  return rendered.flatMap((manifest) => {
    const spec = getPodSpec(manifest);
    return spec === undefined
      ? []
      : [{ apiVersion: 'v1', kind: 'Pod', metadata: { name: manifest.metadata.name }, spec }];
  });
}

/** Chart values that render all of the chart's objects, and some objects outside the chart. */
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
  serviceMonitor: { enabled: true, labels: { team: 'monitoring' } },
  prometheusRules: { enabled: true, labels: { team: 'monitoring' } },
  dashboards: { enabled: true, label: 'team', labelValue: 'monitoring' },
  labels: { team: 'data' },
  podLabels: { team: 'data', 'app.kubernetes.io/version': 'ours' },
  podAnnotations: { 'example.com/note': 'yes', 'kubectl.kubernetes.io/default-container': 'proxy' },
  serviceAccounts: { annotations: { 'example.com/role': 'x' } },
  nodeSelector: { 'kubernetes.io/arch': 'amd64' },
  tolerations: [{ key: 'dedicated', operator: 'Exists' }],
  affinity: { nodeAffinity: {} },
};

const balancer = { type: 'LoadBalancer', externalTrafficPolicy: 'Local', ipFamilyPolicy: 'PreferDualStack' };
const examples = await listExampleNames();
const installations: [string, Parameters<typeof renderChart>[0]][] = [
  ...examples.map((name) => [`examples/${name}.yaml`, { examples: [name] }] as [string, object]),
  ['an installation with every option', { values: everything }],
  [
    'an installation with a load balancer per service that preserves client addresses',
    { values: { ...leastValues, gateway: { service: balancer }, managementApi: { service: balancer } } },
  ],
  [
    'an installation on a platform that assigns users (OpenShift)',
    { values: { ...leastValues, podSecurity: { user: null } } },
  ],
];

(missing === null ? describe : describe.skip)(
  `the chart with a real API server${missing === null ? '' : ` (${missing})`}`,
  () => {
    beforeAll(async () => {
      directory = await mkdtemp(join(tmpdir(), 'millrace-chart-'));
      server = await startApiServer();
      await server.kubectl('create', 'namespace', 'prod');
      await server.kubectl('create', 'namespace', 'strict');
      await server.kubectl('label', 'namespace', 'strict', 'pod-security.kubernetes.io/enforce=restricted');
      withoutOthersKinds = await apply(await renderChart({ values: everything }), { namespace: 'prod' });
      for (const file of await fetchCustomResourceFiles()) {
        const { status, output } = await server.kubectl('apply', '--server-side', '-f', file);
        if (status !== 0) throw new Error(output);
      }
      await server.kubectl('wait', '--for=condition=Established', 'crd', '--all', '--timeout=60s');
      // On its first run on a machine, the test builds the API server from source.
    }, 1_500_000);
    afterAll(async () => {
      await server?.stop();
      await rm(directory, { recursive: true, force: true });
    });

    describe.each(installations)('%s', (_, options) => {
      let rendered: Manifest[];
      beforeAll(async () => {
        rendered = await renderChart(options);
        await apply(filterByKind(rendered, 'PriorityClass'), { namespace: 'prod', isDryRun: false });
      });

      test('the API server accepts every object', async () => {
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

      test('every pod passes the restricted Pod Security Standard', async () => {
        const pods = podsOf(rendered);
        expect(pods.length).toBeGreaterThan(5);
        const { status, output } = await apply(pods, { namespace: 'strict' });
        expect({ status, refused: output.split('\n').filter((line) => !line.includes('serverside-applied')) }).toEqual({
          status: 0,
          refused: [''],
        });
      });
    });

    test('the API server adds nothing to lists in custom resources, so Argo CD sees no difference', async () => {
      const rendered = await renderChart({ values: everything });
      const ofOthers = rendered.filter(({ apiVersion }) => /^(keda|monitoring|gateway)\./.test(apiVersion));
      expect(new Set(ofOthers.map(({ kind }) => kind)).size).toBe(5);
      const { output } = await apply(ofOthers, { namespace: 'prod', words: ['-o', 'json'] });
      const { items } = JSON.parse(output) as { items: Manifest[] };
      const lists = ({ spec }: Manifest) => Object.fromEntries(listsOf(spec));
      expect(items.map(lists)).toEqual(ofOthers.map(lists));
    });

    test('kubectl names missing custom resource definitions', () => {
      expect(withoutOthersKinds.status).toBe(1);
      for (const kind of ['ScaledObject', 'TriggerAuthentication', 'HTTPRoute', 'ServiceMonitor']) {
        expect(withoutOthersKinds.output).toContain(`no matches for kind "${kind}"`);
      }
    });

    test.each(['postgresql-one-node', 'cloudnative-pg'])(
      'the API server accepts examples/stores/%s.yaml',
      async (name) => {
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
      },
    );

    describe('Helm with a real API server', () => {
      const chart = join(root, 'deploy/helm/millrace');
      // Skip hooks, because their Jobs would never run without controllers.
      const words = (values: object) => [
        ...['--namespace', 'prod', '--no-hooks'],
        ...Object.entries({ ...leastValues, ...values }).flatMap(([name, value]) => [
          '--set-json',
          `${name}=${JSON.stringify(value)}`,
        ]),
      ];
      const helm = async (...all: string[]) => {
        const { status, output } = await server.helm(...all);
        if (status !== 0) throw new Error(output);
        return output;
      };
      const read = async (kind: string, name: string) =>
        JSON.parse((await server.kubectl('get', kind, name, '-n', 'prod', '-o', 'json')).output) as Manifest;
      const keysOf = async (release: string) => (await read('secret', `${release}-millrace-keys`)).data;

      test('Helm installs without unnecessary custom resource definitions, and prints the next steps', async () => {
        const output = await helm('install', 'dry', chart, '--dry-run=server', ...words({}));
        expect(output).toContain('helm test dry --namespace prod');
        expect(output).toContain('-- millrace bootstrap --email');
      });

      test('Helm installs two releases in one namespace', async () => {
        await helm('install', 'one', chart, ...words({}));
        await helm('install', 'two', chart, ...words({ flags: { enabled: true } }));
        expect(await keysOf('one')).not.toEqual(await keysOf('two'));
        await helm('uninstall', 'two', '--namespace', 'prod', '--no-hooks');
        expect((await read('deployment', 'one-millrace-gateway')).spec.template).toBeDefined();
      });

      test('keeps generated keys after an upgrade, a rollback and an accidental uninstallation', async () => {
        const made = await keysOf('one');
        expect(atob(atob(made?.SECRETS_KEY ?? ''))).toHaveLength(32);
        const url = 'postgresql://other:secret@postgresql/millrace';
        await helm('upgrade', 'one', chart, ...words({ postgresql: { url }, gateway: { image: { tag: '2' } } }));
        expect(await keysOf('one')).toEqual(made);
        expect(getContainer(await read('deployment', 'one-millrace-gateway')).image).toContain(':2');
        await helm('rollback', 'one', '1', '--namespace', 'prod', '--no-hooks');
        expect(await keysOf('one')).toEqual(made);
        expect(getContainer(await read('deployment', 'one-millrace-gateway')).image).toContain(':0.1.0');
        await helm('uninstall', 'one', '--namespace', 'prod', '--no-hooks');
        await helm('install', 'one', chart, ...words({}));
        expect(await keysOf('one')).toEqual(made);
      });

      test('uses the generated keys again after a rollback from a secret of the operator', async () => {
        const made = await keysOf('one');
        const patch = JSON.stringify({ stringData: { SECRETS_KEY: 'new' } });
        const changed = await server.kubectl('patch', 'secret', 'one-millrace-keys', '-n', 'prod', '-p', patch);
        expect([changed.status, changed.output]).toEqual([1, expect.stringContaining('immutable')]);
        await helm('upgrade', 'one', chart, ...words({ keys: { existingSecret: 'theirs', secretsKeyKey: 'key' } }));
        await helm('rollback', 'one', '--namespace', 'prod', '--no-hooks');
        expect(getEnvironment(await read('deployment', 'one-millrace-gateway')).SECRETS_KEY).toContain(
          'one-millrace-keys',
        );
        expect(await keysOf('one')).toEqual(made);
      });

      test("keeps a manually scaled deployment's replica count on upgrade", async () => {
        const consumer = ['deployment', 'one-millrace-consumer-live', '-n', 'prod'];
        await server.kubectl('scale', ...consumer, '--replicas=7');
        await helm('upgrade', 'one', chart, ...words({ logLevel: 'warn' }));
        expect((await read('deployment', 'one-millrace-consumer-live')).spec.replicas).toBe(7);
      });

      test('starts a new autoscaler with the current replica count', async () => {
        const replicas = async () => (await read('deployment', 'fixed-millrace-gateway')).spec.replicas;
        const fixed = { gateway: { replicas: 6, autoscaling: { enabled: false } } };
        await helm('install', 'fixed', chart, ...words(fixed));
        for (const logLevel of ['warn', 'info']) {
          await helm('upgrade', 'fixed', chart, ...words({ logLevel }));
          expect(await replicas()).toBe(6);
        }
        await server.kubectl('scale', 'deployment', 'fixed-millrace-gateway', '-n', 'prod', '--replicas=9');
        await helm('upgrade', 'fixed', chart, ...words({}));
        expect(await replicas()).toBe(9);
        await helm('upgrade', 'fixed', chart, ...words(fixed), '--force-conflicts');
        expect(await replicas()).toBe(6);
      });

      test("keeps an autoscaler's replica count on upgrade, even with client-side apply as before Helm 4", async () => {
        const fixed = { gateway: { replicas: 6, autoscaling: { enabled: false } } };
        await helm('install', 'old', chart, ...words(fixed), '--server-side=false');
        await helm('upgrade', 'old', chart, ...words({}));
        await server.kubectl('scale', 'deployment', 'old-millrace-gateway', '-n', 'prod', '--replicas=9');
        await helm('upgrade', 'old', chart, ...words({}));
        expect((await read('deployment', 'old-millrace-gateway')).spec.replicas).toBe(9);
      });

      test('rejects a name change that would orphan deployments, and keeps existing keys', async () => {
        const refused = (values: object) => server.helm('upgrade', 'fixed', chart, ...words(values));
        const renamed = { fullnameOverride: 'fixed-millrace', nameOverride: 'other' };
        expect((await refused(renamed)).output).toContain(
          'nameOverride: the existing deployments select their pods by the name "m',
        );
        await helm('upgrade', 'fixed', chart, ...words({ keys: { existingSecret: 'theirs' } }));
        const otherKeys = 'keys: the running services use the keys in the secret "theirs".';
        expect((await refused({})).output).toContain(otherKeys);
        await helm('upgrade', 'fixed', chart, ...words({ keys: { existingSecret: 'theirs' }, secretsAsFiles: true }));
        expect((await refused({ secretsAsFiles: true })).output).toContain(otherKeys);
      });

      test('keys that are generated without cluster access do not overwrite existing keys', async () => {
        const applyKeys = async () => {
          const secrets = filterByKind(await renderChart({ release: 'gitops', values: leastValues }), 'Secret');
          return apply(secrets, { namespace: 'prod', isDryRun: false, words: ['--force-conflicts'] });
        };
        expect(await applyKeys()).toMatchObject({ status: 0 });
        const made = await keysOf('gitops');
        expect((await applyKeys()).output).toContain('field is immutable when `immutable` is set');
        expect(await keysOf('gitops')).toEqual(made);
      });

      test('does not replace missing keys of running services unless forced', async () => {
        const upgrade = (values: object) => server.helm('upgrade', 'two', chart, ...words(values));
        await helm('install', 'two', chart, ...words({}));
        const made = await keysOf('two');
        expect((await upgrade({ keys: { secretsKeyKey: 'OTHER' } })).output).toContain('does not contain "OTHER"');
        await server.kubectl('delete', 'secret', 'two-millrace-keys', '-n', 'prod');
        const message = 'services are running, but the secret "two-millrace-keys" with their keys is missing.';
        expect((await upgrade({})).output).toContain(message);
        await helm('upgrade', 'two', chart, ...words({ keys: { allowNew: true } }));
        expect(Object.keys((await keysOf('two')) ?? {})).toEqual(Object.keys(made ?? {}));
      });

      test('creates a new priority class when the value changes, because classes are immutable', async () => {
        for (const ingest of [5, 7]) {
          await helm('upgrade', 'one', chart, ...words({ priorityClasses: { create: true, ingest } }));
          const { template } = (await read('deployment', 'one-millrace-gateway')).spec;
          expect(template?.spec.priorityClassName).toBe(`prod-one-millrace-ingest-${ingest}`);
        }
      });

      test('an upgrade enables or disables KEDA', async () => {
        const scalers = async () =>
          (await server.kubectl('get', 'hpa,scaledobject', '-n', 'prod', '-o', 'name')).output;
        await helm('upgrade', 'one', chart, ...words({ keda: { enabled: true } }));
        expect(await scalers()).toContain('scaledobject.keda.sh/one-millrace-consumer-live');
        // Create the autoscaler that KEDA would create, because KEDA is not running. KEDA would delete the autoscaler
        // only after Helm has deleted the ScaledObject.
        const name = 'one-millrace-consumer-live';
        await server.kubectl('autoscale', 'deployment', name, `--name=${name}`, '--max=12', '-n', 'prod');
        await helm('upgrade', 'one', chart, ...words({}));
        expect(await scalers()).toContain('horizontalpodautoscaler.autoscaling/one-millrace-consumer-live-cpu');
        expect(await scalers()).not.toContain('scaledobject');
      });
    });
  },
);
