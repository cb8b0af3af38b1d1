import type { IncomingEvent } from '../model/incoming-event.ts';
import type { RuleWarning } from '../model/warning.ts';

/** Largest properties a person may have, in bytes of JSON (docs/ingestion-rules.md#person-properties). */
export const maxPersonPropertiesBytes = 655_360;

/**
 * Largest properties that the row of an event shows of its person, in bytes of JSON. Of a larger person it shows what the
 * event itself changed: five hundred events of a hundred bytes must not write the same hundreds of kilobytes each.
 */
export const maxShownBytes = 65_536;

export function isOverSizeLimit(bytes: number): boolean {
  return bytes > maxPersonPropertiesBytes;
}

export function sizeViolation(event: IncomingEvent, personUuid: string): RuleWarning {
  return {
    type: 'person_properties_size_violation',
    details: {
      eventUuid: event.uuid,
      event: event.event,
      distinctId: event.distinctId,
      personId: personUuid,
      maxBytes: maxPersonPropertiesBytes,
    },
  };
}

/** For the project to know why rows of events do not show all of a person. */
export function notShown(event: IncomingEvent, personUuid: string): RuleWarning {
  return {
    type: 'person_properties_not_shown',
    details: {
      eventUuid: event.uuid,
      event: event.event,
      distinctId: event.distinctId,
      personId: personUuid,
      maxBytes: maxShownBytes,
    },
  };
}
