import type { JsonObject } from '@millrace/contracts';
import type { IncomingEvent } from '../intake/incoming-event.ts';
import type { RuleWarning } from '../warnings/warning.ts';

/** Largest properties a person may have, in bytes of JSON (reference/event-processing.md 6.6). */
const maxPersonPropertiesBytes = 655_360;

/** Measures exactly only what could be too large: a walk over the values says so for nearly every person. */
export function isOverSizeLimit(properties: JsonObject): boolean {
  if (mostBytesOf(properties) <= maxPersonPropertiesBytes) return false;
  return Buffer.byteLength(JSON.stringify(properties), 'utf8') > maxPersonPropertiesBytes;
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

/** An upper bound of the JSON size: an escaped UTF-16 unit takes at most six bytes, a number at most 25. */
function mostBytesOf(value: unknown): number {
  if (typeof value === 'string') return 6 * value.length + 3;
  if (typeof value !== 'object' || value === null) return 25;
  let bytes = 2;
  if (Array.isArray(value)) {
    for (const child of value) bytes += mostBytesOf(child) + 1;
  } else {
    for (const key of Object.keys(value)) bytes += 6 * key.length + 4 + mostBytesOf(Reflect.get(value, key));
  }
  return bytes;
}
