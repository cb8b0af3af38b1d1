// Decides whether an event creates and updates a person or is stored anonymously.

import type { JsonObject } from '@millrace/contracts';
import { type IncomingEvent, type PersonMode, personMode } from '../model/event.ts';
import type { ProjectLedger } from '../model/ledger.ts';
import type { RuleWarning } from '../model/warning.ts';
import { choosePersonUuid, findPersonInLedger } from './persons.ts';

/** Whether an event creates and updates a person (`full`) or is anonymous (`personless`). */
export type PersonProcessing = 'full' | 'personless';

/**
 * Decides whether an event has a person. An event has a person unless `$process_person_profile` is exactly false or the
 * project has turned person processing off (docs/ingestion-rules.md#anonymous-events). In such a project, merge events
 * become ordinary anonymous events and are not dropped, because the sender did not choose this.
 */
export function choosePersonProcessing(event: IncomingEvent): PersonProcessing {
  return isPersonProfileOff(event) || event.project.personProcessingOptOut ? 'personless' : 'full';
}

export function isPersonProfileOff(event: IncomingEvent): boolean {
  return event.properties.$process_person_profile === false;
}

/** Warns about a `$process_person_profile` that is not a boolean. It counts as true. */
export function personProfileWarnings(event: IncomingEvent): RuleWarning[] {
  const value = event.properties.$process_person_profile;
  if (value === undefined || typeof value === 'boolean') return [];
  const receivedType = value === null ? 'null' : Array.isArray(value) ? 'array' : typeof value;
  const details = { eventUuid: event.uuid, event: event.event, distinctId: event.distinctId, receivedType };
  return [{ type: 'invalid_process_person_profile', details }];
}

/** An event within this many milliseconds of its person's creation counts as part of the same visit. */
const upgradeAfterMs = 60_000;

/**
 * Returns the person of an event without person processing: the person of the distinct ID, or otherwise a person with
 * the UUID that the ID would get. Never includes the person's properties. Marks an anonymous event of a known person as
 * `forceUpgrade` (docs/ingestion-rules.md#anonymous-events). Does not change the ledger.
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

/** The person in an event's row, as it was after the event was ingested. */
export interface EventPerson {
  uuid: string;
  /** The creation time, or null for the computed person of an event without person processing. */
  createdAtMs: number | null;
  properties: JsonObject;
  /** The approximate size of the properties as JSON in bytes, or 0 if they are from the event itself. */
  bytes: number;
  mode: PersonMode;
}
