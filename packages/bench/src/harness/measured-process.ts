// Starts a program, and reads how much CPU time and memory it uses.

import { basename } from 'node:path';
import { fileURLToPath } from 'node:url';
import { readEnvironment } from '@millrace/runtime';
import { type ServiceProcess, startService } from '@millrace/testing';

export interface Usage {
  /** CPU time in user and system mode since the process started, in microseconds. */
  cpuMicros: number;
  /** Largest resident set size since the process started, in bytes. */
  maxRssBytes: number;
}

/** A child process that reports its resource usage. `port` is 0 if the process does not listen on a port. */
export interface MeasuredProcess extends ServiceProcess {
  usage(): Promise<Usage>;
  /**
   * Returns the bytes of the heap and of external buffers after a full garbage collection. Do not call it during a
   * measurement.
   */
  liveBytes(): Promise<number>;
}

const probe = fileURLToPath(new URL('./usage-probe.mjs', import.meta.url));

/**
 * Starts a compiled program with this process's environment, and waits until the program listens.
 * @throws the same errors as `startService`
 */
export async function startMeasuredProcess(
  file: string,
  settings: Record<string, string> = {},
): Promise<MeasuredProcess> {
  const all = { ...readEnvironment(), NODE_ENV: 'production', NODE_OPTIONS: '', ...settings };
  const service = await startService(basename(file), file, all, { probe });
  return {
    ...service,
    usage: () => service.request<Usage & { type: 'usage' }>({ type: 'usage' }, 'usage'),
    liveBytes: async () =>
      (await service.request<{ type: 'memory'; liveBytes: number }>({ type: 'memory' }, 'memory')).liveBytes,
  };
}

/** Waits until a service is ready. @throws Error if the service is not ready within 30 s */
export async function waitUntilReady(port: number): Promise<void> {
  const deadline = performance.now() + 30_000;
  for (;;) {
    const response = await fetch(`http://127.0.0.1:${port}/_readiness`).catch(() => null);
    if (response?.ok) return;
    if (performance.now() > deadline) {
      throw new Error(`Not ready after 30 s: ${(await response?.text()) ?? 'no response'}`);
    }
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}
