import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { getContainer, getEnvironment, getPodSpec, type Manifest } from './testing/manifest.ts';
import {
  chartDirectory,
  filterByKind,
  leastValues,
  listExampleNames,
  readDocumentedSettings,
  renderChart,
} from './testing/render-chart.ts';
import { variants } from './testing/variants.ts';

let settings: Record<string, Record<string, string>>;
let deployments: Manifest[];
let migrations: Manifest[];

beforeAll(async () => {
  settings = await readDocumentedSettings();
  const rendered = [
    ...(await Promise.all(variants.map((values) => renderChart({ values })))),
    ...(await Promise.all((await listExampleNames()).map((name) => renderChart({ examples: [name] })))),
  ].flat();
  deployments = filterByKind(rendered, 'Deployment');
  migrations = filterByKind(rendered, 'Job');
});

const serviceOf = (manifest: Manifest) => getContainer(manifest).name;

test('the chart sets only variables that are settings of their service', () => {
  for (const deployment of deployments) {
    const known = Object.keys(settings[serviceOf(deployment)] ?? {});
    const unknown = Object.keys(getEnvironment(deployment)).filter((name) => !known.includes(name));
    expect({ name: deployment.metadata.name, unknown }).toEqual({ name: deployment.metadata.name, unknown: [] });
  }
});

test('the migration gets the same database settings as the services', () => {
  expect(migrations.length).toBe(8);
  const known = Object.keys(settings['event-consumer'] ?? {}).filter((name) => name.startsWith('DATABASE_'));
  expect(migrations.flatMap((job) => Object.keys(getEnvironment(job))).filter((name) => !known.includes(name))).toEqual(
    [],
  );
});

test('the chart sets no variable twice', () => {
  for (const deployment of deployments) {
    const names = getContainer(deployment).env.map(({ name }) => name);
    expect(names).toEqual([...new Set(names)]);
  }
});

test('chart values can set every setting of every service, with a dedicated value or in `settings`', async () => {
  const schema = JSON.parse(await readFile(join(chartDirectory, 'values.schema.json'), 'utf8'));
  const component: Record<string, string> = {
    'ingest-gateway': 'gateway',
    'event-consumer': 'consumerDefaults',
    'management-api': 'managementApi',
    'delivery-worker': 'deliveryWorker',
  };
  // The chart has a component for every service except all-in-one.
  expect(Object.keys(settings).sort()).toEqual(['all-in-one', ...Object.keys(component)].sort());
  for (const [service, key] of Object.entries(component)) {
    const free = Object.keys(schema.properties[key].properties.settings.properties);
    const set = deployments
      .filter((one) => serviceOf(one) === service)
      .flatMap((one) => Object.keys(getEnvironment(one)));
    const unreachable = Object.keys(settings[service] ?? {}).filter(
      (name) => !free.includes(name) && !set.includes(name),
    );
    expect({ service, unreachable }).toEqual({ service, unreachable: [] });
  }
});

test('renders large numbers as integers, and applies component settings only to their component', async () => {
  const values = {
    ...leastValues,
    gateway: { settings: { MAX_IN_FLIGHT_BYTES: 1_073_741_824, TRAFFIC_REPORT_MS: 1e6 } },
  };
  const rendered = filterByKind(await renderChart({ values }), 'Deployment');
  const set = rendered.map((one) => [serviceOf(one), getEnvironment(one).MAX_IN_FLIGHT_BYTES]);
  expect(set.filter(([, bytes]) => bytes !== undefined)).toEqual([['ingest-gateway', '1073741824']]);
  const gateway = rendered.find((one) => serviceOf(one) === 'ingest-gateway') as Manifest;
  expect(getEnvironment(gateway).TRAFFIC_REPORT_MS).toBe('1000000');
});

test('pods get more time to stop than their services need', () => {
  for (const deployment of deployments) {
    const service = serviceOf(deployment);
    const ms = (name: string) => Number(getEnvironment(deployment)[name] ?? settings[service]?.[name] ?? 0);
    // Maximum time for stopping each service after its drain time: see `stopWithinMs` in services/*/src/start.ts.
    const beyondDrain: Record<string, number> = {
      'management-api': ms('STOP_DELAY_MS') + 5000,
      'delivery-worker': 3000,
    };
    const preStop = getContainer(deployment).lifecycle?.preStop.sleep.seconds ?? 0;
    const needed = preStop + (ms('DRAIN_TIMEOUT_MS') + (beyondDrain[service] ?? 0)) / 1000;
    const grace = getPodSpec(deployment)?.terminationGracePeriodSeconds ?? 0;
    expect({ service, left: grace - needed }).toEqual({ service, left: 5 });
  }
});

test('extends the grace period if a service has longer timeouts', async () => {
  const values = {
    ...leastValues,
    gateway: { preStopSeconds: 20, settings: { DRAIN_TIMEOUT_MS: 60_500 } },
    managementApi: { settings: { STOP_DELAY_MS: 10_000, DRAIN_TIMEOUT_MS: 20_000 } },
  };
  const rendered = filterByKind(await renderChart({ values }), 'Deployment');
  const grace = Object.fromEntries(
    rendered.map((one) => [one.metadata.name, getPodSpec(one)?.terminationGracePeriodSeconds]),
  );
  expect(grace).toMatchObject({ 'm-millrace-gateway': 20 + 61 + 5, 'm-millrace-management-api': 5 + 35 + 5 });
});

/** Converts a memory quantity to MiB. */
function memory(quantity = '0'): number {
  return Number.parseFloat(quantity) * (quantity.endsWith('Gi') ? 1024 : 1);
}

test('gateways get enough memory for all bodies and flags that they may hold', () => {
  const gateways = deployments.filter((one) => serviceOf(one) === 'ingest-gateway');
  expect(gateways.length).toBeGreaterThan(5);
  for (const gateway of gateways) {
    const own = getEnvironment(gateway);
    const number = (name: string) => Number(own[name] ?? settings['ingest-gateway']?.[name]);
    const roles = own.GATEWAY_ROLES?.split(',') ?? [];
    const bodies = number('MAX_IN_FLIGHT_BYTES') / 1024 / 1024;
    // In addition to the configured threads, the gateway starts one thread for bodies with an unknown key.
    const threads = roles.includes('ingest') ? number('LARGE_BODY_THREADS') + 1 : 0;
    const largeBodies = threads * number('LARGE_BODY_HEAP_MB');
    const flags = roles.includes('flags') ? number('FLAG_DEFINITIONS_MEMORY_MB') : 0;
    // Besides the bodies and flags, a process needs 200 MiB: docs/decisions/013-memory-of-a-process.md.
    const needed = 200 + bodies + largeBodies + flags;
    expect(memory(getContainer(gateway).resources.limits.memory)).toBeGreaterThanOrEqual(needed);
  }
});

test.each([
  ['event-consumer', 200],
  ['management-api', 170],
  ['delivery-worker', 330],
])('%s gets more memory than the %d MB that the benchmark measured', (service, mb) => {
  for (const deployment of deployments.filter((one) => serviceOf(one) === service)) {
    expect(memory(getContainer(deployment).resources.limits.memory)).toBeGreaterThan(1.5 * mb);
  }
});
