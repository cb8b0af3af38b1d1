import type { JsonObject } from '@millrace/contracts';
import { type IncomingEvent, type PersonMode, personMode } from '../model/event.ts';
import type { ProjectLedger } from '../model/ledger.ts';
import type { RuleWarning } from '../model/warning.ts';
import { newPersonUuid, personOf } from './persons.ts';

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

/** Events this much younger than their person are taken for the same visit that created it. */
const upgradeAfterMs = 60_000;

/**
 * The person of an event without person processing: the real one if the distinct id has one, else the uuid it would
 * have. Its properties are never shown. An anonymous event of a known person is marked `forceUpgrade`
 * (docs/ingestion-rules.md#anonymous-events). The ledger stays as it is.
 */
export function personlessPerson(event: IncomingEvent, ledger: ProjectLedger): EventPerson {
  const person = personOf(event.distinctId, ledger);
  if (person === null) {
    const uuid = newPersonUuid(event.distinctId, ledger);
    return { uuid, createdAtMs: null, properties: {}, bytes: 0, mode: personMode.propertyless };
  }
  const isUpgraded = !event.project.personProcessingOptOut && event.timestampMs > person.createdAtMs + upgradeAfterMs;
  const mode = isUpgraded ? personMode.forceUpgrade : personMode.propertyless;
  return { uuid: person.uuid, createdAtMs: person.createdAtMs, properties: {}, bytes: 0, mode };
}

/** The person as the event's row shows it: as of ingestion, after this event. */
export interface EventPerson {
  uuid: string;
  /** Null for a made-up person of an event that has none. */
  createdAtMs: number | null;
  properties: JsonObject;
  /** About the size of the properties as JSON; 0 where they come from the event itself. */
  bytes: number;
  mode: PersonMode;
}
