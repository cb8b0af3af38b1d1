import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { goProgram, moduleDirectory } from './go-program.ts';

export const kubernetesParts = [
  ...(['kube-apiserver', 'kube-controller-manager', 'kube-scheduler', 'kubelet', 'kube-proxy'] as const),
];
type KubernetesProgram = (typeof kubernetesParts)[number];

/** The file of a part of Kubernetes. The first one takes minutes to build, the others share most of it. */
export function kubernetesProgram(name: KubernetesProgram): Promise<string> {
  const version = kubernetesVersion();
  const [major = '', minor = ''] = version.replace(/^v/, '').split('.');
  const place = 'k8s.io/component-base/version';
  return goProgram({
    module: 'kubernetes',
    path: `k8s.io/kubernetes/cmd/${name}`,
    // The parts compare their versions with each other.
    variables: { [`${place}.gitVersion`]: version, [`${place}.gitMajor`]: major, [`${place}.gitMinor`]: minor },
  });
}

/** `v1.34.4`, as the module says. */
export function kubernetesVersion(): string {
  const text = readFileSync(join(moduleDirectory('kubernetes'), 'go.mod'), 'utf8');
  const version = /^require k8s\.io\/kubernetes (v\S+)/m.exec(text)?.[1];
  if (version === undefined) throw new Error('go.mod requires no k8s.io/kubernetes');
  return version;
}
