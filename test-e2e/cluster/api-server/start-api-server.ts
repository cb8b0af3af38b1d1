import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { readEnvironment } from '@millrace/runtime';
import { ensureKubectlAndHelm } from '@millrace/stack/fetched-programs';
import { hasProgram, type ProgramResult, runProgram } from '@millrace/stack/run-program';
import { createReaper } from '@millrace/stack/servers/server-process';
import { runApiServer } from './run-api-server.ts';

/** A real API server without controllers and nodes. */
export interface ApiServer extends KubernetesTools {
  address: string;
  kubeconfig: string;
  stop(): Promise<void>;
}

/**
 * Starts etcd and kube-apiserver on loopback, for checking manifests with `helm install --dry-run=server` and `kubectl
 * apply --dry-run=server`. The namespace of a dry run must exist. Starting takes some seconds. The first start on a
 * machine builds the server, which takes minutes.
 *
 * This does not require privileges. Both programs end when this process ends.
 * @throws SetupProblem with the missing prerequisite
 */
export async function startApiServer(): Promise<ApiServer> {
  const directory = await mkdtemp(join(tmpdir(), 'millrace-api-server-'));
  const reaper = createReaper();
  const remove = async () => {
    reaper.dismiss();
    await rm(directory, { recursive: true, force: true });
  };
  try {
    const tools = await createKubernetesTools(join(directory, 'admin.kubeconfig'), directory);
    // Turn off the ServiceAccount plugin, because it rejects pods without a service account, and no controller creates
    // service accounts here.
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

/**
 * Functions that run kubectl and Helm as a cluster administrator, and return output and status even if the command
 * fails.
 */
export interface KubernetesTools {
  kubectl(...words: string[]): Promise<ProgramResult>;
  helm(...words: string[]): Promise<ProgramResult>;
}

/** @param directory the directory for Helm's files, so that the user's Helm settings have no effect */
export async function createKubernetesTools(kubeconfig: string, directory: string): Promise<KubernetesTools> {
  const files = await ensureKubectlAndHelm();
  const env = {
    ...readEnvironment(),
    KUBECONFIG: kubeconfig,
    HELM_CACHE_HOME: join(directory, 'helm/cache'),
    HELM_CONFIG_HOME: join(directory, 'helm/config'),
    HELM_DATA_HOME: join(directory, 'helm/data'),
  };
  return {
    kubectl: (...words) => runProgram(files.kubectl, words, { env }),
    helm: (...words) => runProgram(files.helm, words, { env }),
  };
}

/** Tools that must be installed, because they are not downloaded. */
const programs: [name: string, purpose: string][] = [
  ['go', 'the parts of Kubernetes are built from source'],
  ['apt-get', "etcd comes from Debian's packages"],
  ['dpkg', "etcd comes from Debian's packages"],
  ['openssl', 'the certificates are made by it'],
  ['npm', 'kubectl and Helm come from a package of npm'],
];

/** Returns why this machine cannot run an API server, as a clause for a message, or null if it can. */
export async function explainMissingApiServer(): Promise<string | null> {
  if (process.platform !== 'linux' || process.arch !== 'x64') return 'kubectl, Helm and etcd are had for x86-64 Linux';
  for (const [name, purpose] of programs) {
    if (!(await hasProgram(name))) return `no ${name}: ${purpose}`;
  }
  return null;
}
