import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

export interface TestClickHouse {
  url: string;
  /** Ends the process with SIGKILL, as the kernel does when it runs out of memory. */
  kill(): Promise<void>;
  /** Starts the server again after `kill`, with the same URL and data. */
  restart(): Promise<void>;
  stop(): Promise<void>;
}

/**
 * Starts ClickHouse: the real engine in a child process, with ClickHouse's HTTP interface.
 * @param modules the path of the `node_modules` with `chdb`
 * @param keptPath the directory in which the data is kept; by default, the data is in a temporary directory
 */
export async function startClickHouse(modules: string, keptPath?: string): Promise<TestClickHouse> {
  const path = keptPath ?? (await mkdtemp(join(tmpdir(), 'millrace-clickhouse-')));
  let { child, port } = await serve({ modules, path, port: '0' });
  async function kill(): Promise<void> {
    if (child.exitCode !== null || child.signalCode !== null) return;
    const ended = once(child, 'exit');
    // Kill the process, because a normal shutdown would wait for running queries.
    child.kill('SIGKILL');
    await ended;
  }
  return {
    url: `http://127.0.0.1:${port}`,
    kill,
    async restart() {
      ({ child, port } = await serve({ modules, path, port }));
    },
    async stop() {
      await kill();
      if (keptPath === undefined) await rm(path, { recursive: true, force: true });
    },
  };
}

async function serve({ modules, path, port: wanted }: { modules: string; path: string; port: string }) {
  const script = fileURLToPath(new URL('./serve-chdb.mjs', import.meta.url));
  const child = spawn(process.execPath, [script, modules, path, wanted], { stdio: ['ignore', 'pipe', 'inherit'] });
  const [port] = (await Promise.race([
    once(createInterface(child.stdout), 'line'),
    once(child, 'exit').then(([code]) => Promise.reject(new Error(`ClickHouse ended with ${code}.`))),
  ])) as [string];
  return { child, port };
}
