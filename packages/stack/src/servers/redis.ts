// Starts a Redis server for tests and `npm start`.

import { mkdirSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { fetchValkey, findCachedValkey } from '../fetched-programs.ts';
import { runProgram } from '../run-program.ts';
import {
  findFreePort,
  type Reaper,
  type RunningServer,
  startOnFreePort,
  startServerProcess,
  stopRecordedProcess,
} from './server-process.ts';

export interface RedisOptions {
  /** The directory for the log. Redis is used as a cache, so its data is not stored. */
  directory: string;
  preferredPort: number;
  host?: string;
  reaper: Reaper;
}

/**
 * Returns the first Redis server that is new enough, in this order: REDIS_SERVER_PATH, the PATH, a downloaded server.
 * Returns null if no server is new enough.
 * @param oldest the minimum major version. Cluster tests require 7, and everything else requires 6.
 */
export async function findRedisServer(oldest = 6): Promise<string | null> {
  for (const program of [
    process.env.REDIS_SERVER_PATH || [],
    'redis-server',
    'valkey-server',
    findCachedValkey() ?? [],
  ].flat()) {
    const { status, output } = await runProgram(program, ['--version'], { timeoutMs: 20_000 });
    // Match `Redis server v=7.0.15 sha=…`.
    if (status === 0 && Number(/ v=(\d+)/.exec(output)?.[1]) >= oldest) return program;
  }
  return null;
}

/**
 * Starts a Redis server that keeps its data only in memory.
 * @throws SetupProblem if no program is available
 */
export async function startRedis({
  directory,
  preferredPort,
  host = '127.0.0.1',
  reaper,
}: RedisOptions): Promise<RunningServer> {
  const command = (await findRedisServer()) ?? (await fetchValkey());
  mkdirSync(directory, { recursive: true });
  const recordFile = join(directory, 'process.json');
  await stopRecordedProcess(recordFile, 'SIGTERM');
  return startOnFreePort('Redis', 20_000, async () => {
    const port = await findFreePort(preferredPort);
    const server = startServerProcess({
      name: 'Redis',
      command,
      arguments: [
        '--port',
        String(port),
        '--bind',
        host,
        // In protected mode, a Redis server without a password rejects clients from other IP addresses.
        '--protected-mode',
        'no',
        '--save',
        '',
        '--appendonly',
        'no',
        '--dir',
        directory,
      ],
      // Redis replaces its own command line with one that contains the host and the port.
      marker: `-server ${host}:${port}`,
      logFile: join(directory, 'redis.log'),
      recordFile,
      reaper,
      stopSignal: 'SIGTERM',
      stopPatienceMs: 10_000,
    });
    return { server, address: `redis://${host}:${port}`, isReady: () => pings(host, port) };
  });
}

function pings(host: string, port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, host, () => socket.write('PING\r\n'));
    const finish = (isReachable: boolean) => {
      socket.destroy();
      resolve(isReachable);
    };
    socket.setTimeout(1000, () => finish(false));
    socket.once('error', () => finish(false));
    socket.once('data', (data) => finish(data.toString().startsWith('+PONG')));
  });
}
