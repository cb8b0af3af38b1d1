// Who connected to whom while a cluster ran: the connections the kernel saw, and the pods and policies of that time.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { kubectlAndHelm } from '@millrace/stack/fetched-programs';
import type { ServerProcess } from '@millrace/stack/servers/server-process';
import { type PartOptions, startPart } from '../control-plane.ts';
import type { NetworkPolicy, PodParty } from '../network-policies.ts';

/** What was seen from the beginning, what is gone too. */
export interface Traffic {
  connections: ConnectionEvent[];
  pods: SeenPod[];
  policies: KnownPolicy[];
}

export interface ConnectionWatch {
  parts: ServerProcess[];
  /** @throws Error when some of it was missed. */
  read(): Traffic;
}

/** More than is waiting at any moment. */
const bufferBytes = 8 * 1024 * 1024;

/** Prints lines of a program after the second at which each came, and starts it again: a watch ends after a while. */
const stamped = `while :; do
  "$@" 2>&1 | while IFS= read -r line; do printf '%s %s\\n' "$EPOCHREALTIME" "$line"; done
  sleep 1
done`;

/** Writes down who connects to whom: all nodes share one network namespace, where the kernel follows each connection. */
export async function watchConnections(kubeconfig: string, options: PartOptions): Promise<ConnectionWatch> {
  const { kubectl } = await kubectlAndHelm();
  const watch = (name: string, kind: string) => {
    const words = ['get', kind, '--all-namespaces', '--watch', '--output-watch-events', '-o', watchEventLine];
    const flags = ['-c', stamped, 'bash', kubectl, '--kubeconfig', kubeconfig, ...words];
    return startPart(name, { command: 'bash', flags }, options);
  };
  const flags = ['-E', '-e', 'NEW', '-o', 'timestamp', '--buffer-size', String(bufferBytes)];
  const lines = (name: string) => readFileSync(join(options.directory, `${name}.log`), 'utf8').split('\n');
  return {
    parts: [
      startPart('conntrack', { command: 'conntrack', flags }, options),
      watch('pod-watch', 'pods'),
      watch('policy-watch', 'networkpolicies'),
    ],
    read() {
      const events = lines('conntrack');
      const loss = events.find((line) => line.includes('ENOBUFS'));
      if (loss !== undefined) throw new Error(`conntrack has missed connections: ${loss}`);
      return {
        connections: events.flatMap((line) => parseConntrackEvent(line) ?? []),
        pods: seenPods(lines('pod-watch').flatMap((line) => parseWatchEvent(line) ?? [])),
        policies: policyHistory(lines('policy-watch').flatMap((line) => parseWatchEvent(line) ?? [])),
      };
    },
  };
}

/** A connection as it begins, where it really leads to. */
export interface ConnectionEvent {
  /** When, in milliseconds. */
  at: number;
  /** Addresses. */
  from: string;
  to: string;
  port: number;
  protocol: 'TCP' | 'UDP';
}

/** Ends of the first packet, then those of the answer to it. */
const pattern =
  /^\[(\d+\.\d+)\]\s+\[NEW\]\s+(tcp|udp) .*?src=(\S+) dst=\S+ sport=\d+ dport=\d+ .*?src=(\S+) dst=\S+ sport=(\d+) dport=\d+/;

/**
 * A line of `conntrack -E -e NEW -o timestamp`; null when it tells of something else. Who answers is whom the address of a
 * service was replaced by: policies see that one.
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

/** A change of an object, as the API server tells it. */
export interface WatchEvent<T> {
  /** When it was heard of, in milliseconds. */
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

/** What kubectl is told to print, with `--output-watch-events`. */
const watchEventLine = 'jsonpath={.type}{" "}{.object}{"\\n"}';

/**
 * @param line as above, after the second it came in
 * @returns null for what tells of no change
 */
export function parseWatchEvent<T>(line: string): WatchEvent<T> | null {
  const [, at, type = '', object = ''] = /^([\d.]+) (ADDED|MODIFIED|DELETED) (.*)$/.exec(line) ?? [];
  if (at === undefined) return null;
  return { at: Math.round(Number(at) * 1000), type, object: JSON.parse(object) as WatchEvent<T>['object'] };
}

/** A pod that has, or had, an address. */
export interface SeenPod {
  name: string;
  ip: string;
  /** In milliseconds. */
  createdAt: number;
  party: PodParty;
}

/** The parts of a pod that matter here. */
export interface PodObject {
  spec: { containers: { ports?: { name: string; containerPort: number }[] }[] };
  status: { podIP?: string };
}

export function seenPods(events: readonly WatchEvent<PodObject>[]): SeenPod[] {
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

/** A policy as it was last, and when there was one, in milliseconds: those of Helm's hooks go when the hook has ended. */
export interface KnownPolicy extends NetworkPolicy {
  from: number;
  until: number;
}

export function policyHistory(events: readonly WatchEvent<Pick<NetworkPolicy, 'spec'>>[]): KnownPolicy[] {
  const known = new Map<string, KnownPolicy>();
  for (const { at, type, object } of events) {
    const { metadata, spec } = object;
    const until = type === 'DELETED' ? at : Number.POSITIVE_INFINITY;
    known.set(metadata.uid, { metadata, spec, from: Date.parse(metadata.creationTimestamp), until });
  }
  return [...known.values()];
}
