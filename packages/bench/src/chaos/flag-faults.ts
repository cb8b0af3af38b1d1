import { setTimeout as sleep } from 'node:timers/promises';
import type { FaultProxy } from '@millrace/testing';
import type { ChaosServer } from './chaos-server.ts';
import type { ChaosSystem } from './chaos-system.ts';
import type { FlagProject } from './flag-project.ts';

/** What goes on while flags are asked for. */
export interface FlagPhase {
  name: string;
  /** Whether a gateway that has just been started is asked, one that knows nothing yet. */
  asksNewGateway?: boolean;
  /** Resolves when everything is whole again. */
  run(phaseMs: number): Promise<void>;
}

const toggles = 100;
const longestFaultMs = 12_000;
const cutEveryMs = 2000;

/** @param postgresProxy between the gateways and PostgreSQL. */
export function flagPhases(system: ChaosSystem, project: FlagProject, postgresProxy: FaultProxy): FlagPhase[] {
  async function toggleAll(phaseMs: number): Promise<void> {
    const from = performance.now();
    for (let number = 1; number <= toggles; number += 1) {
      await project.toggle();
      await sleep(Math.max(0, from + (number * phaseMs) / toggles - performance.now()));
    }
  }

  return [
    { name: 'toggles', run: toggleAll },
    {
      name: 'toggles-unheard',
      async run(phaseMs) {
        let isRunning = true;
        const cutting = (async () => {
          while (isRunning) {
            await cutListeners(system);
            await sleep(cutEveryMs);
          }
        })();
        await toggleAll(phaseMs);
        isRunning = false;
        await cutting;
      },
    },
    { name: 'postgres-kill', run: (phaseMs) => killed(system.postgres, phaseMs) },
    {
      name: 'postgres-black-hole',
      async run(phaseMs) {
        postgresProxy.blackHole();
        await sleep(Math.min(longestFaultMs, phaseMs));
        await postgresProxy.pass();
      },
    },
    { name: 'redis-kill', run: (phaseMs) => killed(system.redis, phaseMs) },
    {
      name: 'start-without-postgres',
      asksNewGateway: true,
      // It was away before the gateway was started.
      async run(phaseMs) {
        await sleep(Math.min(longestFaultMs, phaseMs));
        await system.postgres.restart();
      },
    },
  ];
}

/** Ends the connections over which gateways hear of changes. */
async function cutListeners({ database }: ChaosSystem): Promise<void> {
  await database.query("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE query ILIKE 'listen %'");
}

async function killed(server: ChaosServer, phaseMs: number): Promise<void> {
  await server.kill();
  await sleep(Math.min(longestFaultMs, phaseMs));
  await server.restart();
}
