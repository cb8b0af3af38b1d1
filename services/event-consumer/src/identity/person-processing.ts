import type { IncomingEvent } from '../model/incoming-event.ts';
import type { RuleWarning } from '../model/warning.ts';

/** Whether an event creates and updates a person (`full`) or stays anonymous (`personless`). */
export type PersonProcessing = 'full' | 'personless';

/**
 * Events have persons unless `$process_person_profile` is exactly false, or the project opted out altogether
 * (docs/ingestion-rules.md#anonymous-events). In a project that opted out merge
 * events become plain anonymous events: the switch is not the sender's, so nothing of theirs is dropped.
 */
export function personProcessing(event: IncomingEvent): PersonProcessing {
  return isPersonProfileOff(event) || event.project.personProcessingOptOut ? 'personless' : 'full';
}

/** True when the event itself asks for no person. */
export function isPersonProfileOff(event: IncomingEvent): boolean {
  return event.properties.$process_person_profile === false;
}

/** A value that is not boolean counts as true, and the sender should know. */
export function personProfileWarnings(event: IncomingEvent): RuleWarning[] {
  const value = event.properties.$process_person_profile;
  if (value === undefined || typeof value === 'boolean') return [];
  const receivedType = value === null ? 'null' : Array.isArray(value) ? 'array' : typeof value;
  const details = { eventUuid: event.uuid, event: event.event, distinctId: event.distinctId, receivedType };
  return [{ type: 'invalid_process_person_profile', details }];
}
