import { setTimeout as sleep } from 'node:timers/promises';
import type { ServiceProcess } from '@millrace/testing';
import type { ChaosServer } from './chaos-server.ts';
import type { ChaosSystem } from './chaos-system.ts';

/** One way to break something. */
export interface GatewayFault {
  name: string;
  /** Breaks it, waits for `ms`, repairs it; resolves when what was broken answers again. */
  strike(ms: number): Promise<void>;
}

/** @param gateways index is identity; one that was killed is replaced on its port. */
export function gatewayFaults(
  system: ChaosSystem,
  gateways: ServiceProcess[],
  settings: Record<string, string>,
): GatewayFault[] {
  let round = 0;

  async function replaceOne(end: (gateway: ServiceProcess) => Promise<unknown>, ms: number): Promise<void> {
    const index = round++ % gateways.length;
    const gateway = gateways[index];
    if (gateway === undefined) return;
    await end(gateway);
    await sleep(ms / 4);
    gateways[index] = await system.startGateway(gateway.port, settings);
  }

  return [
    { name: 'broker-kill', strike: (ms) => killed(system.kafka, ms) },
    {
      name: 'broker-black-hole',
      async strike(ms) {
        system.kafka.freeze();
        await sleep(ms);
        system.kafka.thaw();
      },
    },
    { name: 'postgres-kill', strike: (ms) => killed(system.postgres, ms) },
    { name: 'redis-kill', strike: (ms) => killed(system.redis, ms) },
    { name: 'gateway-sigkill', strike: (ms) => replaceOne((gateway) => gateway.kill(), ms) },
    { name: 'gateway-sigterm', strike: (ms) => replaceOne((gateway) => gateway.stop(), ms) },
  ];
}

async function killed(server: ChaosServer, ms: number): Promise<void> {
  await server.kill();
  await sleep(ms);
  await server.restart();
}
