import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { ServerProcess } from '@millrace/stack/src/process/server-process.ts';
import { podRange } from '../node/cluster-network.ts';
import { kubernetesProgram } from '../parts/kubernetes-programs.ts';
import { type PartOptions, startPart } from './start-part.ts';

/** Leads the addresses of services to pods. All nodes share one network namespace, so one is enough. */
export async function startKubeProxy(kubeconfig: string, options: PartOptions): Promise<ServerProcess> {
  const config = join(options.directory, 'kube-proxy-config.json');
  const zero = { maxPerCore: 0, tcpEstablishedTimeout: '0s', tcpCloseWaitTimeout: '0s' };
  writeFileSync(
    config,
    JSON.stringify({
      ...{ apiVersion: 'kubeproxy.config.k8s.io/v1alpha1', kind: 'KubeProxyConfiguration' },
      ...{ mode: 'iptables', clusterCIDR: podRange, hostnameOverride: 'node-1', clientConnection: { kubeconfig } },
      // These settings belong to the whole machine, and are not for us to change.
      conntrack: { ...zero, udpTimeout: '0s', udpStreamTimeout: '0s' },
    }),
  );
  const command = await kubernetesProgram('kube-proxy');
  return startPart('kube-proxy', { command, flags: [`--config=${config}`] }, options);
}
