import { cp, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { parse } from 'yaml';
import type { Manifest } from './testing/manifest.ts';
import { chartDirectory, filterByKind, findManifest, leastValues, renderChart, root } from './testing/render-chart.ts';

const values = {
  ...leastValues,
  serviceMonitor: { enabled: true },
  prometheusRules: { enabled: true, labels: { release: 'prometheus' } },
  dashboards: { enabled: true },
};

const rules = `groups:
  - name: one
    rules:
      - alert: Down
        expr: up{job="ingest-gateway"} == 0
        annotations: { summary: '{{ $labels.pod }} is down' }
`;
const dashboard = '{ "title": "Ingest", "templating": "{{component}}", "quote": "\\"" }\n';

describe('monitoring objects in the chart', () => {
  let chart: string;
  let rendered: Manifest[];
  beforeAll(async () => {
    chart = join(await mkdtemp(join(tmpdir(), 'millrace-chart-')), 'millrace');
    await cp(chartDirectory, chart, { recursive: true, dereference: true });
    await writeFile(join(chart, 'observability/rules/some-rules.yaml'), rules);
    await writeFile(join(chart, 'observability/dashboards/some-dashboard.json'), dashboard);
    rendered = await renderChart({ chart, values });
  });
  afterAll(() => rm(join(chart, '..'), { recursive: true }));

  test('renders alert rules unchanged, including braces', () => {
    const { spec, metadata } = findManifest(rendered, 'PrometheusRule', 'm-millrace-some-rules');
    expect(spec).toEqual(parse(rules));
    expect(metadata.labels).toMatchObject({ release: 'prometheus' });
  });

  test("renders dashboards unchanged, with Grafana's label", () => {
    const { data, metadata } = findManifest(rendered, 'ConfigMap', 'm-millrace-some-dashboard');
    expect(data).toEqual({ 'some-dashboard.json': dashboard });
    expect(metadata.labels).toMatchObject({ grafana_dashboard: '1' });
  });

  test('renders rules and dashboards only if they are enabled', async () => {
    const kinds = (await renderChart({ chart, values: leastValues })).map(
      ({ kind, metadata }) => `${kind} ${metadata.name}`,
    );
    expect(kinds.filter((name) => /some-|ServiceMonitor/.test(name))).toEqual([]);
  });
});

test.each([
  ['rules', '.yaml', 'PrometheusRule'],
  ['dashboards', '.json', 'ConfigMap'],
])(
  'the chart contains every file in deploy/observability/%s under a short enough name',
  async (folder, ending, kind) => {
    const names = (await readdir(join(root, 'deploy/observability', folder))).filter((name) => name.endsWith(ending));
    // The release name has the maximum length.
    const rendered = await renderChart({ release: 'a-release-whose-name-is-long-enough-millrace', values });
    const renderedNames = filterByKind(rendered, kind).map(({ metadata }) => metadata.name);
    const missing = names.filter((name) => !renderedNames.some((one) => one.endsWith(`-${basename(name, ending)}`)));
    expect(missing).toEqual([]);
    expect(renderedNames.filter((name) => name.length > 63)).toEqual([]);
  },
);

test("Prometheus scrapes every pod, ready or not, under its service's name", async () => {
  const rendered = await renderChart({ values });
  const service = findManifest(rendered, 'Service', 'm-millrace-metrics');
  expect(service.spec).toMatchObject({ clusterIP: 'None', publishNotReadyAddresses: true });
  for (const { spec } of filterByKind(rendered, 'Deployment')) {
    expect(spec.template?.metadata.labels).toMatchObject(service.spec.selector as object);
  }
  const monitor = findManifest(rendered, 'ServiceMonitor', 'm-millrace');
  expect(service.metadata.labels).toMatchObject(monitor.spec.selector?.matchLabels as object);
});
