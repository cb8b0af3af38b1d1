// Decides whether an event creates and updates a person or is stored anonymously.

import type { JsonObject } from '@millrace/contracts';
import { type IncomingEvent, type PersonMode, personMode } from '../model/event.ts';
import type { ProjectLedger } from '../model/ledger.ts';
import type { RuleWarning } from '../model/warning.ts';
import { choosePersonUuid, findPersonInLedger } from './persons.ts';

/** Whether an event creates and updates a person (`full`) or is anonymous (`personless`). */
export type PersonProcessing = 'full' | 'personless';

/**
 * Events have persons unless `$process_person_profile` is exactly false or the project has opted out
 * (docs/ingestion-rules.md#anonymous-events). In a project that has opted out, merge events become plain anonymous
 * events and are not dropped, because the sender did not choose this.
 */
export function choosePersonProcessing(event: IncomingEvent): PersonProcessing {
  return isPersonProfileOff(event) || event.project.personProcessingOptOut ? 'personless' : 'full';
}

/** True if the event itself requests no person. */
export function isPersonProfileOff(event: IncomingEvent): boolean {
  return event.properties.$process_person_profile === false;
}

/** Warns about a value that is not boolean, which counts as true. */
export function personProfileWarnings(event: IncomingEvent): RuleWarning[] {
  const value = event.properties.$process_person_profile;
  if (value === undefined || typeof value === 'boolean') return [];
  const receivedType = value === null ? 'null' : Array.isArray(value) ? 'array' : typeof value;
  const details = { eventUuid: event.uuid, event: event.event, distinctId: event.distinctId, receivedType };
  return [{ type: 'invalid_process_person_profile', details }];
}

/** Events up to this much later than the person's creation count as the visit that created it. */
const upgradeAfterMs = 60_000;

/**
 * Returns the person of an event without person processing: the existing one if the distinct ID has one, otherwise the
 * uuid it would get. Never includes its properties. Marks an anonymous event of a known person as `forceUpgrade`
 * (docs/ingestion-rules.md#anonymous-events). Does not change the ledger.
 */
export function createPersonlessPerson(event: IncomingEvent, ledger: ProjectLedger): EventPerson {
  const person = findPersonInLedger(event.distinctId, ledger);
  if (person === null) {
    const uuid = choosePersonUuid(event.distinctId, ledger);
    return { uuid, createdAtMs: null, properties: {}, bytes: 0, mode: personMode.propertyless };
  }
  const isUpgraded = !event.project.personProcessingOptOut && event.timestampMs > person.createdAtMs + upgradeAfterMs;
  const mode = isUpgraded ? personMode.forceUpgrade : personMode.propertyless;
  return { uuid: person.uuid, createdAtMs: person.createdAtMs, properties: {}, bytes: 0, mode };
}

/** The person in the event's row, as of ingestion and after this event. */
export interface EventPerson {
  uuid: string;
  /** Null for the computed person of an event without one. */
  createdAtMs: number | null;
  properties: JsonObject;
  /** Approximate size of the properties as JSON, or 0 if they come from the event itself. */
  bytes: number;
  mode: PersonMode;
}
