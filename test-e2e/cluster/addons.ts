// Builds and starts the programs that support the control plane: CoreDNS (name resolution), metrics-server (resource
// usage) and KEDA (scaling by backlog).
import { copyFileSync, cpSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { findOrCreateCacheDirectory } from '@millrace/stack/fetched-programs';
import type { ServerProcess } from '@millrace/stack/servers/server-process';
import type { RunningApiServer } from './api-server/run-api-server.ts';
import type { KubernetesTools } from './api-server/start-api-server.ts';
import { type PartOptions, startControlPlaneProgram } from './control-plane.ts';
import { dnsAddress, hostAddress } from './node/cluster-network.ts';
import { buildGoProgram, computeModuleKey, fetchGoSources, getModuleDirectory } from './parts/go-program.ts';

export const buildCoreDns = () => buildGoProgram({ module: 'coredns', path: 'millrace/coredns' });

/**
 * Starts CoreDNS outside the nodes, at the address that every pod uses for name resolution. It resolves only names in
 * the cluster.
 */
export async function startDns(kubeconfig: string, options: PartOptions): Promise<ServerProcess> {
  const corefile = join(options.directory, 'Corefile');
  writeFileSync(
    corefile,
    `.:53 {
  bind ${dnsAddress}
  errors
  kubernetes cluster.local in-addr.arpa {
    kubeconfig ${kubeconfig}
    ttl 5
  }
  cache 5
}
`,
  );
  const command = await buildCoreDns();
  return startControlPlaneProgram('coredns', { command, flags: ['-conf', corefile] }, options);
}

export const buildMetricsServer = () =>
  buildGoProgram({ module: 'metrics-server', path: 'sigs.k8s.io/metrics-server/cmd/metrics-server' });

const port = 4443;

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
  const server = startControlPlaneProgram('metrics-server', { command: await buildMetricsServer(), flags }, options);
  const api = { name: 'metrics-server', namespace: 'kube-system', group: 'metrics.k8s.io', port };
  await announceApi(api, tools, options.directory);
  return server;
}

const source = 'github.com/kedacore/keda/v2';
const program = (name: string) =>
  buildGoProgram({ module: 'keda', path: `${source}/cmd/${name}`, name: `keda-${name}` });

interface KedaParts {
  operator: string;
  adapter: string;
  kinds: string;
}

export async function fetchKedaParts(): Promise<KedaParts> {
  const kinds = await findOrCreateCacheDirectory(
    `cluster/keda-kinds-${computeModuleKey('keda')}`,
    async (directory) => {
      const sources = await fetchGoSources(source, { cwd: getModuleDirectory('keda') });
      cpSync(join(sources, 'config/crd/bases'), directory, { recursive: true });
    },
  );
  return { operator: await program('operator'), adapter: await program('adapter'), kinds };
}

const ports = { api: 4444, metrics: 8080, adapterMetrics: 8082, health: 8081, grpc: 9666 };

/**
 * Starts KEDA, which scales deployments by their backlog. The operator reads the backlog from Kafka, and the adapter
 * reports it to autoscalers.
 */
export async function startKeda(
  { kubeconfig, certificates }: RunningApiServer,
  tools: KubernetesTools,
  options: PartOptions,
): Promise<ServerProcess[]> {
  const { operator, adapter, kinds } = await fetchKedaParts();
  const api = { name: 'keda-metrics-apiserver', namespace: 'keda', group: 'external.metrics.k8s.io', port: ports.api };
  await announceApi(api, tools, options.directory);
  const { status, output } = await tools.kubectl('apply', '--server-side', '-f', kinds);
  if (status !== 0) throw new Error(`KEDA's kinds could not be made known:\n${output}`);
  // The operator and the adapter authenticate to each other with the same certificate.
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
    startControlPlaneProgram('keda-operator', { command: operator, flags: operatorFlags }, { ...options, env }),
    startControlPlaneProgram('keda-adapter', { command: adapter, flags: adapterFlags }, { ...options, env }),
  ];
}

interface AnnouncedApi {
  name: string;
  namespace: string;
  /** The API group. Its version is always `v1beta1`. */
  group: string;
  port: number;
}

/**
 * Registers an API that is served outside the nodes. The API server forwards requests for the API to a service that has
 * an IP address but no pods.
 */
async function announceApi(
  { name, namespace, group, port }: AnnouncedApi,
  { kubectl }: KubernetesTools,
  directory: string,
): Promise<void> {
  const metadata = { name, namespace };
  const manifests = [
    { apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } },
    { apiVersion: 'v1', kind: 'Service', metadata, spec: { ports: [{ port: 443, targetPort: port }] } },
    {
      ...{ apiVersion: 'discovery.k8s.io/v1', kind: 'EndpointSlice', addressType: 'IPv4' },
      metadata: { ...metadata, labels: { 'kubernetes.io/service-name': name } },
      ports: [{ port, protocol: 'TCP', name: '' }],
      endpoints: [{ addresses: [hostAddress], conditions: { ready: true } }],
    },
    {
      ...{ apiVersion: 'apiregistration.k8s.io/v1', kind: 'APIService', metadata: { name: `v1beta1.${group}` } },
      spec: {
        ...{ group, version: 'v1beta1', groupPriorityMinimum: 100, versionPriority: 100 },
        ...{ insecureSkipTLSVerify: true, service: metadata },
      },
    },
  ];
  const file = join(directory, `${name}.manifest.json`);
  writeFileSync(file, JSON.stringify({ apiVersion: 'v1', kind: 'List', items: manifests }));
  const { status, output } = await kubectl('apply', '--server-side', '-f', file);
  if (status !== 0) throw new Error(`${name} could not be announced:\n${output}`);
}
