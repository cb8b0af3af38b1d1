import { join } from 'node:path';
import { environment } from '@millrace/runtime';
import { type ProgramResult, runProgram } from '@millrace/stack/src/process/run-program.ts';
import { kubectlAndHelm } from '../parts/kubectl-and-helm.ts';

/** kubectl and Helm as the administrator of one cluster. Both run to their end and say what they said, good or bad. */
export interface KubernetesTools {
  kubectl(...words: string[]): Promise<ProgramResult>;
  helm(...words: string[]): Promise<ProgramResult>;
}

/** @param directory where Helm keeps what it remembers, so that nobody's own settings count */
export async function kubernetesTools(kubeconfig: string, directory: string): Promise<KubernetesTools> {
  const files = await kubectlAndHelm();
  const env = {
    ...environment(),
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
