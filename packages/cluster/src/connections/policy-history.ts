import type { NetworkPolicy } from '../network-policies/network-policy.ts';
import type { WatchEvent } from './watch-event.ts';

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
