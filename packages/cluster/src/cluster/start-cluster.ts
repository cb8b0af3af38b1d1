import { join } from 'node:path';
import { createReaper } from '@millrace/stack/src/process/reaper.ts';
import type { ServerProcess } from '@millrace/stack/src/process/server-process.ts';
import { startDns } from '../addons/start-dns.ts';
import { startKeda } from '../addons/start-keda.ts';
import { startMetricsServer } from '../addons/start-metrics-server.ts';
import { type KubernetesTools, kubernetesTools } from '../api-server/kubernetes-tools.ts';
import { runApiServer } from '../api-server/run-api-server.ts';
import { type Traffic, watchConnections } from '../connections/watch-connections.ts';
import { startControllers } from '../control-plane/start-controllers.ts';
import { startKubeProxy } from '../control-plane/start-kube-proxy.ts';
import { prepareMounts } from '../namespace/prepare-mounts.ts';
import { hostAddress, prepareNetwork } from '../node/cluster-network.ts';
import { nodePrograms } from '../node/node-programs.ts';
import { pauseImage } from '../node/pause-image.ts';
import { type ClusterNode, startNode } from '../node/start-node.ts';

export interface Cluster extends KubernetesTools {
  kubeconfig: string;
  nodes: ClusterNode[];
  /** Parts that have ended although nobody asked them to, each with the end of what it said. */
  failures(): string[];
  /** Who has connected to whom so far. */
  traffic(): Traffic;
}

export interface ClusterOptions {
  /** Empty; everything of the cluster is kept there. */
  directory: string;
  /** Of the control group its pods live in. */
  cgroup: string;
  nodes: number;
}

/**
 * Starts a Kubernetes of several nodes. To be called in namespaces of our own (`runInNamespaces`), whose end is its end.
 * @throws SetupProblem with the words of the part that did not start.
 */
export async function startCluster({ directory, cgroup, nodes }: ClusterOptions): Promise<Cluster> {
  await prepareMounts(directory);
  const programs = await nodePrograms(directory);
  await prepareNetwork(programs, nodes);
  const pause = await pauseImage(directory);
  const reaper = createReaper();
  const server = await runApiServer({ directory: join(directory, 'api'), reaper, host: hostAddress });
  const { kubeconfig } = server;
  const tools = await kubernetesTools(kubeconfig, directory);
  const part = { directory, reaper, env: programs.env };
  const watch = await watchConnections(kubeconfig, part);
  const running: ServerProcess[] = [
    ...watch.parts,
    ...(await startControllers(server, part)),
    await startKubeProxy(kubeconfig, part),
    await startDns(kubeconfig, part),
    await startMetricsServer(server, tools, part),
    ...(await startKeda(server, tools, part)),
  ];
  const started = Array.from({ length: nodes }, (_, index) =>
    startNode(index + 1, { directory, programs, reaper, kubeconfig, cgroup, pause }),
  );
  return {
    ...tools,
    kubeconfig,
    nodes: await Promise.all(started),
    failures: () => running.filter((process) => process.hasEnded()).map((process) => process.lastLog()),
    traffic: watch.read,
  };
}
