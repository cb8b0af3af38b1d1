import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { findRedisServer } from '@millrace/stack/servers/redis';
import { findFreePort } from '@millrace/stack/servers/server-process';
import { eventually } from '@millrace/testing';
import { Redis } from 'ioredis';

export interface OwnRedis {
  port: number;
  client: Redis;
  kill(): Promise<void>;
  stop(): Promise<void>;
}

/** Returns whether a recent enough `redis-server` is installed. Tests that need it are skipped if it is not. */
export async function hasRedisServer(): Promise<boolean> {
  return (await findRedisServer(7)) !== null;
}

export interface OwnRedisOptions {
  password: string;
  settings?: string[];
  isSentinel?: boolean;
}

export async function startOwnRedis({ password, settings = [], isSentinel }: OwnRedisOptions): Promise<OwnRedis> {
  const directory = mkdtempSync(join(tmpdir(), 'millrace-redis-'));
  const port = await findFreePort(0);
  const file = join(directory, 'redis.conf');
  // Cluster nodes communicate on a second port. Its default, port + 10000, could exceed 65535.
  const bus = settings.some((line) => line.startsWith('cluster-enabled'))
    ? [`cluster-port ${await findFreePort(0)}`]
    : [];
  const always = [`port ${port}`, 'bind 127.0.0.1', 'save ""', `dir ${directory}`, `requirepass ${password}`];
  writeFileSync(file, [...always, ...bus, ...settings, ''].join('\n'));
  const program = (await findRedisServer(7)) ?? 'redis-server';
  const child = spawn(program, [file, ...(isSentinel ? ['--sentinel'] : [])], { stdio: 'ignore' });
  // Kill the server when the process exits, in case the test does not stop it.
  const killWithProcess = () => child.kill('SIGKILL');
  process.once('exit', killWithProcess);
  child.once('exit', () => process.off('exit', killWithProcess));
  const client = new Redis({
    ...{ port, host: '127.0.0.1', password },
    ...{ retryStrategy: () => 50, maxRetriesPerRequest: null, disconnectTimeout: 100 },
  });
  client.on('error', () => {});
  await eventually(() => client.status === 'ready', { what: 'redis-server being ready' });
  return {
    port,
    client,
    kill: () => endOf(child),
    async stop() {
      client.disconnect();
      await endOf(child);
      rmSync(directory, { recursive: true, force: true });
    },
  };
}

async function endOf(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = new Promise((resolve) => child.once('exit', resolve));
  child.kill('SIGKILL');
  await ended;
}
