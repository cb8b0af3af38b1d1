// The control plane without its API server: controllers, scheduler and the proxy of services.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Reaper, type ServerProcess, startServerProcess } from '@millrace/stack/servers/server-process';
import type { RunningApiServer } from './api-server/run-api-server.ts';
import { podRange } from './node/cluster-network.ts';
import { kubernetesProgram } from './parts/go-program.ts';

/** Everything that turns what is wanted into pods on nodes: controllers and scheduler. */
export async function startControllers(server: RunningApiServer, options: PartOptions): Promise<ServerProcess[]> {
  const { kubeconfig, certificates } = server;
  // There is one of each.
  const shared = [`--kubeconfig=${kubeconfig}`, '--leader-elect=false'];
  const manager = startPart(
    'kube-controller-manager',
    {
      command: await kubernetesProgram('kube-controller-manager'),
      flags: [
        ...shared,
        `--service-account-private-key-file=${certificates.serviceAccountKey}`,
        `--root-ca-file=${certificates.authority}`,
        '--use-service-account-credentials=true',
        // A story is minutes long, not a day: what is decided slowly in production is decided in seconds here.
        '--horizontal-pod-autoscaler-sync-period=5s',
        '--horizontal-pod-autoscaler-initial-readiness-delay=5s',
        '--horizontal-pod-autoscaler-cpu-initialization-period=10s',
      ],
    },
    options,
  );
  const scheduler = startPart(
    'kube-scheduler',
    { command: await kubernetesProgram('kube-scheduler'), flags: shared },
    options,
  );
  return [manager, scheduler];
}

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

export interface PartOptions {
  /** Where its log is kept. */
  directory: string;
  reaper: Reaper;
  env?: Record<string, string | undefined>;
}

/** Starts a program of the control plane, which looks for the API server until it finds it. */
export function startPart(
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
