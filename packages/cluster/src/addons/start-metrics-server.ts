import { join } from 'node:path';
import type { ServerProcess } from '@millrace/stack/src/process/server-process.ts';
import type { KubernetesTools } from '../api-server/kubernetes-tools.ts';
import type { RunningApiServer } from '../api-server/run-api-server.ts';
import { type PartOptions, startPart } from '../control-plane/start-part.ts';
import { hostAddress } from '../node/cluster-network.ts';
import { goProgram } from '../parts/go-program.ts';
import { announceApi } from './announce-api.ts';

/** The file of the program. */
export const metricsServer = () =>
  goProgram({ module: 'metrics-server', path: 'sigs.k8s.io/metrics-server/cmd/metrics-server' });

const port = 4443;

/** Tells autoscalers what pods use. */
export async function startMetricsServer(
  { kubeconfig, certificates }: RunningApiServer,
  tools: KubernetesTools,
  options: PartOptions,
): Promise<ServerProcess> {
  const flags = [
    ...['kubeconfig', 'authentication-kubeconfig', 'authorization-kubeconfig'].map((flag) => `--${flag}=${kubeconfig}`),
    `--requestheader-client-ca-file=${certificates.authority}`,
    `--cert-dir=${join(options.directory, 'metrics-server')}`,
    ...[`--bind-address=${hostAddress}`, `--secure-port=${port}`],
    ...['--kubelet-insecure-tls', '--kubelet-preferred-address-types=InternalIP', '--kubelet-use-node-status-port'],
    ...['--metric-resolution=10s', '--kubelet-request-timeout=5s'],
  ];
  const server = startPart('metrics-server', { command: await metricsServer(), flags }, options);
  const api = { name: 'metrics-server', namespace: 'kube-system', group: 'metrics.k8s.io', port };
  await announceApi(api, tools, options.directory);
  return server;
}
