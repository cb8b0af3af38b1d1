// Starts the control plane without the API server: controller manager, scheduler and kube-proxy.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Reaper, type ServerProcess, startServerProcess } from '@millrace/stack/servers/server-process';
import type { RunningApiServer } from './api-server/run-api-server.ts';
import { podRange } from './node/cluster-network.ts';
import { buildKubernetesProgram } from './parts/go-program.ts';

export async function startControllers(server: RunningApiServer, options: PartOptions): Promise<ServerProcess[]> {
  const { kubeconfig, certificates } = server;
  // Turn off leader election, because each program has only one instance.
  const shared = [`--kubeconfig=${kubeconfig}`, '--leader-elect=false'];
  const manager = startControlPlaneProgram(
    'kube-controller-manager',
    {
      command: await buildKubernetesProgram('kube-controller-manager'),
      flags: [
        ...shared,
        `--service-account-private-key-file=${certificates.serviceAccountKey}`,
        `--root-ca-file=${certificates.authority}`,
        '--use-service-account-credentials=true',
        // Use short intervals, because a test story takes only minutes.
        '--horizontal-pod-autoscaler-sync-period=5s',
        '--horizontal-pod-autoscaler-initial-readiness-delay=5s',
        '--horizontal-pod-autoscaler-cpu-initialization-period=10s',
      ],
    },
    options,
  );
  const scheduler = startControlPlaneProgram(
    'kube-scheduler',
    { command: await buildKubernetesProgram('kube-scheduler'), flags: shared },
    options,
  );
  return [manager, scheduler];
}

/**
 * Starts kube-proxy, which routes service addresses to pods. One instance is sufficient, because all nodes share one
 * network namespace.
 */
export async function startKubeProxy(kubeconfig: string, options: PartOptions): Promise<ServerProcess> {
  const config = join(options.directory, 'kube-proxy-config.json');
  const zero = { maxPerCore: 0, tcpEstablishedTimeout: '0s', tcpCloseWaitTimeout: '0s' };
  writeFileSync(
    config,
    JSON.stringify({
      ...{ apiVersion: 'kubeproxy.config.k8s.io/v1alpha1', kind: 'KubeProxyConfiguration' },
      ...{ mode: 'iptables', clusterCIDR: podRange, hostnameOverride: 'node-1', clientConnection: { kubeconfig } },
      // Do not change the conntrack settings, because they apply to the entire machine.
      conntrack: { ...zero, udpTimeout: '0s', udpStreamTimeout: '0s' },
    }),
  );
  const command = await buildKubernetesProgram('kube-proxy');
  return startControlPlaneProgram('kube-proxy', { command, flags: [`--config=${config}`] }, options);
}

export interface PartOptions {
  directory: string;
  reaper: Reaper;
  env?: Record<string, string | undefined>;
}

/** Starts a control plane program. The program retries until it can connect to the API server. */
export function startControlPlaneProgram(
  name: string,
  { command, flags }: { command: string; flags: readonly string[] },
  { directory, reaper, env }: PartOptions,
): ServerProcess {
  return startServerProcess({
    name,
    command,
    arguments: [...flags],
    marker: command,
    ...(env ? { env } : {}),
    logFile: join(directory, `${name}.log`),
    recordFile: join(directory, `${name}.json`),
    reaper,
    stopSignal: 'SIGTERM',
    stopPatienceMs: 5000,
  });
}
