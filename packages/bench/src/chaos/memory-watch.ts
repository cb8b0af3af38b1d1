import { setTimeout as sleep } from 'node:timers/promises';

/** Asks processes from outside how much memory they take. */
export interface MemoryWatch {
  /** The largest since `reset`, in MB. */
  largestMb(): number;
  reset(): void;
  stop(): Promise<void>;
}

const everyMs = 500;
const patienceMs = 2000;

/** @param ports of the processes as they are now, where they answer `/metrics`. One that does not answer is left out. */
export function watchMemory(ports: () => readonly number[]): MemoryWatch {
  let largest = 0;
  let isRunning = true;

  async function memoryOf(port: number): Promise<number> {
    const signal = AbortSignal.timeout(patienceMs);
    const text = await fetch(`http://127.0.0.1:${port}/metrics`, { signal }).then((response) => response.text());
    return Number(/^process_resident_memory_bytes (\S+)/m.exec(text)?.[1] ?? 0) / 1e6;
  }

  async function run(): Promise<void> {
    while (isRunning) {
      const found = await Promise.all(ports().map((port) => memoryOf(port).catch(() => 0)));
      largest = Math.max(largest, ...found);
      await sleep(everyMs);
    }
  }

  const running = run();
  return {
    largestMb: () => largest,
    reset() {
      largest = 0;
    },
    async stop() {
      isRunning = false;
      await running;
    },
  };
}
