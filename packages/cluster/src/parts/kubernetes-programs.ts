import { type GoProgram, goProgram } from './go-program.ts';

export type KubernetesProgram =
  | 'kube-apiserver'
  | 'kube-controller-manager'
  | 'kube-scheduler'
  | 'kubelet'
  | 'kube-proxy';

/** The file of a part of Kubernetes. The first one takes minutes to build, the others share most of it. */
export function kubernetesProgram(name: KubernetesProgram): Promise<string> {
  return goProgram({ ...fromKubernetes, path: `k8s.io/kubernetes/cmd/${name}` });
}

const fromKubernetes: Omit<GoProgram, 'path'> = {
  module: 'kubernetes',
  versionOf: 'k8s.io/kubernetes',
  /** The parts compare their versions with each other. */
  variables(version) {
    const [major = '', minor = ''] = version.replace(/^v/, '').split('.');
    const place = 'k8s.io/component-base/version';
    return { [`${place}.gitVersion`]: version, [`${place}.gitMajor`]: major, [`${place}.gitMinor`]: minor };
  },
};
