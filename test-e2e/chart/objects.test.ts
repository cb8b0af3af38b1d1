import { consumerGroup, type EventTopic, topicNames } from '@millrace/contracts';
import { getEnvironment, getPodSpec, type Manifest } from './testing/manifest.ts';
import { filterByKind, findManifest, leastValues, renderChart } from './testing/render-chart.ts';

const nameOf = ({ kind, metadata }: Manifest) => `${kind} ${metadata.namespace ?? ''}/${metadata.name}`;
const isHook = ({ metadata }: Manifest) => metadata.annotations?.['helm.sh/hook'] !== undefined;

describe('object names', () => {
  const long = 'an-installation-whose-name-is-rather-long-and-ends-in-x';
  const everything = {
    ...leastValues,
    host: 'events.example.com',
    apiHost: 'api.example.com',
    flags: { enabled: true },
    ingress: { enabled: true },
    gatewayApi: { enabled: true, parentRefs: [{ name: 'public' }] },
    consumers: { 'eighteen-character': { topics: ['live'], autoscaling: { enabled: true } } },
    priorityClasses: { create: true },
    serviceMonitor: { enabled: true },
    dashboards: { enabled: true },
    prometheusRules: { enabled: true },
  };

  test.each([
    [24, false],
    [25, true],
    [34, true],
    [44, false],
    [53, true],
  ])(
    'object names have at most 63 characters for a release name with %d characters (KEDA: %s)',
    async (length, enabled) => {
      const release = long.slice(0, length).replace(/-$/, 'x');
      const rendered = await renderChart({ release, values: { ...everything, keda: { enabled } } });
      // Autoscaler names are not used as labels, so they may have up to 253 characters.
      const names = rendered
        .filter(({ kind }) => kind !== 'HorizontalPodAutoscaler')
        .map(({ metadata }) => metadata.name);
      expect(names.filter((name) => name.length > 63)).toEqual([]);
      const labels = rendered.flatMap(({ metadata }) => Object.values(metadata.labels ?? {}));
      expect(labels.filter((label) => label.length > 63)).toEqual([]);
    },
  );

  test('two releases in one namespace have different object names, even if the release names are similar', async () => {
    const releases = ['m', 'millrace', `${long.slice(0, 52)}a`, `${long.slice(0, 52)}b`];
    const rendered = await Promise.all(releases.map((release) => renderChart({ release, values: everything })));
    const names = rendered.flatMap((one) => one.map(nameOf));
    expect(names.filter((name, at) => names.indexOf(name) !== at)).toEqual([]);
    const selectors = rendered.flatMap((one) =>
      filterByKind(one, 'Deployment').map(({ spec }) => JSON.stringify(spec.selector)),
    );
    expect(new Set(selectors).size).toBe(selectors.length);
  });
});

test('renders no null or empty variables, because some tools would report them as differences', async () => {
  const values = { ...leastValues, networkPolicies: { monitoring: [] }, gateway: { resources: { limits: null } } };
  for (const manifest of await renderChart({ values }))
    expect(JSON.stringify(manifest)).not.toMatch(/:null|"value":""/);
});

describe('the migration Job', () => {
  test('the migration runs before all other objects on installation and upgrade, and never on rollback', async () => {
    const rendered = await renderChart({ values: leastValues });
    const hooks = rendered.filter(isHook).map(({ kind, metadata }) => ({
      kind,
      when: metadata.annotations?.['helm.sh/hook'],
      weight: Number(metadata.annotations?.['helm.sh/hook-weight'] ?? 0),
    }));
    expect(hooks.filter(({ kind }) => kind !== 'Pod').map(({ when }) => when)).toEqual(
      Array(4).fill('pre-install,pre-upgrade'),
    );
    const job = hooks.find(({ kind }) => kind === 'Job');
    const others = hooks.filter(({ kind }) => !['Job', 'Pod'].includes(kind));
    expect(others.map(({ kind }) => kind).sort()).toEqual(['NetworkPolicy', 'Secret', 'ServiceAccount']);
    expect(others.every(({ weight }) => weight < (job?.weight ?? 0))).toBe(true);
  });

  test.each<[string, object]>([
    ['a URL in the values', {}],
    ['a password in the values', { postgresql: { host: 'db', user: 'u', password: 'p' } }],
    ['an existing secret', { postgresql: { existingSecret: { name: 'theirs', urlKey: 'uri' } } }],
    ['an existing service account', { serviceAccounts: { existingName: 'theirs' } }],
  ])('the migration does not depend on objects that are created after it: %s', async (_, values) => {
    const rendered = await renderChart({ values: { ...leastValues, ...values } });
    const job = findManifest(rendered, 'Job', 'm-millrace-migrate');
    const hooks = rendered.filter(isHook).map(({ kind, metadata }) => `${kind} ${metadata.name}`);
    const needed = [
      ...Object.values(getEnvironment(job)).filter((value) => /^[\w-]+\/\w+$/.test(value)),
      `ServiceAccount ${getPodSpec(job)?.serviceAccountName}`,
    ].map((name) => (name.includes('/') ? `Secret ${name.split('/')[0]}` : name));
    expect(needed.filter((name) => !hooks.includes(name) && !name.endsWith('theirs'))).toEqual([]);
  });
});

test('excludes pods that run to completion from service meshes, because sidecars would keep them running', async () => {
  const outside = {
    podLabels: { 'sidecar.istio.io/inject': 'false' },
    podAnnotations: { 'linkerd.io/inject': 'disabled' },
  };
  const inside = { podLabels: { 'sidecar.istio.io/inject': 'true', team: 'data' } };
  const rendered = await renderChart({ values: { ...leastValues, ...inside, migrations: outside, tests: outside } });
  const job = findManifest(rendered, 'Job', 'm-millrace-migrate').spec.template?.metadata;
  const { metadata } = findManifest(rendered, 'Pod', 'm-millrace-test');
  for (const pod of [job, metadata]) {
    expect(pod?.labels).toMatchObject({ team: 'data', 'sidecar.istio.io/inject': 'false' });
    expect(pod?.annotations).toMatchObject({ 'linkerd.io/inject': 'disabled' });
  }
  const { spec } = findManifest(rendered, 'Deployment', 'm-millrace-gateway');
  expect(spec.template?.metadata.labels).toMatchObject({ 'sidecar.istio.io/inject': 'true' });
});

test("schedules hook pods by the same rules as the release's other pods", async () => {
  const placed = {
    nodeSelector: { 'kubernetes.io/arch': 'arm64' },
    tolerations: [{ key: 'dedicated', operator: 'Exists' }],
    affinity: { nodeAffinity: {} },
    priorityClassName: 'important',
  };
  const rendered = await renderChart({ values: { ...leastValues, ...placed, priorityClasses: { create: true } } });
  for (const hook of [
    findManifest(rendered, 'Job', 'm-millrace-migrate'),
    findManifest(rendered, 'Pod', 'm-millrace-test'),
  ]) {
    expect(getPodSpec(hook)).toMatchObject(placed);
  }
});

describe('autoscaling', () => {
  const scaled = { autoscaling: { enabled: true, minReplicas: 2, maxReplicas: 6 } };

  test('sets no replica count for autoscaled deployments', async () => {
    const values = {
      ...leastValues,
      gateway: { autoscaling: { enabled: false }, replicas: 7 },
      consumers: { live: scaled },
    };
    const rendered = await renderChart({ values });
    const replicas = Object.fromEntries(
      filterByKind(rendered, 'Deployment').map((one) => [one.metadata.name, one.spec.replicas]),
    );
    expect(replicas).toMatchObject({ 'm-millrace-gateway': 7, 'm-millrace-delivery-worker': 1 });
    for (const scaler of filterByKind(rendered, 'HorizontalPodAutoscaler')) {
      expect(replicas[scaler.spec.scaleTargetRef?.name ?? '']).toBeUndefined();
    }
    expect(filterByKind(rendered, 'HorizontalPodAutoscaler')).toHaveLength(4);
    // KEDA's admission webhook requires this annotation before KEDA can take over the autoscaler.
    expect(
      findManifest(rendered, 'HorizontalPodAutoscaler', 'm-millrace-consumer-live-cpu').metadata.annotations,
    ).toEqual({
      'validations.keda.sh/hpa-ownership': 'false',
    });
  });

  test('KEDA scales consumers by topic lag and other components by CPU', async () => {
    const values = {
      ...leastValues,
      eventLog: { topicPrefix: 'eu.' },
      keda: { enabled: true },
      consumers: { live: { topics: ['live', 'overflow'], ...scaled }, overflow: null },
    };
    const rendered = await renderChart({ values });
    expect(
      filterByKind(rendered, 'HorizontalPodAutoscaler')
        .map(({ metadata }) => metadata.name)
        .sort(),
    ).toEqual(['m-millrace-gateway', 'm-millrace-management-api']);
    const { spec } = findManifest(rendered, 'ScaledObject', 'm-millrace-consumer-live');
    expect(spec).toMatchObject({
      minReplicaCount: 2,
      maxReplicaCount: 6,
      scaleTargetRef: { name: 'm-millrace-consumer-live' },
    });
    const expected = (['live', 'overflow'] as EventTopic[]).map((topic) => ({
      topic: topicNames('eu.')[topic],
      consumerGroup: consumerGroup(topic, 'eu.'),
      bootstrapServers: 'kafka.stores:9092',
    }));
    expect(spec.triggers?.map(({ metadata }) => metadata)).toMatchObject(expected);
  });

  test('KEDA gets the Kafka credentials', async () => {
    const values = {
      ...leastValues,
      keda: { enabled: true },
      kafka: {
        brokers: ['k:9093'],
        sasl: { mechanism: 'scram-sha-512', username: 'u', existingSecret: { name: 'theirs', passwordKey: 'pw' } },
        tls: { enabled: true, ca: { secret: 'ca' }, client: { secret: 'user' } },
      },
    };
    const rendered = await renderChart({ values });
    const { spec } = findManifest(rendered, 'TriggerAuthentication', 'm-millrace-kafka');
    expect(spec.secretTargetRef).toEqual([
      { parameter: 'username', name: 'm-millrace-stores', key: 'KAFKA_SASL_USERNAME' },
      { parameter: 'password', name: 'theirs', key: 'pw' },
      { parameter: 'ca', name: 'ca', key: 'ca.crt' },
      { parameter: 'cert', name: 'user', key: 'user.crt' },
      { parameter: 'key', name: 'user', key: 'user.key' },
    ]);
    expect(Object.keys(findManifest(rendered, 'Secret', 'm-millrace-stores').data ?? {})).toContain(
      'KAFKA_SASL_USERNAME',
    );
    const [trigger] = findManifest(rendered, 'ScaledObject', 'm-millrace-consumer-live').spec.triggers ?? [];
    expect(trigger).toMatchObject({
      metadata: { sasl: 'scram_sha512', tls: 'enable' },
      authenticationRef: { name: 'm-millrace-kafka' },
    });
  });

  test('KEDA trusts a certificate authority from a ConfigMap, even without secrets', async () => {
    const values = {
      ...leastValues,
      keda: { enabled: true },
      kafka: { brokers: ['k:9093'], tls: { enabled: true, ca: { configMap: 'authorities', key: 'kafka.crt' } } },
    };
    const rendered = await renderChart({ values });
    const { spec } = findManifest(rendered, 'TriggerAuthentication', 'm-millrace-kafka');
    expect(spec).toEqual({ configMapTargetRef: [{ parameter: 'ca', name: 'authorities', key: 'kafka.crt' }] });
    const [trigger] = findManifest(rendered, 'ScaledObject', 'm-millrace-consumer-live').spec.triggers ?? [];
    expect(trigger).toMatchObject({ authenticationRef: { name: 'm-millrace-kafka' } });
  });

  test('every deployment has a disruption budget that allows one unavailable pod', async () => {
    const rendered = await renderChart({ values: { ...leastValues, flags: { enabled: true } } });
    const names = (kind: string) =>
      filterByKind(rendered, kind)
        .map(({ metadata }) => metadata.name)
        .sort();
    expect(names('PodDisruptionBudget')).toEqual(names('Deployment'));
    for (const { spec, metadata } of filterByKind(rendered, 'PodDisruptionBudget')) {
      expect(spec).toMatchObject({ maxUnavailable: 1 });
      expect(spec.selector).toEqual(findManifest(rendered, 'Deployment', metadata.name).spec.selector);
    }
  });
});
