import type { PodParty } from '../network-policies/may-connect.ts';
import type { WatchEvent } from './watch-event.ts';

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
