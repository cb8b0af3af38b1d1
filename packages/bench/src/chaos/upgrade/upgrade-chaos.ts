import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, rename, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { isDeepStrictEqual, promisify } from 'node:util';
import { migrate } from '@millrace/db';
import {
  prismaDirectory,
  type ServiceProcess,
  type TestTenant,
  testCacheDirectory,
  writeStory,
} from '@millrace/testing';
import { readable, textTable } from '../../report/report.ts';
import {
  type ChaosServices,
  type ChaosSystem,
  type ServiceFiles,
  startChaosSystem,
  topicPrefix,
} from '../chaos-system.ts';
import { watchLanes } from '../lane-watch.ts';
import { checkState, type StateCheck } from '../state-check.ts';
import { createStoryLoad } from '../story-load.ts';

export interface UpgradeChaosOptions {
  /** The release that is upgraded from: anything git knows. */
  from: string;
  /** Length of one phase. */
  seconds: number;
  seed: number;
  eventsPerSecond: number;
}

interface PhaseResult extends StateCheck {
  name: string;
  /** The longest time in which a consumer or a gateway had no turn. */
  longestStallMs: number;
  /** Where the two releases of the management API disagree. */
  apiProblems: string[];
}

const consumers = 2;
const clients = 4;
const eventsPerPerson = 60;
const patienceMs = 60_000;

/**
 * Upgrades a system under load from another release, service by service, and takes it back again on the database that the
 * newer one has migrated: what is stored must be what was acknowledged after each step.
 * @returns true when nothing was lost, doubled or wrong, and clients of the older API would notice nothing.
 */
export async function chaosUpgrade(options: UpgradeChaosOptions, print: (line: string) => void): Promise<boolean> {
  print(`building ${options.from}`);
  const release = await buildRelease(options.from);
  print(`starting PostgreSQL, Kafka, Redis and the services of ${release.commit} (seed ${options.seed})`);
  const system = await startChaosSystem({ prepare: (address) => prepareAsRelease(release, address) });
  const closers: (() => Promise<unknown>)[] = [system.stop];
  try {
    const fleet = await startFleet(system.servicesOf(release.files), closers);
    const watch = await watchLanes(system.kafka.address, system.database, topicPrefix);
    closers.push(watch.stop);
    const results: PhaseResult[] = [];
    const steps = upgradeSteps(fleet, { older: system.servicesOf(release.files), newer: system }, system);
    const load = createStoryLoad(`http://127.0.0.1:${fleet.gatewayPort}`, system.tenant.projectApiKey, {
      streams: storyOf(options, steps.length),
      eventsPerSecond: options.eventsPerSecond,
    });
    closers.push(load.pause);
    for (const { name, take } of steps) {
      print(`${name}: ${options.seconds} s`);
      watch.reset();
      load.resume();
      await sleep((options.seconds * 1000) / 3);
      await take();
      await sleep((options.seconds * 2000) / 3);
      await load.pause();
      if (!(await watch.untilDrained(patienceMs))) print(`  ${watch.lag()} records have not been consumed`);
      const check = await checkState(system.database, load.sent(), system.tenant.projectId);
      for (const example of check.examples) print(`  unexpected state: ${example}`);
      const apiProblems = await askBothApis(system, release, String(results.length));
      for (const problem of apiProblems) print(`  the APIs: ${problem}`);
      results.push({ name, longestStallMs: watch.longestStallMs(), apiProblems, ...check });
    }
    print('');
    print(report(results, release.commit));
    return results.every(isWell);
  } finally {
    print('stopping');
    for (const close of closers.reverse()) await close();
  }
}

const isWell = ({ lost, doubled, wrong, apiProblems }: PhaseResult) =>
  lost === 0 && doubled === 0 && wrong === 0 && apiProblems.length === 0;

function storyOf({ seconds, eventsPerSecond, seed }: UpgradeChaosOptions, phases: number) {
  const events = Math.ceil(eventsPerSecond * phases * (seconds * 1.5 + 60));
  return writeStory({ events, people: Math.ceil(events / eventsPerPerson), clients, seed });
}

interface Fleet {
  gatewayPort: number;
  /** One after the other, as a deployment rolls. */
  replaceConsumers(services: ChaosServices): Promise<void>;
  replaceOneConsumer(services: ChaosServices): Promise<void>;
  replaceGateway(services: ChaosServices): Promise<void>;
}

async function startFleet(services: ChaosServices, closers: (() => Promise<unknown>)[]): Promise<Fleet> {
  let gateway = await services.startGateway(0);
  const running: ServiceProcess[] = [];
  for (let count = 0; count < consumers; count++) running.push(await services.startConsumer());
  closers.push(() => Promise.all([gateway, ...running].map((service) => service.stop())));

  async function replaceOneConsumer(next: ChaosServices): Promise<void> {
    running.push(await next.startConsumer());
    await running.shift()?.stop();
  }
  return {
    gatewayPort: gateway.port,
    replaceOneConsumer,
    async replaceConsumers(next) {
      for (let count = 0; count < consumers; count++) await replaceOneConsumer(next);
    },
    async replaceGateway(next) {
      const { port } = gateway;
      await gateway.stop();
      gateway = await next.startGateway(port);
    },
  };
}

interface Step {
  name: string;
  take(): Promise<unknown>;
}

function upgradeSteps(
  fleet: Fleet,
  { older, newer }: Record<'older' | 'newer', ChaosServices>,
  { postgres }: Pick<ChaosSystem, 'postgres'>,
): Step[] {
  return [
    { name: 'old alone', take: async () => {} },
    { name: 'migrated', take: () => migrate(postgres.address, prismaDirectory) },
    { name: 'one new consumer next to an old one', take: () => fleet.replaceOneConsumer(newer) },
    { name: 'new consumers', take: () => fleet.replaceConsumers(newer) },
    { name: 'new gateway', take: () => fleet.replaceGateway(newer) },
    { name: 'rolled back: old gateway', take: () => fleet.replaceGateway(older) },
    { name: 'rolled back: one old consumer', take: () => fleet.replaceOneConsumer(older) },
    { name: 'rolled back: all old', take: () => fleet.replaceConsumers(older) },
    { name: 'new gateway before consumers', take: () => fleet.replaceGateway(newer) },
    { name: 'new', take: () => fleet.replaceConsumers(newer) },
  ];
}

/** Each release's API on the database as it is now. */
async function askBothApis(system: ChaosSystem, release: ReleaseBuild, round: string): Promise<string[]> {
  const apis = [system.servicesOf(release.files), system].map((services) => services.startManagementApi());
  const [older, newer] = await Promise.all(apis);
  try {
    return await compareApis(older?.port ?? 0, newer?.port ?? 0, system.tenant, round);
  } finally {
    await Promise.all([older?.stop(), newer?.stop()]);
  }
}

function report(results: readonly PhaseResult[], commit: string): string {
  const rows = results.map((result) => [
    result.name,
    ...(['expected', 'stored', 'lost', 'doubled', 'wrong'] as const).map((field) => readable(result[field])),
    readable(result.apiProblems.length),
    (result.longestStallMs / 1000).toFixed(2),
  ]);
  const headings = ['after step', 'sent', 'stored', 'lost', 'doubled', 'wrong', 'API differs', 'longest stall in s'];
  return [
    textTable([headings, ...rows]),
    `Old is ${commit}. Sent, stored, lost, doubled and wrong cover the run up to this row.`,
  ].join('\n');
}

type Tenant = Pick<TestTenant, 'projectId' | 'personalApiKey'>;

const pathsOf = ({ projectId }: Tenant) => [
  '/api/users/@me/',
  '/api/organizations/@current/',
  `/api/projects/${projectId}/`,
  `/api/environments/${projectId}/`,
  `/api/projects/${projectId}/persons/?limit=20`,
  `/api/projects/${projectId}/groups/?group_type_index=0`,
  `/api/projects/${projectId}/feature_flags/`,
  `/api/projects/${projectId}/cohorts/`,
];

/** What depends on when it was asked, or by whom it is served. */
const ownOfEach = new Set(['last_used_at', 'next', 'previous', 'live_events_token', 'updated_at']);

/**
 * Makes a flag through each of two releases of the management API on one database, and asks both for the same.
 * @returns what the older one shows and the newer does not show alike: a client of today would notice.
 */
async function compareApis(older: number, newer: number, tenant: Tenant, round: string): Promise<string[]> {
  const problems: string[] = [];
  for (const [name, port] of [
    ['older', older],
    ['newer', newer],
  ] as const) {
    const body = { key: `by-${name}-${round}`, filters: { groups: [{ rollout_percentage: 50 }] } };
    const made = await ask(port, `/api/projects/${tenant.projectId}/feature_flags/`, tenant, body);
    if (made.status !== 201) problems.push(`${name}: a flag request returned ${made.status}`);
  }
  for (const path of pathsOf(tenant)) {
    const [before, after] = [await ask(older, path, tenant), await ask(newer, path, tenant)];
    if (before.status !== 200 || after.status !== 200) problems.push(`${path}: ${before.status} and ${after.status}`);
    else problems.push(...missing(before.body, after.body, path));
  }
  return problems;
}

async function ask(port: number, path: string, { personalApiKey }: Tenant, body?: object) {
  const response = await fetch(`http://127.0.0.1:${port}${path}`, {
    method: body === undefined ? 'GET' : 'POST',
    headers: { authorization: `Bearer ${personalApiKey}`, 'content-type': 'application/json' },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  return { status: response.status, body: (await response.json()) as unknown };
}

/** Fields of the first that the second lacks or has otherwise; what it has beside is its own affair. */
function missing(first: unknown, second: unknown, at: string): string[] {
  if (isDeepStrictEqual(first, second)) return [];
  if (typeof first !== 'object' || first === null || typeof second !== 'object' || second === null) {
    return [`${at}: ${JSON.stringify(first)?.slice(0, 80)} is ${JSON.stringify(second)?.slice(0, 80)}`];
  }
  if (Array.isArray(first) && (!Array.isArray(second) || first.length !== second.length))
    return [`${at}: another list`];
  const other = second as Record<string, unknown>;
  return Object.entries(first).flatMap(([key, value]) =>
    ownOfEach.has(key) ? [] : missing(value, other[key], `${at} ${key}`),
  );
}

const run = promisify(execFile);
const repositoryRoot = fileURLToPath(new URL('../../../../../', import.meta.url));

export interface ReleaseBuild {
  /** The commit, short. */
  commit: string;
  /** Of its programs, with what they need. */
  directory: string;
  files: ServiceFiles;
  /** Runs its `millrace` command and gives back what it printed. */
  command(programArguments: readonly string[], settings: Record<string, string>): Promise<string>;
}

/**
 * Builds another state of the repository as its users do, with the packages of its own lockfile, and keeps it in the cache.
 * @param ref anything git knows: a tag, a branch, a commit.
 * @throws Error when git does not know it, or it cannot be built.
 */
export async function buildRelease(ref: string): Promise<ReleaseBuild> {
  const { stdout } = await run('git', ['rev-parse', '--verify', `${ref}^{commit}`], { cwd: repositoryRoot });
  const commit = stdout.trim();
  const directory = join(testCacheDirectory(), 'releases', commit);
  if (!existsSync(directory)) await build(commit, directory);
  const file = (name: string) => join(directory, `${name}.mjs`);
  return {
    commit: commit.slice(0, 9),
    directory,
    files: { gateway: file('ingest-gateway'), consumer: file('event-consumer'), api: file('management-api') },
    async command(programArguments, settings) {
      const answer = await run(process.execPath, [file('millrace'), ...programArguments], { env: settings });
      return answer.stdout;
    },
  };
}

async function build(commit: string, directory: string): Promise<void> {
  const source = await mkdtemp(join(tmpdir(), 'millrace-release-'));
  try {
    const archive = join(source, 'source.tar');
    await run('git', ['archive', '--output', archive, commit], { cwd: repositoryRoot });
    await run('tar', ['-xf', archive, '-C', source]);
    await run(process.execPath, ['packages/stack/bin/build.mjs'], { cwd: source, maxBuffer: 16 * 1024 * 1024 });
    await mkdir(join(directory, '..'), { recursive: true });
    // Built beside and moved: an interrupted build is not taken for a whole one.
    await run('cp', ['-R', join(source, 'dist'), `${directory}.part`]);
    await rename(`${directory}.part`, directory);
  } finally {
    await rm(source, { recursive: true, force: true });
  }
}

/** The database as an installation of the older release has it. */
async function prepareAsRelease(
  release: ReleaseBuild,
  address: string,
): Promise<{ tenant: TestTenant; stranger: TestTenant }> {
  const tenant = async (name: string): Promise<TestTenant> => {
    const bootstrap = ['--json', 'bootstrap', '--force', '--email', `${name}@example.com`, '--organization', name];
    const printed = await release.command(bootstrap, { DATABASE_URL: address });
    const made = JSON.parse(printed) as TestTenant & { organization?: unknown };
    return { ...made, environmentId: made.projectId, token: made.projectApiKey };
  };
  return { tenant: await tenant('ada'), stranger: await tenant('bob') };
}
