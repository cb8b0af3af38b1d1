import { setImmediate as nextTurn } from 'node:timers/promises';
import { AppError } from '@millrace/errors';
import type { ByteLease } from '../limits/byte-budget.ts';

/** What can be said of JSON text without parsing it. */
export interface JsonOutline {
  /** How many values it holds, about: every bracket, brace and comma outside of texts. */
  values: number;
  /** The key the outermost object names, in the order of reference/ingest-wire.md section 4.2; null when it names none. */
  apiKey: string | null;
}

/** More than a body of honest events of the largest size has; parsing as many keeps the process for a quarter of a second. */
const maxValues = 1_000_000;
/** What a parsed value takes in memory beside its text, about. */
const bytesPerValue = 48;
/** Other requests get their turn after so many bytes. */
const sliceBytes = 2 * 1024 * 1024;
const longestKeyBytes = 200;
const keyNames = ['api_key', 'token', '$token'];

const quote = 0x22;
const backslash = 0x5c;
const comma = 0x2c;
const colon = 0x3a;

/**
 * Looks over a large body before it is parsed: a hundred megabytes of `[],[],…` are a small upload when compressed, and
 * gigabytes and minutes when parsed. Memory for the values is taken from the budget.
 *
 * @throws AppError `too_large` (`too_many_values`), `unavailable` when the memory budget is used up.
 */
export async function outlineJson(bytes: Buffer, lease: ByteLease): Promise<JsonOutline> {
  const keys = new Map<string, string>();
  /** Of a name given twice the last counts, as in the parser. */
  const note = (name: string, key: string | null) => (key === null ? keys.delete(name) : keys.set(name, key));
  let values = 0;
  let depth = 0;
  let isObject = false;
  let expectsName = false;
  let name: string | null = null;
  for (let at = 0, turnAt = sliceBytes; at < bytes.length; at += 1) {
    if (at >= turnAt) {
      turnAt = at + sliceBytes;
      await nextTurn();
    }
    const byte = bytes[at];
    if (byte === quote) {
      const end = endOfText(bytes, at);
      if (depth === 1 && isObject) {
        if (expectsName) name = readText(bytes, at, end);
        else if (name !== null && keyNames.includes(name)) note(name, readText(bytes, at, end));
      }
      at = end;
    } else if (byte === comma) {
      values += 1;
      if (depth === 1) expectsName = true;
    } else if (byte === colon) {
      if (depth === 1) expectsName = false;
    } else if (byte === 0x7b || byte === 0x5b) {
      values += 1;
      depth += 1;
      if (depth === 1) {
        isObject = byte === 0x7b;
        expectsName = true;
      }
    } else if (byte === 0x7d || byte === 0x5d) {
      depth -= 1;
    }
    if (values > maxValues) throw tooManyValues();
  }
  lease.take(values * bytesPerValue);
  const found = keyNames.map((one) => keys.get(one)).find((key) => key !== undefined);
  return { values, apiKey: found ?? null };
}

/** Where the text that begins at `start` ends: its closing quote, or the last byte of a body that is cut short. */
function endOfText(bytes: Buffer, start: number): number {
  let end = start;
  for (;;) {
    end = bytes.indexOf(quote, end + 1);
    if (end < 0) return bytes.length;
    let escapes = 0;
    while (bytes[end - 1 - escapes] === backslash) escapes += 1;
    if (escapes % 2 === 0) return end;
  }
}

/** Null when it is too long for a key or its name, or no JSON text after all. */
function readText(bytes: Buffer, start: number, end: number): string | null {
  if (end - start > longestKeyBytes) return null;
  try {
    return String(JSON.parse(bytes.toString('utf8', start, end + 1)));
  } catch {
    return null;
  }
}

function tooManyValues(): AppError {
  return new AppError('too_large', `The body holds more than ${maxValues} JSON values. Send smaller batches.`, {
    code: 'too_many_values',
  });
}
