import { cp, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { parse } from 'yaml';
import type { Manifest } from './testing/manifest.ts';
import { chartDirectory, find, leastValues, ofKind, renderChart, root } from './testing/render-chart.ts';

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

describe('files of a folder in the chart', () => {
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

  test('rules are taken as they are, braces and all', () => {
    const { spec, metadata } = find(rendered, 'PrometheusRule', 'm-millrace-some-rules');
    expect(spec).toEqual(parse(rules));
    expect(metadata.labels).toMatchObject({ release: 'prometheus' });
  });

  test('dashboards are taken as they are, where Grafana looks for them', () => {
    const { data, metadata } = find(rendered, 'ConfigMap', 'm-millrace-some-dashboard');
    expect(data).toEqual({ 'some-dashboard.json': dashboard });
    expect(metadata.labels).toMatchObject({ grafana_dashboard: '1' });
  });

  test('and none unless they are asked for', async () => {
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
  'every file of deploy/observability/%s is in the chart, under a name that is short enough',
  async (folder, ending, kind) => {
    const names = (await readdir(join(root, 'deploy/observability', folder))).filter((name) => name.endsWith(ending));
    // The longest beginning of names.
    const rendered = await renderChart({ release: 'a-release-whose-name-is-long-enough-millrace', values });
    const there = ofKind(rendered, kind).map(({ metadata }) => metadata.name);
    const missing = names.filter((name) => !there.some((one) => one.endsWith(`-${basename(name, ending)}`)));
    expect(missing).toEqual([]);
    expect(there.filter((name) => name.length > 63)).toEqual([]);
  },
);

test('figures of every pod are read, ready or not, by the names that the services have', async () => {
  const rendered = await renderChart({ values });
  const service = find(rendered, 'Service', 'm-millrace-metrics');
  expect(service.spec).toMatchObject({ clusterIP: 'None', publishNotReadyAddresses: true });
  for (const { spec } of ofKind(rendered, 'Deployment')) {
    expect(spec.template?.metadata.labels).toMatchObject(service.spec.selector as object);
  }
  const monitor = find(rendered, 'ServiceMonitor', 'm-millrace');
  expect(service.metadata.labels).toMatchObject(monitor.spec.selector?.matchLabels as object);
});
