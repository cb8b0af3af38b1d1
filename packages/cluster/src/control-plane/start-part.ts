import { join } from 'node:path';
import type { Reaper } from '@millrace/stack/src/process/reaper.ts';
import { type ServerProcess, startServerProcess } from '@millrace/stack/src/process/server-process.ts';

export interface PartOptions {
  /** Where its log is kept. */
  directory: string;
  reaper: Reaper;
  env?: Record<string, string | undefined>;
}

/** Starts a program of the control plane, which looks for the API server until it finds it. */
export function startPart(
  name: string,
  { command, flags }: { command: string; flags: readonly string[] },
  { directory, reaper, env }: PartOptions,
): ServerProcess {
  return startServerProcess({
    name,
    command,
    arguments: [...flags],
    marker: command,
    ...(env ? { env } : {}),
    logFile: join(directory, `${name}.log`),
    recordFile: join(directory, `${name}.json`),
    reaper,
    stopSignal: 'SIGTERM',
    stopPatienceMs: 5000,
  });
}
