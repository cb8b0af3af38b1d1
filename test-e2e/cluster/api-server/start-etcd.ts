import { mkdirSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import {
  findFreePort,
  type Reaper,
  type RunningServer,
  startServerProcess,
  waitUntilReady,
} from '@millrace/stack/servers/server-process';
import { readDebianFiles } from '../parts/debian-files.ts';

/** Returns the directory of the unpacked Debian package. */
export function fetchEtcdFiles(): Promise<string> {
  return readDebianFiles('etcd', ['etcd-server']);
}

/** Starts etcd, the API server's database, only on loopback. */
export async function startEtcd(directory: string, reaper: Reaper): Promise<RunningServer> {
  const program = join(await fetchEtcdFiles(), 'usr/bin/etcd');
  const data = join(directory, 'etcd');
  mkdirSync(data, { recursive: true, mode: 0o700 });
  const port = await findFreePort();
  const address = `http://127.0.0.1:${port}`;
  const peers = `http://127.0.0.1:${await findFreePort(0, new Set([port]))}`;
  const server = startServerProcess({
    name: 'etcd',
    command: program,
    arguments: [
      ...['--data-dir', data, '--log-level', 'warn'],
      ...['--listen-client-urls', address, '--advertise-client-urls', address],
      ...['--listen-peer-urls', peers, '--initial-advertise-peer-urls', peers, '--initial-cluster', `default=${peers}`],
    ],
    marker: data,
    logFile: join(directory, 'etcd.log'),
    recordFile: join(directory, 'etcd.json'),
    reaper,
    stopSignal: 'SIGTERM',
    stopPatienceMs: 10_000,
  });
  await waitUntilReady({ name: 'etcd', process: server }, () => listens(port), 60_000);
  return { address, ended: server.ended, lastLog: server.lastLog, stop: server.stop };
}

function listens(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1', () => {
      socket.destroy();
      resolve(true);
    });
    socket.once('error', () => resolve(false));
  });
}
