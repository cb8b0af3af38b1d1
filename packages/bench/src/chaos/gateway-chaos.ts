// Chaos test of the gateways: disrupts them and their servers under load.

import { setTimeout as sleep } from 'node:timers/promises';
import type { BreakableServer, ServiceProcess } from '@millrace/testing';
import type { Print } from '../harness/command.ts';
import {
  type ChaosOptions,
  type Fault,
  reportPhases,
  runFaultPhases,
  selectFaults,
  startChaosRun,
} from './chaos-run.ts';
import { type ChaosSystem, withChaosSystem } from './chaos-system.ts';

export interface GatewayChaosOptions extends ChaosOptions {
  /** Names of the faults to cause. An empty list selects all faults. */
  only: string[];
  fallback: boolean;
}

/**
 * Disrupts two gateways and their servers. Returns true if no event was lost, duplicated or stored in the wrong order.
 */
export function runGatewayChaos({ only, fallback, ...options }: GatewayChaosOptions, print: Print): Promise<boolean> {
  const settings = { EVENT_LOG_FALLBACK: 'postgres', EVENT_LOG_FALLBACK_AFTER_MS: '2000' };
  return withChaosSystem(print, fallback ? { settings } : {}, async (system) => {
    const gateways = await Promise.all([system.startGateway(0), system.startGateway(0)]);
    const faults = selectFaults(gatewayFaults(system, gateways), only);
    await system.startConsumer();
    const urls = gateways.map(({ port }) => `http://127.0.0.1:${port}`);
    const run = await startChaosRun(system, { ...options, phases: faults.length, urls }, print);
    return reportPhases(await runFaultPhases(run, faults), print);
  });
}

/**
 * Returns the faults of the gateways.
 * @param gateways the running gateways. Restarting a gateway replaces its entry with a new gateway on the same port.
 */
function gatewayFaults(system: ChaosSystem, gateways: ServiceProcess[]): Fault[] {
  let round = 0;

  async function replaceOne(end: (gateway: ServiceProcess) => Promise<unknown>, ms: number): Promise<void> {
    const index = round++ % gateways.length;
    const gateway = gateways[index];
    if (gateway === undefined) return;
    await end(gateway);
    await sleep(ms / 4);
    gateways[index] = await system.startGateway(gateway.port);
  }

  async function killFor(server: BreakableServer, ms: number): Promise<void> {
    await server.kill();
    await sleep(ms);
    await server.restart();
  }

  return [
    { name: 'broker-kill', strike: (ms) => killFor(system.kafka, ms) },
    {
      name: 'broker-black-hole',
      async strike(ms) {
        system.kafka.freeze();
        await sleep(ms);
        system.kafka.thaw();
      },
    },
    { name: 'postgres-kill', strike: (ms) => killFor(system.postgres, ms) },
    { name: 'redis-kill', strike: (ms) => killFor(system.redis, ms) },
    { name: 'gateway-sigkill', strike: (ms) => replaceOne((gateway) => gateway.kill(), ms) },
    { name: 'gateway-sigterm', strike: (ms) => replaceOne((gateway) => gateway.stop(), ms) },
  ];
}
