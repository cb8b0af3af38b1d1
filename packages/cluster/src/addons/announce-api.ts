import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { KubernetesTools } from '../api-server/kubernetes-tools.ts';
import { hostAddress } from '../node/cluster-network.ts';

export interface AnnouncedApi {
  /** Of the service that leads there. */
  name: string;
  namespace: string;
  /** `v1beta1` of it is served. */
  group: string;
  /** Where it listens, on the address of the host. */
  port: number;
}

/** Makes the API server pass on an API that is served beside the nodes: by a service that has an address and no pods. */
export async function announceApi(
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
