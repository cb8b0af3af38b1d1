import type { JsonObject } from '@millrace/contracts';
import { flattened, isEmpty, type LaidOver } from './laid-over.ts';

/** An event's properties as they were received: JSON of an object, and what was laid over what it says. */
export interface WrittenProperties {
  text: string;
  over: JsonObject;
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

const emptyText = /^\{\s*\}$/;

/**
 * The JSON of an event's properties. Where they were only added to or had values replaced, the text that was received is
 * kept and what was laid over it put behind it: of two members of one name PostgreSQL keeps the later one, as JSON.parse
 * does. Writing everything anew costs more than reading it did.
 *
 * @param written says the same as `properties.under`; absent when there is no text that can be stored.
 */
export function propertiesText(properties: LaidOver, written: WrittenProperties | undefined): string {
  if (written === undefined || emptyText.test(written.text)) return JSON.stringify(flattened(properties));
  const added = flattened({ under: written.over, over: properties.over });
  return isEmpty(added) ? written.text : `${written.text.slice(0, -1)},${JSON.stringify(added).slice(1)}`;
}
