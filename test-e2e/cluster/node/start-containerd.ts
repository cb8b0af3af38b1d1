import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { detectPlatform } from '@millrace/stack/image/base';
import { file } from '@millrace/stack/image/layers';
import { platformImage, writeArchive, writeLayer } from '@millrace/stack/image/oci-image';
import {
  type Reaper,
  type ServerProcess,
  startServerProcess,
  waitUntilReady,
} from '@millrace/stack/servers/server-process';
import { buildGoProgram } from '../parts/go-program.ts';
import { runOrExplain } from '../parts/run-or-explain.ts';
import { getPodRange } from './cluster-network.ts';
import type { NodePrograms } from './node-programs.ts';

export interface Containerd {
  socket: string;
  process: ServerProcess;
  load(archive: string): Promise<void>;
  tag(image: string, name: string): Promise<void>;
}

export interface ContainerdOptions {
  directory: string;
  programs: NodePrograms;
  reaper: Reaper;
  pause: string;
}

/** Starts a node's containerd with its own network plugin. */
export async function startContainerd(
  node: number,
  { directory, programs, reaper, pause }: ContainerdOptions,
): Promise<Containerd> {
  mkdirSync(directory, { recursive: true });
  const socket = join(directory, 'containerd.sock');
  const config = join(directory, 'containerd.toml');
  const network = join(directory, 'cni');
  mkdirSync(network);
  writeFileSync(join(network, '10-bridge.conflist'), JSON.stringify(bridge(node), null, 2));
  writeFileSync(config, configText({ directory, socket, network, programs }));
  const server = startServerProcess({
    name: 'containerd',
    command: programs.containerd,
    arguments: ['--config', config],
    marker: config,
    env: programs.env,
    logFile: join(directory, 'containerd.log'),
    recordFile: join(directory, 'containerd.json'),
    reaper,
    stopSignal: 'SIGTERM',
    stopPatienceMs: 10_000,
  });
  await waitUntilReady({ name: 'containerd', process: server }, () => listens(socket), 60_000);
  const images = async (...words: string[]) => {
    const address = ['--address', socket, '--namespace', 'k8s.io', 'images'];
    await runOrExplain(programs.ctr, [...address, ...words], { env: programs.env });
  };
  const load = (archive: string) => images('import', archive);
  await load(pause);
  return { socket, process: server, load, tag: (image, name) => images('tag', image, name) };
}

/** Configures a bridge for a node's pods. Packets to other IP addresses get the node's IP address as their source. */
function bridge(node: number) {
  const range = getPodRange(node);
  return {
    cniVersion: '1.0.0',
    name: `pods-${node}`,
    plugins: [
      {
        ...{ type: 'bridge', bridge: `pods${node}`, isGateway: true, ipMasq: true, hairpinMode: true },
        ipam: { type: 'host-local', ranges: [[{ subnet: range }]], routes: [{ dst: '0.0.0.0/0' }] },
      },
      { type: 'portmap', capabilities: { portMappings: true } },
    ],
  };
}

function configText(places: { directory: string; socket: string; network: string; programs: NodePrograms }): string {
  const { directory, socket, network, programs } = places;
  const text = JSON.stringify;
  return `version = 2
root = ${text(join(directory, 'root'))}
state = ${text(join(directory, 'state'))}
disabled_plugins = ["io.containerd.snapshotter.v1.aufs", "io.containerd.snapshotter.v1.btrfs", "io.containerd.snapshotter.v1.devmapper", "io.containerd.snapshotter.v1.zfs", "io.containerd.internal.v1.opt"]
[grpc]
address = ${text(socket)}
[plugins."io.containerd.grpc.v1.cri"]
sandbox_image = ${text(pauseImageName)}
# A machine may not let us make a process less likely to be killed.
restrict_oom_score_adj = true
[plugins."io.containerd.grpc.v1.cri".cni]
bin_dir = ${text(programs.cniPlugins)}
conf_dir = ${text(network)}
[plugins."io.containerd.grpc.v1.cri".containerd.runtimes.runc]
runtime_type = "io.containerd.runc.v2"
[plugins."io.containerd.grpc.v1.cri".containerd.runtimes.runc.options]
BinaryName = ${text(programs.runc)}
`;
}

function listens(socket: string): Promise<boolean> {
  return new Promise((resolve) => {
    const connection = connect(socket, () => {
      connection.destroy();
      resolve(true);
    });
    connection.once('error', () => resolve(false));
  });
}

export const buildPauseProgram = () => buildGoProgram({ module: 'pause', path: 'millrace/pause' });

const name = { repository: 'millrace.local/pause', tag: '1' };

/** Name of the pause image. containerd uses it to keep a pod's network namespace. */
export const pauseImageName = `${name.repository}:${name.tag}`;

/** Writes an archive of the pause image to `directory`. @returns the archive's path */
export async function writePauseImage(directory: string): Promise<string> {
  const layer = await writeLayer(new Map([['pause', file(readFileSync(await buildPauseProgram()), 0o755)]]));
  const labels = { version: name.tag, created: new Date(0).toISOString(), revision: '' };
  const content = { layers: [{ title: 'pause', layer }], labels, runs: { Entrypoint: ['/pause'] } };
  const archive = join(directory, 'pause.tar');
  await writeArchive(archive, name, [platformImage(detectPlatform(), content)]);
  return archive;
}
