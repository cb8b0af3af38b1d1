import type { JsonObject } from '@millrace/contracts';
import type { CopyRow } from '@millrace/db/sql';
import { flattened, isEmpty, type Overlay } from './overlay.ts';

/** An event's properties as they were received, the bytes of a JSON object with members, and their overlay. */
export interface WrittenProperties {
  value: Buffer;
  start: number;
  end: number;
  over: JsonObject;
}

/**
 * A number PostgreSQL may not take although JavaScript does, reading infinity or zero: an exponent of three digits or
 * more, or a hundred digits in a row. Such a text is not passed on.
 */
const immoderateNumber = /[0-9][eE][+-]?[0-9]{3,}\s*[,\]}]|[0-9]{100}/;

const emptyText = /^\{\s*\}$/;

/**
 * Null where the bytes cannot be stored as they are.
 * @param text what they say: a JSON object, known to be valid, without NUL and half pairs.
 */
export function toWritten(
  { value, start, end }: Pick<WrittenProperties, 'value' | 'start' | 'end'>,
  text: string,
  over: JsonObject,
): WrittenProperties | null {
  const canBeStored =
    text.startsWith('{') && text.endsWith('}') && !immoderateNumber.test(text) && !emptyText.test(text);
  return canBeStored ? { value, start, end, over } : null;
}

/**
 * Writes an event's properties as JSON. When properties were only added or replaced, the received bytes are passed on
 * and the overlay is written behind them: of two members of one name PostgreSQL keeps the later one, as JSON.parse
 * does. Writing everything anew costs more than reading it did.
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
