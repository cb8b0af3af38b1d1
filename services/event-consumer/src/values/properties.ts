// Represents an event's properties as received, with their changes stored separately, because copying properties is
// slow.

import type { JsonObject } from '@millrace/contracts';
import type { CopyRow } from '@millrace/db/sql';
import { mergeObjects } from './json.ts';

/**
 * An object and its changes, which are stored separately. Processing changes only a few of an event's properties, and
 * copying all of them each time would cost as much as applying the rules. Without overlays, the consumer needs a fifth
 * more time per event (`npm run bench -- consumer --copy`). `under` belongs to the event and is never modified.
 */
export interface Overlay {
  under: JsonObject;
  over: JsonObject;
}

export function readProperty({ under, over }: Overlay, key: string): unknown {
  return Object.hasOwn(over, key) ? over[key] : under[key];
}

/** Combines `under` and `over`. The result must not be modified, because it can be the same object as `under`. */
export function flattenOverlay({ under, over }: Overlay): JsonObject {
  return isEmpty(over) ? under : mergeObjects(under, over);
}

function isEmpty(object: JsonObject): boolean {
  for (const key in object) if (Object.hasOwn(object, key)) return false;
  return true;
}

/** The bytes from `start` to `end` in a record: a nonempty JSON object that can be stored without changes. */
export interface ReceivedText {
  value: Buffer;
  start: number;
  end: number;
}

/** The received JSON text of an event's properties, and their overlay. */
export interface ReceivedProperties extends ReceivedText {
  over: JsonObject;
}

/**
 * Matches numbers that JavaScript reads as infinity or zero and PostgreSQL may reject: those with an exponent of three
 * or more digits, or with a hundred consecutive digits. Text that contains such a number is not stored without changes.
 */
const immoderateNumber = /[0-9][eE][+-]?[0-9]{3,}\s*[,\]}]|[0-9]{100}/;

const emptyText = /^\{\s*\}$/;

/**
 * Returns whether PostgreSQL can store a JSON text without changes.
 * @param text a valid JSON object without NUL and lone surrogates
 */
export function canBeStored(text: string): boolean {
  return text.startsWith('{') && text.endsWith('}') && !immoderateNumber.test(text) && !emptyText.test(text);
}

/**
 * Writes an event's properties as JSON. If properties were only added or replaced, writes the received bytes followed
 * by the overlay. If two members have the same name, PostgreSQL keeps the last one, as JSON.parse does. Encoding
 * everything again would cost more than parsing it.
 * @param written the same content as `properties.under`, or undefined if no text can be stored without changes
 */
export function writeProperties(
  fields: Pick<CopyRow, 'jsonb' | 'jsonbBytes'>,
  properties: Overlay,
  written: ReceivedProperties | undefined,
): void {
  if (written === undefined) {
    fields.jsonb(JSON.stringify(flattenOverlay(properties)));
    return;
  }
  const { value, start, end } = written;
  const added = flattenOverlay({ under: written.over, over: properties.over });
  if (isEmpty(added)) fields.jsonbBytes(value, start, end, '');
  else fields.jsonbBytes(value, start, end - 1, `,${JSON.stringify(added).slice(1)}`);
}
