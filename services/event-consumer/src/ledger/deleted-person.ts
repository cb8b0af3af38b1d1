import type { IncomingEvent } from '../model/incoming-event.ts';
import type { ProjectLedger } from '../model/ledger.ts';
import { touchedBy } from './touched-by.ts';

/**
 * Whether an event was captured before a person it is about was deleted: it waited in the log, or was replayed. It must
 * not bring the person back. An event that is captured later is about somebody new, even when the id is the same.
 */
export function isOfDeletedPerson(event: IncomingEvent, { deletedIds }: ProjectLedger): boolean {
  if (deletedIds.size === 0) return false;
  return touchedBy(event).distinctIds.some((distinctId) => {
    const deleted = deletedIds.get(distinctId);
    return deleted !== undefined && event.capturedAtMs <= deleted.deletedAtMs;
  });
}
