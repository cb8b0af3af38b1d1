import type { Transaction } from '@millrace/db';
import type { AdmittedEvent } from '../intake/admit-records.ts';
import { eventIdentityKey, insertIdentities } from './event-identity-store.ts';

/**
 * The events that are decided now, in their order. The others have been decided before, under whatever timestamp, or
 * come later in the same batch: they have no effect at all. An event the rules will drop is decided too and keeps its
 * identity; one that becomes a dead letter does not, because its transaction is rolled back, so it can be replayed.
 */
export async function claimIdentities(tx: Transaction, admitted: AdmittedEvent[]): Promise<AdmittedEvent[]> {
  const firsts = new Map<string, AdmittedEvent>();
  for (const one of admitted) {
    const key = eventIdentityKey(one.event.project.id, one.event.uuid);
    if (!firsts.has(key)) firsts.set(key, one);
  }
  const claimed = await insertIdentities(
    tx,
    [...firsts.values()].map(({ event }) => ({
      projectId: event.project.id,
      uuid: event.uuid,
      timestampMs: event.timestampMs,
    })),
  );
  return [...firsts].flatMap(([key, one]) => (claimed.has(key) ? [one] : []));
}
