import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Reaper, type ServerProcess, startServerProcess } from '@millrace/stack/servers/server-process';
import { buildKubernetesProgram } from '../parts/go-program.ts';
import { createCgroup } from './cgroups.ts';
import { dnsAddress, getNodeAddress } from './cluster-network.ts';
import type { NodePrograms } from './node-programs.ts';
import { startContainerd } from './start-containerd.ts';

export interface ClusterNode {
  name: string;
  load(archive: string): Promise<void>;
  tag(image: string, name: string): Promise<void>;
  /** Returns the last log lines of the kubelet and containerd. */
  lastLog(): string;
  stop(): Promise<void>;
}

export interface NodeOptions {
  directory: string;
  programs: NodePrograms;
  reaper: Reaper;
  kubeconfig: string;
  cgroup: string;
  pause: string;
}

/** Starts a node, which consists of containerd and a kubelet. */
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

interface KubeletOptions {
  directory: string;
  programs: NodePrograms;
  reaper: Reaper;
  kubeconfig: string;
  socket: string;
  cgroup: string;
}

async function startKubelet(node: number, options: KubeletOptions): Promise<ServerProcess> {
  const { directory, programs, kubeconfig } = options;
  const program = await buildKubernetesProgram('kubelet');
  mkdirSync(directory, { recursive: true });
  createCgroup(options.cgroup);
  const resolvers = join(directory, 'resolv.conf');
  writeFileSync(resolvers, '');
  const config = join(directory, 'kubelet.json');
  writeFileSync(config, JSON.stringify(configuration(node, { ...options, resolvers }), null, 2));
  return startServerProcess({
    name: 'kubelet',
    command: program,
    arguments: [
      ...['--config', config, '--kubeconfig', kubeconfig, '--root-dir', join(directory, 'kubelet')],
      ...['--hostname-override', `node-${node}`, '--node-ip', getNodeAddress(node)],
    ],
    marker: config,
    env: programs.env,
    logFile: join(directory, 'kubelet.log'),
    recordFile: join(directory, 'kubelet.json.process'),
    reaper: options.reaper,
    stopSignal: 'SIGTERM',
    stopPatienceMs: 10_000,
  });
}

function configuration(node: number, { directory, socket, cgroup, resolvers }: KubeletOptions & { resolvers: string }) {
  const memoryAndDisk = { 'memory.available': '100Mi', 'nodefs.available': '1%', 'imagefs.available': '1%' };
  return {
    ...{ apiVersion: 'kubelet.config.k8s.io/v1beta1', kind: 'KubeletConfiguration' },
    ...{ port: 10_250 + node, healthzPort: 0, address: getNodeAddress(node) },
    containerRuntimeEndpoint: `unix://${socket}`,
    podLogsDir: join(directory, 'pod-logs'),
    ...{ cgroupDriver: 'cgroupfs', cgroupRoot: `/${cgroup}`, enforceNodeAllocatable: [], failCgroupV1: false },
    ...{ clusterDNS: [dnsAddress], clusterDomain: 'cluster.local', resolvConf: resolvers },
    // Authentication is not necessary, because only the cluster's programs have access to this network.
    authentication: { anonymous: { enabled: true }, webhook: { enabled: false } },
    authorization: { mode: 'AlwaysAllow' },
    ...{ failSwapOn: false, oomScoreAdj: 0, evictionHard: memoryAndDisk },
    // Keep all images, because they cannot be downloaded again.
    ...{ imageGCHighThresholdPercent: 100, imageGCLowThresholdPercent: 99, maxPods: 60 },
    // Use short intervals, so that the kubelet detects crashes and restarts containers quickly.
    ...{ syncFrequency: '10s', nodeStatusUpdateFrequency: '5s' },
  };
}
