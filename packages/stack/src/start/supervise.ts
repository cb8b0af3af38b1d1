// Restarts the services when their process crashes.

import { setTimeout as sleep } from 'node:timers/promises';
import { SetupProblem } from '../command.ts';
import type { Reaper } from '../servers/server-process.ts';
import { findFreeServicePorts, type ServicePorts } from './ports.ts';
import { PortTaken, type ServiceOptions, type ServiceRun, startService } from './service.ts';

export interface SupervisedOptions extends Omit<ServiceOptions, 'env' | 'healthUrl'> {
  /** Returns the service environment for the ports on which the services should listen. */
  env(ports: ServicePorts): Record<string, string | undefined>;
  healthUrl(ports: ServicePorts): string;
  /** The services' preferred ports. If a port is in use, the next free port is used. */
  preferredPorts: ServicePorts;
  reaper: Reaper;
  /** Called when there were so many crashes that further restarts are unlikely to help. */
  giveUp(reason: string): void;
}

export interface SupervisedServices {
  ports: ServicePorts;
  stop(): Promise<void>;
}

/** Maximum number of crashes within a minute. After more, the services are not restarted. */
const maxCrashes = 5;
const crashMemoryMs = 60_000;

/**
 * Starts the services, and restarts them on the same ports if their process crashes: immediately, and then after 1, 2
 * and 4 s.
 */
export async function superviseServices(options: SupervisedOptions): Promise<SupervisedServices> {
  const { reaper, tell } = options;
  let isStopping = false;
  let { run, ports } = await startOnFreePorts(options);
  let crashes: number[] = [];
  let watching = watch();

  async function watch(): Promise<void> {
    reaper.watch(run.pid, 'SIGTERM');
    const how = await run.ended;
    reaper.forget(run.pid);
    if (isStopping) return;
    crashes = [...crashes.filter((time) => Date.now() - time < crashMemoryMs), Date.now()];
    if (crashes.length >= maxCrashes) {
      options.giveUp(`The services process crashed ${crashes.length} times within a minute. The last time, it ${how}.`);
      return;
    }
    const delayMs = crashes.length === 1 ? 0 : 1000 * 2 ** (crashes.length - 2);
    tell(`! The services process ${how}. Restarting it${delayMs > 0 ? ` in ${delayMs / 1000} s` : ''}`);
    await sleep(delayMs);
    if (isStopping) return;
    try {
      run = await startService(withPorts(options, ports));
    } catch (error) {
      options.giveUp(`Could not restart the services: ${(error as Error).message}`);
      return;
    }
    if (isStopping) await run.stop();
    else watching = watch();
  }

  return {
    ports,
    async stop() {
      isStopping = true;
      await run.stop();
      await watching;
    },
  };
}

const withPorts = (options: SupervisedOptions, ports: ServicePorts): ServiceOptions => ({
  ...options,
  env: options.env(ports),
  healthUrl: options.healthUrl(ports),
});

async function startOnFreePorts(options: SupervisedOptions): Promise<{ run: ServiceRun; ports: ServicePorts }> {
  for (let attempt = 1; attempt <= 10; attempt++) {
    const ports = await findFreeServicePorts(options.preferredPorts);
    try {
      return { run: await startService(withPorts(options, ports)), ports };
    } catch (error) {
      // A different process has taken a port, so search for free ports again.
      if (!(error instanceof PortTaken)) throw error;
    }
  }
  throw new SetupProblem(`Could not find free ports starting at ${Object.values(options.preferredPorts).join(', ')}.`);
}
