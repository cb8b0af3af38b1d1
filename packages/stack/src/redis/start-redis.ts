import { mkdirSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { freePort } from '../process/free-port.ts';
import { stopRecordedProcess } from '../process/process-record.ts';
import type { Reaper } from '../process/reaper.ts';
import type { RunningServer } from '../process/running-server.ts';
import { startServerProcess, waitUntilReady } from '../process/server-process.ts';

export interface RedisOptions {
  /** Where its log is kept. Its data are a cache and kept nowhere. */
  directory: string;
  preferredPort: number;
  /** The address it listens on; loopback when left out. */
  host?: string;
  reaper: Reaper;
}

/** The system's `redis-server`, in memory only. */
export async function startRedis({
  directory,
  preferredPort,
  host = '127.0.0.1',
  reaper,
}: RedisOptions): Promise<RunningServer> {
  mkdirSync(directory, { recursive: true });
  const recordFile = join(directory, 'process.json');
  await stopRecordedProcess(recordFile, 'SIGTERM');
  for (let attempt = 1; ; attempt++) {
    const port = await freePort(preferredPort);
    const server = startServerProcess({
      name: 'Redis',
      command: 'redis-server',
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
      marker: `redis-server ${host}:${port}`,
      logFile: join(directory, 'redis.log'),
      recordFile,
      reaper,
      stopSignal: 'SIGTERM',
      stopPatienceMs: 10_000,
    });
    try {
      await waitUntilReady({ name: 'Redis', process: server }, () => pings(host, port), 20_000);
      return { address: `redis://${host}:${port}`, ended: server.ended, lastLog: server.lastLog, stop: server.stop };
    } catch (error) {
      await server.stop();
      if (attempt < 5 && /Address already in use/.test(server.lastLog())) continue;
      throw error;
    }
  }
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
