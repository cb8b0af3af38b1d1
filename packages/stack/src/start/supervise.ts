import { setTimeout as sleep } from 'node:timers/promises';
import { SetupProblem } from '../command.ts';
import { freePort, type Reaper } from '../servers/server-process.ts';
import { PortTaken, type ServiceOptions, type ServiceRun, startService } from './service.ts';

export interface SupervisedOptions extends Omit<ServiceOptions, 'env'> {
  /** Its settings, given the port it shall listen on. */
  env(port: number): Record<string, string | undefined>;
  /** Taken when it is free, else the next free one. */
  preferredPort: number;
  reaper: Reaper;
  /** Called when it crashed so often that starting it again is no use. */
  giveUp(reason: string): void;
}

export interface SupervisedService {
  name: string;
  port: number;
  stop(): Promise<void>;
  kill(): void;
}

/** A service that crashed this often within a minute will crash again. */
const maxCrashes = 5;
const crashMemoryMs = 60_000;

/** Starts a service and starts it again, on the same port, when it crashes: at once, then after 1, 2, 4 s. */
export async function supervise(options: SupervisedOptions): Promise<SupervisedService> {
  const { name, reaper, tell } = options;
  let isStopping = false;
  let run = await startOnFreePort(options);
  const { port } = run;
  let crashes: number[] = [];
  let watching = watch();

  async function watch(): Promise<void> {
    reaper.watch(run.pid, 'SIGTERM');
    const how = await run.ended;
    reaper.forget(run.pid);
    if (isStopping) return;
    crashes = [...crashes.filter((time) => Date.now() - time < crashMemoryMs), Date.now()];
    if (crashes.length >= maxCrashes) {
      options.giveUp(`${name} crashed ${crashes.length} times within a minute (the last time it ${how}).`);
      return;
    }
    const delayMs = crashes.length === 1 ? 0 : 1000 * 2 ** (crashes.length - 2);
    tell(`! ${name} ${how}; starting it again${delayMs > 0 ? ` in ${delayMs / 1000} s` : ''}`);
    await sleep(delayMs);
    if (isStopping) return;
    try {
      run = await startService({ ...options, env: options.env(port) });
    } catch (error) {
      options.giveUp(`${name} could not be started again: ${(error as Error).message}`);
      return;
    }
    if (isStopping) await run.stop();
    else watching = watch();
  }

  return {
    name,
    port,
    async stop() {
      isStopping = true;
      await run.stop();
      await watching;
    },
    kill() {
      isStopping = true;
      run.kill();
    },
  };
}

async function startOnFreePort(options: SupervisedOptions): Promise<ServiceRun> {
  for (let attempt = 1; attempt <= 10; attempt++) {
    const port = await freePort(options.preferredPort);
    try {
      return await startService({ ...options, env: options.env(port) });
    } catch (error) {
      // Somebody else was quicker: look again.
      if (!(error instanceof PortTaken)) throw error;
    }
  }
  throw new SetupProblem(`${options.name} found no free port from ${options.preferredPort} on.`);
}
