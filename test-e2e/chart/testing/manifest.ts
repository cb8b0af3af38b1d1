import type { LabelSelector, PodParty, PolicyRule } from '../../cluster/index.ts';

export interface Manifest {
  apiVersion: string;
  kind: string;
  metadata: {
    name: string;
    namespace?: string;
    labels?: Record<string, string>;
    annotations?: Record<string, string>;
  };
  spec: Spec;
  data?: Record<string, string>;
  automountServiceAccountToken?: boolean;
}

/** The spec fields of all kinds of objects. Each kind has only some of these fields. */
export interface Spec extends PodSpec {
  replicas?: number;
  selector?: { matchLabels?: Record<string, string> } & Record<string, unknown>;
  template?: { metadata: Manifest['metadata']; spec: PodSpec };
  podSelector?: LabelSelector;
  ingress?: PolicyRule[];
  egress?: PolicyRule[];
  policyTypes?: string[];
  rules?: Rule[];
  tls?: { hosts: string[]; secretName?: string }[];
  parentRefs?: Record<string, string>[];
  hostnames?: string[];
  minReplicas?: number;
  maxReplicas?: number;
  minReplicaCount?: number;
  maxReplicaCount?: number;
  triggers?: { type: string; metadata: Record<string, string>; authenticationRef?: { name: string } }[];
  secretTargetRef?: { parameter: string; name: string; key: string }[];
  scaleTargetRef?: { name: string };
}

/** A rule of an Ingress (`http`) or an HTTPRoute (`matches`). */
export interface Rule {
  host?: string;
  http?: { paths: { path: string; pathType: string; backend: { service: { name: string } } }[] };
  matches?: { path: { type: string; value: string } }[];
  backendRefs?: { name: string; port: number }[];
}

export interface PodSpec {
  serviceAccountName?: string;
  automountServiceAccountToken?: boolean;
  enableServiceLinks?: boolean;
  terminationGracePeriodSeconds?: number;
  topologySpreadConstraints?: { topologyKey: string; whenUnsatisfiable: string }[];
  priorityClassName?: string;
  volumes?: { name: string; projected?: { sources: Record<string, unknown>[] } }[];
  containers?: Container[];
}

export interface Container {
  name: string;
  args: string[];
  image: string;
  env: EnvironmentVariable[];
  ports: { name: string; containerPort: number }[];
  resources: { requests: Record<string, string>; limits: Record<string, string> };
  securityContext: Record<string, unknown>;
  lifecycle?: { preStop: { sleep: { seconds: number } } };
  readinessProbe: { httpGet: { path: string; port: string } };
  livenessProbe: { httpGet: { path: string; port: string } };
}

export interface EnvironmentVariable {
  name: string;
  value?: string;
  valueFrom?: { secretKeyRef: { name: string; key: string } };
}

/** Returns undefined for kinds other than Deployment, Job and Pod. */
export function getPodSpec({ kind, spec }: Manifest): PodSpec | undefined {
  return kind === 'Pod' ? spec : spec?.template?.spec;
}

export function getContainer(manifest: Manifest): Container {
  const container = getPodSpec(manifest)?.containers?.[0];
  if (container === undefined) throw new Error(`${manifest.metadata.name} has no container.`);
  return container;
}

/** Returns environment variables by name. A value from a secret has the format `secret/key`. */
export function getEnvironment(manifest: Manifest): Record<string, string> {
  return Object.fromEntries(
    getContainer(manifest).env.map(({ name, value, valueFrom }) => [
      name,
      value ?? `${valueFrom?.secretKeyRef.name}/${valueFrom?.secretKeyRef.key}`,
    ]),
  );
}

export function getPodParty(manifest: Manifest): PodParty {
  const { labels = {} } = manifest.kind === 'Pod' ? manifest.metadata : (manifest.spec.template?.metadata ?? {});
  const ports = (getPodSpec(manifest)?.containers ?? []).flatMap((container) => container.ports ?? []);
  return {
    ...{ namespace: manifest.metadata.namespace ?? 'default', labels },
    ports: Object.fromEntries(ports.map(({ name, containerPort }) => [name, containerPort])),
  };
}
