// Records a running cluster's connections, as reported by the kernel, and its pods and policies over time.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ensureKubectlAndHelm } from '@millrace/stack/fetched-programs';
import type { ServerProcess } from '@millrace/stack/servers/server-process';
import { type PartOptions, startControlPlaneProgram } from '../control-plane.ts';
import type { NetworkPolicy, PodParty } from '../network-policies.ts';

/** All records since the start, including those of deleted pods and policies. */
export interface Traffic {
  connections: ConnectionEvent[];
  pods: SeenPod[];
  policies: KnownPolicy[];
}

export interface ConnectionWatch {
  parts: ServerProcess[];
  /** @throws Error if the kernel dropped connection records */
  read(): Traffic;
}

/** The buffer is larger than any possible backlog of connection records. */
const bufferBytes = 8 * 1024 * 1024;

/**
 * Prefixes each output line of a program with its arrival time. Restarts the program, because a watch ends after some
 * time.
 */
const stamped = `while :; do
  "$@" 2>&1 | while IFS= read -r line; do printf '%s %s\\n' "$EPOCHREALTIME" "$line"; done
  sleep 1
done`;

/** Starts recording connections. The kernel tracks each connection in the network namespace that all nodes share. */
export async function watchConnections(kubeconfig: string, options: PartOptions): Promise<ConnectionWatch> {
  const { kubectl } = await ensureKubectlAndHelm();
  const watch = (name: string, kind: string) => {
    const words = ['get', kind, '--all-namespaces', '--watch', '--output-watch-events', '-o', watchEventLine];
    const flags = ['-c', stamped, 'bash', kubectl, '--kubeconfig', kubeconfig, ...words];
    return startControlPlaneProgram(name, { command: 'bash', flags }, options);
  };
  const flags = ['-E', '-e', 'NEW', '-o', 'timestamp', '--buffer-size', String(bufferBytes)];
  const lines = (name: string) => readFileSync(join(options.directory, `${name}.log`), 'utf8').split('\n');
  return {
    parts: [
      startControlPlaneProgram('conntrack', { command: 'conntrack', flags }, options),
      watch('pod-watch', 'pods'),
      watch('policy-watch', 'networkpolicies'),
    ],
    read() {
      const events = lines('conntrack');
      const loss = events.find((line) => line.includes('ENOBUFS'));
      if (loss !== undefined) throw new Error(`conntrack has missed connections: ${loss}`);
      return {
        connections: events.flatMap((line) => parseConntrackEvent(line) ?? []),
        pods: collectPods(lines('pod-watch').flatMap((line) => parseWatchEvent(line) ?? [])),
        policies: collectPolicies(lines('policy-watch').flatMap((line) => parseWatchEvent(line) ?? [])),
      };
    },
  };
}

export interface ConnectionEvent {
  /** When the connection was opened, in milliseconds since 1970. */
  at: number;
  from: string;
  to: string;
  port: number;
  protocol: 'TCP' | 'UDP';
}

/** Matches source and destination of the first packet, followed by those of the reply. */
const pattern =
  /^\[(\d+\.\d+)\]\s+\[NEW\]\s+(tcp|udp) .*?src=(\S+) dst=\S+ sport=\d+ dport=\d+ .*?src=(\S+) dst=\S+ sport=(\d+) dport=\d+/;

/**
 * Parses an output line of `conntrack -E -e NEW -o timestamp`. Returns null for any other line. The destination is the
 * IP address that replies, because network policies apply to it instead of the service's IP address.
 */
export function parseConntrackEvent(line: string): ConnectionEvent | null {
  const [found, at, protocol, from = '', to = '', port] = pattern.exec(line) ?? [];
  if (found === undefined) return null;
  return {
    at: Math.round(Number(at) * 1000),
    from,
    to,
    port: Number(port),
    protocol: protocol === 'tcp' ? 'TCP' : 'UDP',
  };
}

export interface WatchEvent<T> {
  /** When the change was reported, in milliseconds since 1970. */
  at: number;
  type: string;
  object: T & { metadata: Metadata };
}

interface Metadata {
  uid: string;
  name: string;
  namespace: string;
  creationTimestamp: string;
  labels?: Record<string, string>;
}

/** kubectl output format for `--output-watch-events`. */
const watchEventLine = 'jsonpath={.type}{" "}{.object}{"\\n"}';

/**
 * @param line a line in the format `watchEventLine`, prefixed with its time in seconds
 * @returns null if the line does not report a change
 */
export function parseWatchEvent<T>(line: string): WatchEvent<T> | null {
  const [, at, type = '', object = ''] = /^([\d.]+) (ADDED|MODIFIED|DELETED) (.*)$/.exec(line) ?? [];
  if (at === undefined) return null;
  return { at: Math.round(Number(at) * 1000), type, object: JSON.parse(object) as WatchEvent<T>['object'] };
}

/** A pod that has or had an IP address. */
export interface SeenPod {
  name: string;
  ip: string;
  /** When the pod was created, in milliseconds since 1970. */
  createdAt: number;
  party: PodParty;
}

/** The pod fields that this file uses. */
export interface PodObject {
  spec: { containers: { ports?: { name: string; containerPort: number }[] }[] };
  status: { podIP?: string };
}

export function collectPods(events: readonly WatchEvent<PodObject>[]): SeenPod[] {
  const seen = new Map<string, SeenPod>();
  for (const { object } of events) {
    const { metadata, spec, status } = object;
    if (status.podIP === undefined) continue;
    const ports = spec.containers.flatMap((container) => container.ports ?? []);
    seen.set(metadata.uid, {
      ...{ name: metadata.name, ip: status.podIP, createdAt: Date.parse(metadata.creationTimestamp) },
      party: {
        ...{ namespace: metadata.namespace, labels: metadata.labels ?? {} },
        ports: Object.fromEntries(ports.map(({ name, containerPort }) => [name, containerPort])),
      },
    });
  }
  return [...seen.values()];
}

/**
 * A policy's latest version and its lifetime, in milliseconds since 1970. The policies of Helm hooks are deleted when
 * the hook ends.
 */
export interface KnownPolicy extends NetworkPolicy {
  from: number;
  until: number;
}

export function collectPolicies(events: readonly WatchEvent<Pick<NetworkPolicy, 'spec'>>[]): KnownPolicy[] {
  const known = new Map<string, KnownPolicy>();
  for (const { at, type, object } of events) {
    const { metadata, spec } = object;
    const until = type === 'DELETED' ? at : Number.POSITIVE_INFINITY;
    known.set(metadata.uid, { metadata, spec, from: Date.parse(metadata.creationTimestamp), until });
  }
  return [...known.values()];
}
