import { join } from 'node:path';
import type { Reaper } from '@millrace/stack/src/process/reaper.ts';
import type { NodePrograms } from './node-programs.ts';
import { startContainerd } from './start-containerd.ts';
import { startKubelet } from './start-kubelet.ts';

export interface ClusterNode {
  name: string;
  /** Takes the images of an OCI archive. */
  load(archive: string): Promise<void>;
  /** Gives an image that it has another name. */
  tag(image: string, name: string): Promise<void>;
  /** The end of what its kubelet and its containerd said. */
  lastLog(): string;
  stop(): Promise<void>;
}

export interface NodeOptions {
  /** Where everything of the cluster is kept. */
  directory: string;
  programs: NodePrograms;
  reaper: Reaper;
  kubeconfig: string;
  cgroup: string;
  /** Archive of the image that holds the network of a pod. */
  pause: string;
}

/** A node: containerd and the kubelet that uses it. */
export async function startNode(node: number, options: NodeOptions): Promise<ClusterNode> {
  const { programs, reaper, kubeconfig, cgroup, pause } = options;
  const name = `node-${node}`;
  const directory = join(options.directory, name);
  const containerd = await startContainerd(node, { directory, programs, reaper, pause });
  const kubelet = await startKubelet(node, {
    ...{ directory, programs, reaper, kubeconfig },
    ...{ socket: containerd.socket, cgroup: join(cgroup, name) },
  });
  return {
    name,
    load: containerd.load,
    tag: containerd.tag,
    lastLog: () => `${kubelet.lastLog()}\n${containerd.process.lastLog()}`,
    async stop() {
      await kubelet.stop();
      await containerd.process.stop();
    },
  };
}
