import { existsSync } from 'node:fs';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parse } from 'yaml';
import { allInOne, services as ourServices } from '../build/programs.ts';
import { kafkaVersion } from '../servers/kafka.ts';
import {
  type ComposeProject,
  type ComposeService,
  findComposeLoaderProblem,
  loadCompose,
} from '../testing/load-compose.ts';

const root = fileURLToPath(new URL('../../../../', import.meta.url));
const directory = join(root, 'deploy/compose');
const readYaml = async (path: string) => parse(await readFile(join(directory, path), 'utf8'));

const listensAt = { 'ingest-gateway': 8000, 'management-api': 8010, 'event-consumer': 8001, 'delivery-worker': 8021 };

/** Converts a duration in Go's format, such as `35s` or `1m5s`, to seconds. */
const secondsOf = (text = '') => {
  const [, minutes = 0, seconds] = /^(?:(\d+)m)?(\d+)s$/.exec(text) ?? [];
  return Number(minutes) * 60 + Number(seconds);
};

const unavailable = await findComposeLoaderProblem();
if (unavailable) process.stdout.write(`\n! The Compose file is not loaded: ${unavailable}\n`);

// Skip these tests if Docker Compose is unavailable. In CI, a skipped test fails the build.
(unavailable === '' ? describe : describe.skip)('the Compose file', () => {
  let project: ComposeProject;
  let configuration: string;
  const serviceNamed = (name: string): ComposeService => {
    const service = project.services[name];
    if (!service) throw new Error(`there is no service ${name}`);
    return service;
  };
  const ours = () => Object.entries(project.services).filter(([, { image }]) => image.startsWith('millrace/'));

  beforeAll(async () => {
    project = await loadCompose(join(directory, 'compose.yaml'));
    configuration = await readFile(join(root, 'docs/configuration.md'), 'utf8');
  }, 300_000);

  test('an error in a Compose file is reported with its position', async () => {
    const temporary = await mkdtemp(join(tmpdir(), 'millrace-compose-'));
    const file = join(temporary, 'compose.yaml');
    await writeFile(file, 'services: { one: { image: x, healthcheck: { test: [CMD, a: b] } } }');
    await expect(loadCompose(file)).rejects.toThrow('services.one.healthcheck.test.1 must be a string');
    await rm(temporary, { recursive: true });
  });

  test('Compose starts every service, the migration before the services, and the command-line client', () => {
    expect(ours().map(([name]) => name)).toEqual([...ourServices, allInOne, 'migrate', 'millrace'].sort());
    expect(serviceNamed('migrate').command).toEqual(['millrace.mjs', 'migrate']);
    for (const name of ourServices) {
      expect(serviceNamed(name).command).toEqual([`${name}.mjs`]);
      expect(serviceNamed(name).depends_on).toMatchObject({
        migrate: { condition: 'service_completed_successfully' },
        kafka: { condition: 'service_healthy' },
        redis: { condition: 'service_healthy' },
      });
    }
  });

  test('Compose pins the version of every image: Millrace to this release, and servers to the tested versions', async () => {
    const { version } = JSON.parse(await readFile(join(root, 'package.json'), 'utf8'));
    expect(new Set(ours().map(([, { image }]) => image))).toEqual(new Set([`millrace/millrace:${version}`]));
    expect(serviceNamed('kafka').image).toBe(`apache/kafka:${kafkaVersion}`);
    const tested = await readFile(join(root, 'packages/stack/src/servers/containers.ts'), 'utf8');
    for (const name of ['postgres', 'redis'])
      expect(tested).toContain(`GenericContainer('${serviceNamed(name).image}')`);
    for (const { image } of Object.values(project.services)) expect(image).toMatch(/:v?\d[\w.-]*$/);
  });

  test("Compose passes ClickHouse's URL to the services that query it or copy events to it", () => {
    expect(serviceNamed('clickhouse').profiles).toEqual(['clickhouse']);
    for (const name of ['management-api', 'delivery-worker']) {
      expect(serviceNamed(name).environment).toMatchObject({
        EVENT_STORE: 'postgres',
        CLICKHOUSE_URL: 'http://millrace:millrace@clickhouse:8123/millrace',
      });
    }
  });

  test('Compose files set only variables that a service reads', () => {
    for (const [, { environment = {} }] of ours()) {
      expect(Object.keys(environment).filter((name) => !configuration.includes(`\n| \`${name}\` |`))).toEqual([]);
    }
  });

  test('the small installation needs only PostgreSQL and one process', () => {
    const small = serviceNamed(allInOne);
    expect(small).toMatchObject({ profiles: ['small'], command: [`${allInOne}.mjs`] });
    expect(small.environment).toMatchObject({ EVENT_LOG: 'postgres' });
    expect(Object.keys(small.environment ?? {}).filter((name) => /KAFKA|REDIS/.test(name))).toEqual([]);
    const needed = new Set<string>();
    const need = (name: string) => {
      for (const other of Object.keys(serviceNamed(name).depends_on ?? {})) {
        needed.add(other);
        need(other);
      }
    };
    need(allInOne);
    expect([...needed].sort()).toEqual(['migrate', 'postgres']);
    expect(small.healthcheck?.test.join(' ')).toContain('http://127.0.0.1:8001/_readiness');
    // The gateway or the API stops first, and then the consumer or the worker.
    expect(secondsOf(small.stop_grace_period)).toBeGreaterThanOrEqual(25 + 33 + 3);
    const others = Object.keys(project.services).filter((name) => serviceNamed(name).profiles !== undefined);
    expect(others.sort()).toEqual([allInOne, 'clickhouse', 'millrace']);
  });

  test.each(ourServices)('%s has a health check that uses its port, and enough time to stop', (name) => {
    const section = configuration.slice(configuration.indexOf(`\n## ${name}\n`)).split('\n## ')[1] ?? '';
    const defaultOf = (setting: string) =>
      Number(section.match(new RegExp(`\\| \`${setting}\` \\| \`(\\d+)\``))?.[1] ?? 0);
    expect(section).toContain(`_PORT\` | \`${listensAt[name]}\``);
    const { healthcheck, stop_grace_period: grace } = serviceNamed(name);
    expect(healthcheck?.test.join(' ')).toContain(`http://127.0.0.1:${listensAt[name]}/_readiness`);
    expect(secondsOf(grace) * 1000).toBeGreaterThanOrEqual(
      defaultOf('DRAIN_TIMEOUT_MS') + defaultOf('STOP_DELAY_MS') + 3000,
    );
  });

  test('containers have a read-only file system, and their ports are open only to this machine', () => {
    for (const [, service] of ours()) expect(service).toMatchObject({ read_only: true, cap_drop: ['ALL'] });
    const ports = Object.values(project.services).flatMap((service) => service.ports ?? []);
    expect(ports.map(({ target }) => target).sort()).toEqual([3000, 8000, 8000, 8010, 8010, 9090]);
    expect(ports.filter(({ host_ip }) => host_ip !== '127.0.0.1')).toEqual([]);
  });

  test('files mounted by Compose exist and are read-only', () => {
    const mounts = Object.values(project.services).flatMap(({ volumes = [] }) => volumes);
    const own = mounts.filter(({ type }) => type === 'bind');
    expect(own.length).toBeGreaterThan(3);
    expect(own.filter(({ source, read_only }) => !existsSync(source) || !read_only)).toEqual([]);
  });

  test('Prometheus reads the metrics of every service from its metrics port', async () => {
    const { scrape_configs: jobs, rule_files: rules } = (await readYaml('prometheus/prometheus.yaml')) as {
      scrape_configs: { job_name: string; static_configs: { targets: string[] }[] }[];
      rule_files: string[];
    };
    expect(jobs.map((job) => job.job_name).sort()).toEqual([...ourServices].sort());
    for (const { job_name: name, static_configs: targets } of jobs) {
      const port = serviceNamed(name).environment?.METRICS_PORT;
      expect(targets.flatMap((one) => one.targets)).toEqual([`${name}:${port}`]);
    }
    const mounted = serviceNamed('prometheus').volumes?.map(({ target }) => target);
    expect(rules.filter((rule) => !mounted?.includes(rule.replace('/*.yaml', '')))).toEqual([]);
  });

  test('Grafana finds Prometheus and the mounted dashboards', async () => {
    const { datasources } = await readYaml('grafana/provisioning/datasources/prometheus.yaml');
    expect(datasources).toEqual([expect.objectContaining({ uid: 'prometheus', url: 'http://prometheus:9090' })]);
    const { providers } = await readYaml('grafana/provisioning/dashboards/millrace.yaml');
    const mounted = serviceNamed('grafana').volumes?.map(({ target }) => target);
    expect(mounted).toContain(providers[0].options.path);
  });
});
