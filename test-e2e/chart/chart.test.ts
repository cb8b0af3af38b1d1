import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { ensureKubectlAndHelm } from '@millrace/stack/fetched-programs';
import { runProgram } from '@millrace/stack/run-program';
import { parse } from 'yaml';
import { getContainer, getEnvironment, getPodSpec } from './testing/manifest.ts';
import {
  chartDirectory,
  filterByKind,
  findManifest,
  leastValues,
  listExampleNames,
  renderChart,
  root,
} from './testing/render-chart.ts';

test.each(await listExampleNames())('helm lint reports no problems for examples/%s.yaml', async (name) => {
  const { helm } = await ensureKubectlAndHelm();
  const values = `${root}deploy/helm/examples/${name}.yaml`;
  const { status, output } = await runProgram(helm, ['lint', '--strict', chartDirectory, '--values', values]);
  expect([status, output.match(/\[(WARNING|ERROR)\].*/g)]).toEqual([0, null]);
});

test("the chart installs this repository's version", async () => {
  const { version } = JSON.parse(await readFile(join(root, 'package.json'), 'utf8'));
  expect(parse(await readFile(join(chartDirectory, 'Chart.yaml'), 'utf8'))).toMatchObject({
    version,
    appVersion: version,
  });
});

test('pods have no service account token, no service variables and a read-only file system', async () => {
  const rendered = await renderChart({ values: { ...leastValues, flags: { enabled: true } } });
  const running = rendered.filter((manifest) => getPodSpec(manifest) !== undefined);
  expect(running.length).toBe(9);
  for (const manifest of running) {
    expect(getPodSpec(manifest)).toMatchObject({ automountServiceAccountToken: false, enableServiceLinks: false });
    expect(getContainer(manifest).securityContext).toMatchObject({ readOnlyRootFilesystem: true });
  }
  const accounts = filterByKind(rendered, 'ServiceAccount');
  expect(accounts.map((account) => account.automountServiceAccountToken)).toEqual(accounts.map(() => false));
});

test('probes use the service port, and metrics have a separate port', async () => {
  const rendered = filterByKind(
    await renderChart({ values: { ...leastValues, flags: { enabled: true } } }),
    'Deployment',
  );
  for (const deployment of rendered) {
    const { ports, readinessProbe, livenessProbe } = getContainer(deployment);
    const own = getEnvironment(deployment);
    const [main, metrics] = ports;
    expect(String(main?.containerPort)).toBe(own.INGEST_PORT ?? own.API_PORT ?? own.HEALTH_PORT);
    expect(metrics).toEqual({ name: 'metrics', containerPort: Number(own.METRICS_PORT) });
    expect(readinessProbe.httpGet).toEqual({ path: '/_readiness', port: main?.name });
    expect(livenessProbe.httpGet).toEqual({ path: '/_liveness', port: main?.name });
  }
});

test.each([
  [{}, 'docker.io/millrace/millrace:0.1.0'],
  [{ tag: '9.9.9' }, 'docker.io/millrace/millrace:9.9.9'],
  [{ registry: 'registry.internal:5000', tag: '1' }, 'registry.internal:5000/millrace/millrace:1'],
  [{ registry: '', repository: 'mine' }, 'mine:0.1.0'],
  [{ digest: `sha256:${'a'.repeat(64)}` }, `docker.io/millrace/millrace@sha256:${'a'.repeat(64)}`],
])('pods use the configured image %j', async (image, name) => {
  const rendered = await renderChart({ values: { ...leastValues, image } });
  const images = rendered.filter((one) => getPodSpec(one) !== undefined).map((one) => getContainer(one).image);
  expect([...new Set(images)]).toEqual([name]);
});

test('a component can stay on another version during a staged upgrade', async () => {
  const rendered = await renderChart({
    values: { ...leastValues, image: { tag: '2' }, gateway: { image: { tag: '1' } } },
  });
  const tagOf = (name: string) =>
    getContainer(findManifest(rendered, 'Deployment', `m-millrace-${name}`))
      .image.split(':')
      .at(-1);
  expect([tagOf('gateway'), tagOf('consumer-live'), tagOf('management-api')]).toEqual(['1', '2', '2']);
});

test.each([
  [{}, 'false', undefined],
  [{ host: 'e.x', ingress: { enabled: true } }, 'true', 'https://e.x'],
  [{ host: 'e.x', ingress: { enabled: true, tls: { enabled: false } } }, 'true', 'http://e.x'],
  [{ host: 'e.x', apiHost: 'a.x', gatewayApi: { enabled: true, parentRefs: [{ name: 'g' }] } }, 'true', 'https://a.x'],
  [{ host: 'e.x', proxy: { trusted: true } }, 'true', 'https://e.x'],
  [{ managementApi: { settings: { PUBLIC_API_URL: 'https://other/x' } } }, 'false', 'https://other/x'],
])('sets the expected TRUST_PROXY and PUBLIC_API_URL for %j', async (values, trust, url) => {
  const rendered = await renderChart({ values: { ...leastValues, ...values } });
  const { TRUST_PROXY, PUBLIC_API_URL } = getEnvironment(
    findManifest(rendered, 'Deployment', 'm-millrace-management-api'),
  );
  expect([TRUST_PROXY, PUBLIC_API_URL]).toEqual([trust, url]);
});

test("spreads each component's pods over zones as configured", async () => {
  const values = { ...leastValues, topologySpread: { zones: 'DoNotSchedule', nodes: '' } };
  for (const deployment of filterByKind(await renderChart({ values }), 'Deployment')) {
    expect(getPodSpec(deployment)?.topologySpreadConstraints).toEqual([
      expect.objectContaining({
        topologyKey: 'topology.kubernetes.io/zone',
        whenUnsatisfiable: 'DoNotSchedule',
        labelSelector: { matchLabels: deployment.spec.selector?.matchLabels },
      }),
    ]);
  }
});

test('gateways get the highest priority if priority classes are created', async () => {
  const rendered = await renderChart({ values: { ...leastValues, priorityClasses: { create: true } } });
  const classOf = (name: string) =>
    getPodSpec(findManifest(rendered, 'Deployment', `m-millrace-${name}`))?.priorityClassName;
  const names = ['prod-m-millrace-ingest-1000000', 'prod-m-millrace-other-100000'];
  expect([classOf('gateway'), classOf('consumer-live')]).toEqual(names);
  expect(filterByKind(rendered, 'PriorityClass').map(({ metadata }) => metadata.name)).toEqual(names);
});
