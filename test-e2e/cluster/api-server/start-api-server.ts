import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { readEnvironment } from '@millrace/runtime';
import { kubectlAndHelm } from '@millrace/stack/fetched-programs';
import { hasProgram, type ProgramResult, runProgram } from '@millrace/stack/run-program';
import { createReaper } from '@millrace/stack/servers/server-process';
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

/** kubectl and Helm as the administrator of one cluster. Both run to their end and say what they said, good or bad. */
export interface KubernetesTools {
  kubectl(...words: string[]): Promise<ProgramResult>;
  helm(...words: string[]): Promise<ProgramResult>;
}

/** @param directory where Helm keeps what it remembers, so that nobody's own settings count */
export async function kubernetesTools(kubeconfig: string, directory: string): Promise<KubernetesTools> {
  const files = await kubectlAndHelm();
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

/** What the API server is made of, beside what is fetched for it. */
const programs: [name: string, purpose: string][] = [
  ['go', 'the parts of Kubernetes are built from source'],
  ['apt-get', "etcd comes from Debian's packages"],
  ['dpkg', "etcd comes from Debian's packages"],
  ['openssl', 'the certificates are made by it'],
  ['npm', 'kubectl and Helm come from a package of npm'],
];

/** Why an API server cannot run on this machine, in half a sentence; null when it can. */
export async function missingForApiServer(): Promise<string | null> {
  if (process.platform !== 'linux' || process.arch !== 'x64') return 'kubectl, Helm and etcd are had for x86-64 Linux';
  for (const [name, purpose] of programs) {
    if (!(await hasProgram(name))) return `no ${name}: ${purpose}`;
  }
  return null;
}
