import { basename } from 'node:path';
import { fileURLToPath } from 'node:url';
import { environment } from '@millrace/runtime';
import { type ServiceProcess, startService } from '@millrace/testing';

export interface Usage {
  /** User and system time of the whole process since its start, microseconds. */
  cpuMicros: number;
  /** Largest resident memory since its start, bytes. */
  maxRssBytes: number;
}

export interface KeptMemory {
  /** The heap and the buffers beside it after a full collection, bytes. */
  keptBytes: number;
  /** Resident memory now, bytes; the heap gives back what it took with delay. */
  rssBytes: number;
}

/** A child process that can be asked what it used. Its `port` is 0 when it serves nothing. */
export interface MeasuredProcess extends ServiceProcess {
  usage(): Promise<Usage>;
  /** Collects first: not while something is measured. */
  memory(): Promise<KeptMemory>;
}

const probe = fileURLToPath(new URL('./usage-probe.mjs', import.meta.url));

/** Starts a compiled program as it is installed, with this process's environment, and waits until it listens. @throws as `startService` */
export async function startMeasured(file: string, settings: Record<string, string> = {}): Promise<MeasuredProcess> {
  const all = { ...environment(), NODE_ENV: 'production', NODE_OPTIONS: '', ...settings };
  const service = await startService(basename(file), file, all, { probe });
  return {
    ...service,
    usage: () => service.ask<Usage & { type: 'usage' }>({ type: 'usage' }, 'usage'),
    memory: () => service.ask<KeptMemory & { type: 'memory' }>({ type: 'memory' }, 'memory'),
  };
}

/** Asks a service until it says that it is ready. @throws Error when it has not within 30 s. */
export async function waitUntilReady(port: number): Promise<void> {
  const deadline = performance.now() + 30_000;
  for (;;) {
    const response = await fetch(`http://127.0.0.1:${port}/_readiness`).catch(() => null);
    if (response?.ok) return;
    if (performance.now() > deadline) {
      throw new Error(`Not ready after 30 s: ${(await response?.text()) ?? 'no answer'}`);
    }
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}
