import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createReaper } from '@millrace/stack/src/process/reaper.ts';
import { type KubernetesTools, kubernetesTools } from './kubernetes-tools.ts';
import { runApiServer } from './run-api-server.ts';

/** A real API server of its own, with nothing behind it: no controllers, no nodes. */
export interface ApiServer extends KubernetesTools {
  /** `https://…` */
  address: string;
  kubeconfig: string;
  stop(): Promise<void>;
}

/**
 * Starts etcd and kube-apiserver on loopback, for everything that only wants to know what Kubernetes says to a manifest:
 * `helm install --dry-run=server`, `kubectl apply --dry-run=server`. A namespace must exist before a dry run in it. Takes
 * some seconds; the very first time on a machine it builds the server, which takes minutes.
 *
 * Needs no privileges. Both end when this process does.
 * @throws SetupProblem saying what is missing on this machine.
 */
export async function startApiServer(): Promise<ApiServer> {
  const directory = await mkdtemp(join(tmpdir(), 'millrace-api-server-'));
  const reaper = createReaper();
  const remove = async () => {
    reaper.dismiss();
    await rm(directory, { recursive: true, force: true });
  };
  try {
    const tools = await kubernetesTools(join(directory, 'admin.kubeconfig'), directory);
    // Nobody makes service accounts here, without which a pod would be refused.
    const server = await runApiServer({ directory, reaper, flags: ['--disable-admission-plugins=ServiceAccount'] });
    return {
      ...tools,
      address: server.address,
      kubeconfig: server.kubeconfig,
      async stop() {
        await server.stop();
        await remove();
      },
    };
  } catch (error) {
    await remove();
    throw error;
  }
}
