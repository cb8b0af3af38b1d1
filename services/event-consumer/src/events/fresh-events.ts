import type { Sql } from '@millrace/db/sql';
import type { AdmittedEvent } from '../intake/admit-event.ts';
import { type EventIdentity, eventIdentityKey, readIdentities } from './event-identity-store.ts';

/**
 * The events that are decided now, in their order. The others were decided before, under any timestamp, or repeat an
 * earlier event of the batch: they have no effect at all.
 *
 * An event that the rules drop is decided as well, and keeps its identity. A dead letter does not keep it, because its
 * transaction is rolled back; so it can be replayed.
 */
export async function freshEvents(tx: Sql, admitted: AdmittedEvent[]): Promise<AdmittedEvent[]> {
  const firsts = new Map<string, AdmittedEvent>();
  for (const one of admitted) {
    const key = eventIdentityKey(one.project.id, one.received.uuid);
    if (!firsts.has(key)) firsts.set(key, one);
  }
  const events = [...firsts.values()];
  const decided = await readIdentities(tx, identitiesOf(events));
  if (decided.size === 0) return events;
  return [...firsts].flatMap(([key, one]) => (decided.has(key) ? [] : [one]));
}

/** What is stored of decided events, so that they are decided once. */
export function identitiesOf(events: readonly AdmittedEvent[]): EventIdentity[] {
  return events.map(({ project, received, timestampMs }) => ({
    projectId: project.id,
    uuid: received.uuid,
    timestampMs,
  }));
}
