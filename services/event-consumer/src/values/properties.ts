import type { JsonObject } from '@millrace/contracts';
import type { CopyRow } from '@millrace/db/sql';
import { overlaid } from './json.ts';

/**
 * An object and what is added to it or replaced in it, kept apart. A few of an event's properties change on their way,
 * and copying all of them each time costs as much as the rules themselves: without it the consumer takes a fifth more time
 * per event (`npm run bench -- consumer --copy`). `under` belongs to the event and is never
 * changed.
 */
export interface Overlay {
  under: JsonObject;
  over: JsonObject;
}

export function propertyOf({ under, over }: Overlay, key: string): unknown {
  return Object.hasOwn(over, key) ? over[key] : under[key];
}

/** One object of both; not to be changed, as it may be `under` itself. */
export function flattened({ under, over }: Overlay): JsonObject {
  return isEmpty(over) ? under : overlaid(under, over);
}

function isEmpty(object: JsonObject): boolean {
  for (const key in object) if (Object.hasOwn(object, key)) return false;
  return true;
}

/** Bytes `start` to `end` of a record: a JSON object with members that can be stored as it is. */
export interface WrittenText {
  value: Buffer;
  start: number;
  end: number;
}

/** An event's properties as they were received, and their overlay. */
export interface WrittenProperties extends WrittenText {
  over: JsonObject;
}

/**
 * A number PostgreSQL may not take although JavaScript does, reading infinity or zero: an exponent of three digits or
 * more, or a hundred digits in a row. Such a text is not passed on.
 */
const immoderateNumber = /[0-9][eE][+-]?[0-9]{3,}\s*[,\]}]|[0-9]{100}/;

const emptyText = /^\{\s*\}$/;

/** @param text a JSON object, known to be valid, without NUL and half pairs. */
export function canBeStored(text: string): boolean {
  return text.startsWith('{') && text.endsWith('}') && !immoderateNumber.test(text) && !emptyText.test(text);
}

/**
 * Writes an event's properties as JSON. When properties were only added or replaced, the received bytes are passed on
 * and the overlay is written behind them: of two members of one name PostgreSQL keeps the later one, as JSON.parse
 * does. Writing everything again costs more than reading it did.
 *
 * @param written says the same as `properties.under`; absent when there is nothing that can be stored as it is.
 */
export function writeProperties(
  fields: Pick<CopyRow, 'jsonb' | 'jsonbBytes'>,
  properties: Overlay,
  written: WrittenProperties | undefined,
): void {
  if (written === undefined) {
    fields.jsonb(JSON.stringify(flattened(properties)));
    return;
  }
  const { value, start, end } = written;
  const added = flattened({ under: written.over, over: properties.over });
  if (isEmpty(added)) fields.jsonbBytes(value, start, end, '');
  else fields.jsonbBytes(value, start, end - 1, `,${JSON.stringify(added).slice(1)}`);
}
