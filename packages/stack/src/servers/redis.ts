import { mkdirSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { fetchValkey, keptValkey } from '../fetched-programs.ts';
import { runProgram } from '../run-program.ts';
import {
  freePort,
  type Reaper,
  type RunningServer,
  startOnFreePort,
  startServerProcess,
  stopRecordedProcess,
} from './server-process.ts';

export interface RedisOptions {
  /** Where its log is kept. Its data are a cache and kept nowhere. */
  directory: string;
  preferredPort: number;
  /** The address it listens on; loopback when left out. */
  host?: string;
  reaper: Reaper;
}

/**
 * The first server that is new enough: the one REDIS_SERVER_PATH names, those on the PATH, one that was fetched. Null when there
 * is none.
 * @param oldest its major version: what is asked of 6 is less than what tests of topologies ask of 7
 */
export async function findRedisServer(oldest = 6): Promise<string | null> {
  for (const program of [
    process.env.REDIS_SERVER_PATH || [],
    'redis-server',
    'valkey-server',
    keptValkey() ?? [],
  ].flat()) {
    const { status, output } = await runProgram(program, ['--version'], { timeoutMs: 20_000 });
    // `Redis server v=7.0.15 sha=…`
    if (status === 0 && Number(/ v=(\d+)/.exec(output)?.[1]) >= oldest) return program;
  }
  return null;
}

/** A Redis server, in memory only. @throws SetupProblem when there is no program for it. */
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
    const port = await freePort(preferredPort);
    const server = startServerProcess({
      name: 'Redis',
      command,
      arguments: [
        '--port',
        String(port),
        '--bind',
        host,
        // Without a password it would refuse whoever comes from elsewhere, however few can.
        '--protected-mode',
        'no',
        '--save',
        '',
        '--appendonly',
        'no',
        '--dir',
        directory,
      ],
      // It rewrites its own command line to the address.
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
    const finish = (answer: boolean) => {
      socket.destroy();
      resolve(answer);
    };
    socket.setTimeout(1000, () => finish(false));
    socket.once('error', () => finish(false));
    socket.once('data', (data) => finish(data.toString().startsWith('+PONG')));
  });
}
