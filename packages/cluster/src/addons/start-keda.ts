import { copyFileSync, cpSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { environment } from '@millrace/runtime';
import type { ServerProcess } from '@millrace/stack/src/process/server-process.ts';
import type { KubernetesTools } from '../api-server/kubernetes-tools.ts';
import type { RunningApiServer } from '../api-server/run-api-server.ts';
import { type PartOptions, startPart } from '../control-plane/start-part.ts';
import { hostAddress } from '../node/cluster-network.ts';
import { keepInCache } from '../parts/cluster-cache.ts';
import { goProgram, moduleDirectory, moduleMark } from '../parts/go-program.ts';
import { runOrExplain } from '../parts/run-or-explain.ts';
import { announceApi } from './announce-api.ts';

const source = 'github.com/kedacore/keda/v2';
const program = (name: string) => goProgram({ module: 'keda', path: `${source}/cmd/${name}`, name: `keda-${name}` });

export interface KedaParts {
  operator: string;
  adapter: string;
  /** Directory of the kinds it adds. */
  kinds: string;
}

/** The files of KEDA. */
export async function kedaParts(): Promise<KedaParts> {
  const kinds = await keepInCache(`keda-kinds-${moduleMark('keda')}`, async (directory) => {
    const env = { ...environment(), GOFLAGS: '-mod=readonly' };
    const words = ['list', '-m', '-f', '{{.Dir}}', source];
    const place = (await runOrExplain('go', words, { cwd: moduleDirectory('keda'), env })).trim();
    cpSync(join(place, 'config/crd/bases'), directory, { recursive: true });
  });
  return { operator: await program('operator'), adapter: await program('adapter'), kinds };
}

const ports = { api: 4444, metrics: 8080, adapterMetrics: 8082, health: 8081, grpc: 9666 };

/** KEDA scales deployments by what waits for them: the operator asks Kafka, the adapter tells the cluster's autoscaler. */
export async function startKeda(
  { kubeconfig, certificates }: RunningApiServer,
  tools: KubernetesTools,
  options: PartOptions,
): Promise<ServerProcess[]> {
  const { operator, adapter, kinds } = await kedaParts();
  const api = { name: 'keda-metrics-apiserver', namespace: 'keda', group: 'external.metrics.k8s.io', port: ports.api };
  await announceApi(api, tools, options.directory);
  const { status, output } = await tools.kubectl('apply', '--server-side', '-f', kinds);
  if (status !== 0) throw new Error(`KEDA's kinds could not be made known:\n${output}`);
  // Both prove themselves to each other by the same one.
  const directory = join(options.directory, 'keda');
  mkdirSync(directory, { mode: 0o700 });
  for (const [from, name] of [
    [certificates.authority, 'ca.crt'],
    [certificates.server.cert, 'tls.crt'],
    [certificates.server.key, 'tls.key'],
  ] as const) {
    copyFileSync(from, join(directory, name));
  }
  const env = {
    ...options.env,
    KUBECONFIG: kubeconfig,
    POD_NAMESPACE: 'keda',
    KEDA_CLUSTER_OBJECT_NAMESPACE: 'keda',
    WATCH_NAMESPACE: '',
  };
  const operatorFlags = [
    ...[`--cert-dir=${directory}`, '--enable-webhook-patching=false', `--metrics-bind-address=:${ports.metrics}`],
    ...[`--health-probe-bind-address=:${ports.health}`, `--metrics-service-bind-address=:${ports.grpc}`],
  ];
  const adapterFlags = [
    ...[`--cert-dir=${directory}`, `--metrics-service-address=${hostAddress}:${ports.grpc}`],
    ...[`--secure-port=${ports.api}`, `--bind-address=${hostAddress}`, `--port=${ports.adapterMetrics}`],
    ...[`--tls-cert-file=${join(directory, 'tls.crt')}`, `--tls-private-key-file=${join(directory, 'tls.key')}`],
    ...['lister', 'authentication', 'authorization'].map((purpose) => `--${purpose}-kubeconfig=${kubeconfig}`),
  ];
  return [
    startPart('keda-operator', { command: operator, flags: operatorFlags }, { ...options, env }),
    startPart('keda-adapter', { command: adapter, flags: adapterFlags }, { ...options, env }),
  ];
}
