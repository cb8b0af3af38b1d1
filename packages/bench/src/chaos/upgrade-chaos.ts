// Chaos test of an upgrade: replaces services with a different version under load, and rolls back.

import { setTimeout as sleep } from 'node:timers/promises';
import { migrate } from '@millrace/db';
import {
  buildRelease,
  prismaDirectory,
  type ReleaseBuild,
  type ServiceProcess,
  type TestTenant,
} from '@millrace/testing';
import type { Print } from '../harness/command.ts';
import { type ChaosOptions, type PhaseResult, reportPhases, startChaosRun } from './chaos-run.ts';
import { type ChaosServices, withChaosSystem } from './chaos-system.ts';

export interface UpgradeChaosOptions extends ChaosOptions {
  from: string;
}

const consumers = 2;

/**
 * Upgrades a system from an older release under load, service by service, and then rolls it back on the migrated
 * database. Returns true if the stored state is correct after each step.
 */
export async function runUpgradeChaos({ from, ...options }: UpgradeChaosOptions, print: Print): Promise<boolean> {
  if (from === '') throw new Error('--from is required: the git revision to upgrade from.');
  print(`building ${from}`);
  const release = await buildRelease(from);
  const prepare = (address: string) => bootstrap(release, address);
  return withChaosSystem(print, { prepare }, async (system) => {
    const older = system.servicesOf(release.files);
    const fleet = await startFleet(older);
    const steps: [name: string, act: () => Promise<unknown>][] = [
      ['old alone', async () => {}],
      ['migrated', () => migrate(system.postgres.address, prismaDirectory)],
      ['one new consumer next to an old one', () => fleet.replaceConsumers(system, 1)],
      ['new consumers', () => fleet.replaceConsumers(system, consumers)],
      ['new gateway', () => fleet.replaceGateway(system)],
      ['rolled back: old gateway', () => fleet.replaceGateway(older)],
      ['rolled back: one old consumer', () => fleet.replaceConsumers(older, 1)],
      ['rolled back: all old', () => fleet.replaceConsumers(older, consumers)],
      ['new gateway before consumers', () => fleet.replaceGateway(system)],
      ['new', () => fleet.replaceConsumers(system, consumers)],
    ];
    const urls = [`http://127.0.0.1:${fleet.gatewayPort}`];
    const run = await startChaosRun(system, { ...options, phases: steps.length, urls }, print);
    const results: PhaseResult[] = [];
    for (const [name, act] of steps) {
      const result = await run.phase(name, async () => {
        await sleep((options.seconds * 1000) / 3);
        await act();
        await sleep((options.seconds * 2000) / 3);
      });
      results.push(result);
    }
    print(`\nOld is ${release.commit}.`);
    return reportPhases(results, print);
  });
}

async function startFleet(services: ChaosServices) {
  let gateway = await services.startGateway(0);
  const running: ServiceProcess[] = [];
  for (let count = 0; count < consumers; count++) running.push(await services.startConsumer());
  return {
    gatewayPort: gateway.port,
    /** Replaces the consumers one by one, as a rolling deployment does. */
    async replaceConsumers(next: ChaosServices, count: number): Promise<void> {
      for (let replaced = 0; replaced < count; replaced++) {
        running.push(await next.startConsumer());
        await running.shift()?.stop();
      }
    },
    async replaceGateway(next: ChaosServices): Promise<void> {
      const { port } = gateway;
      await gateway.stop();
      gateway = await next.startGateway(port);
    },
  };
}

/** Creates a project with the older release. This also migrates the database to that release. */
async function bootstrap(release: ReleaseBuild, address: string): Promise<TestTenant> {
  const words = ['--json', 'bootstrap', '--force', '--email', 'ada@example.com', '--organization', 'ada'];
  const tenant = JSON.parse(await release.command(words, { DATABASE_URL: address })) as TestTenant;
  return { ...tenant, environmentId: tenant.projectId, token: tenant.projectApiKey };
}
