// Warns about integers in person and group properties that JavaScript cannot represent exactly.

import { cutToCodePoints, type JsonObject } from '@millrace/contracts';
import type { IncomingEvent } from '../model/event.ts';
import type { RuleWarning } from '../model/warning.ts';

/** The maximum number of characters of a name in a warning, which is enough to recognize the name. */
const shownCharacters = 100;
const shownNames = 5;

/**
 * Warns if properties of a person or group contain integers above 2^53, which JavaScript rounds. Only `$set`,
 * `$set_once` and `$group_set` are affected, because the event's own properties are stored as they were written
 * (intake/parse.ts).
 * @param properties the properties that the event changes
 */
export function warnAboutRoundedIntegers(properties: JsonObject, event: IncomingEvent): RuleWarning[] {
  const names = Object.keys(properties).filter((name) => mayBeRounded(Reflect.get(properties, name)));
  if (names.length === 0) return [];
  const shown = names.slice(0, shownNames).map((name) => cutToCodePoints(name, shownCharacters));
  const details = { eventUuid: event.uuid, event: event.event, distinctId: event.distinctId, properties: shown };
  return [{ type: 'large_integer_rounded', details }];
}

function mayBeRounded(value: unknown): boolean {
  if (typeof value === 'number') return Number.isInteger(value) && !Number.isSafeInteger(value);
  if (typeof value !== 'object' || value === null) return false;
  return Object.values(value).some(mayBeRounded);
}
