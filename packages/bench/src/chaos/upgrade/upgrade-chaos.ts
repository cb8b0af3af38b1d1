import { setTimeout as sleep } from 'node:timers/promises';
import { migrate } from '@millrace/db';
import { prismaDirectory, type ServiceProcess, writeStory } from '@millrace/testing';
import { readable, textTable } from '../../report/text-table.ts';
import { type ChaosServices, topicPrefix } from '../chaos-services.ts';
import { type ChaosSystem, startChaosSystem } from '../chaos-system.ts';
import { watchLanes } from '../lane-watch.ts';
import { checkState, type StateCheck } from '../state-check.ts';
import { createStoryLoad } from '../story-load.ts';
import { compareApis } from './api-agreement.ts';
import { prepareAsRelease } from './prepare-as-release.ts';
import { buildRelease, type ReleaseBuild } from './release-build.ts';

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
      if (!(await watch.untilDrained(patienceMs))) print(`  ${watch.lag()} records are not consumed`);
      const check = await checkState(system.database, load.sent(), system.tenant.projectId);
      for (const example of check.examples) print(`  not as it should be: ${example}`);
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
    { name: 'one new consumer beside an old', take: () => fleet.replaceOneConsumer(newer) },
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
    `Old is ${commit}. Sent, stored, lost, doubled and wrong are of the whole run up to there.`,
  ].join('\n');
}
