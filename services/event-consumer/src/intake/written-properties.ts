import type { JsonObject } from '@millrace/contracts';
import { setOwn } from './json-object.ts';

/** An event's properties as they were received: read, and as the JSON they were read from. */
export interface WrittenProperties {
  properties: JsonObject;
  text: string;
}

/**
 * A number PostgreSQL may not take although JavaScript does, reading infinity or zero: an exponent of three digits or
 * more, or a hundred digits in a row. Such a text is not passed on.
 */
const immoderateNumber = /[0-9][eE][+-]?[0-9]{3,}\s*[,\]}]|[0-9]{100}/;

/** Whether the text of a JSON object can be stored as it is, once it is known to be valid, without NUL and half pairs. */
export function canBeStored(text: string): boolean {
  return text.startsWith('{') && text.endsWith('}') && !immoderateNumber.test(text);
}

/**
 * The JSON of an event's properties. Where they were only added to or had values replaced, the text that was received is
 * kept and the difference put behind it: of two members of one name PostgreSQL keeps the later one, as JSON.parse does.
 * Writing everything anew costs more than reading it did.
 */
export function propertiesText(properties: JsonObject, written: WrittenProperties | undefined): string {
  if (written === undefined) return JSON.stringify(properties);
  const before = written.properties;
  let kept = 0;
  let difference: JsonObject | null = null;
  for (const key of Object.keys(properties)) {
    const value = properties[key];
    if (Object.hasOwn(before, key)) {
      kept += 1;
      // Nobody changes a value in place: whoever changes one makes a new one.
      if (before[key] === value) continue;
    }
    difference ??= {};
    setOwn(difference, key, value);
  }
  const isReduced = kept < Object.keys(before).length;
  if (isReduced || kept === 0) return JSON.stringify(properties);
  if (difference === null) return written.text;
  return `${written.text.slice(0, -1)},${JSON.stringify(difference).slice(1)}`;
}
