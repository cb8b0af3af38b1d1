// Scans large JSON without parsing it, to count its values and to find the API key.

import { setImmediate as nextLoop } from 'node:timers/promises';
import { AppError } from '@millrace/runtime';
import type { ByteLease } from './byte-budget.ts';

interface JsonOutline {
  /** An approximation: the number of brackets, braces and commas outside strings. */
  values: number;
  /**
   * The first API key in the outermost object (in the order of docs/wire-rules.md#project-api-key), or null without
   * one.
   */
  apiKey: string | null;
}

/**
 * The maximum number of JSON values in a body. Parsing this many takes a quarter of a second. Real events contain
 * fewer, even in a body of the maximum size.
 */
const maxValues = 1_000_000;
/** Approximate memory in bytes that a parsed JSON value takes in addition to its text. */
const bytesPerValue = 48;
/** The number of bytes to scan before other requests are served. */
const sliceBytes = 2 * 1024 * 1024;
const longestKeyBytes = 200;
const keyNames = ['api_key', 'token', '$token'];

const quote = 0x22;
const backslash = 0x5c;
const comma = 0x2c;
const colon = 0x3a;

/**
 * Scans a large body before it is parsed, and reserves memory for its JSON values. A hundred megabytes of `[],[],…` are
 * small when compressed, but parsing them takes gigabytes of memory and several minutes.
 * @throws AppError `too_large` (`too_many_values`), or `unavailable` if the memory budget is used up
 */
export async function outlineJson(bytes: Buffer, lease: ByteLease): Promise<JsonOutline> {
  const keys = new Map<string, string>();
  let values = 0;
  let depth = 0;
  let isObject = false;
  let expectsName = false;
  let name: string | null = null;
  /** The start of the current string, or -1 outside strings. */
  let textStart = -1;

  function endText(end: number): void {
    const start = textStart;
    textStart = -1;
    if (depth !== 1 || !isObject) return;
    const text = expectsName || (name !== null && keyNames.includes(name)) ? readText(bytes, start, end) : null;
    if (expectsName) name = text;
    // If a name occurs twice, the last one wins, as in `JSON.parse`.
    else if (name !== null && text !== null) keys.set(name, text);
    else if (name !== null) keys.delete(name);
  }

  for (let at = 0, pauseAt = sliceBytes; at < bytes.length; at += 1) {
    if (at >= pauseAt) {
      pauseAt = at + sliceBytes;
      await nextLoop();
    }
    const byte = bytes[at];
    if (textStart >= 0) {
      if (byte === backslash) at += 1;
      else if (byte === quote) endText(at);
    } else if (byte === quote) {
      textStart = at;
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

/** Decodes a JSON string. Returns null if it is invalid, or too long for an API key or for the name of its field. */
function readText(bytes: Buffer, start: number, end: number): string | null {
  if (end - start > longestKeyBytes) return null;
  try {
    return String(JSON.parse(bytes.toString('utf8', start, end + 1)));
  } catch {
    return null;
  }
}

function tooManyValues(): AppError {
  return new AppError('too_large', `The body contains more than ${maxValues} JSON values. Send smaller batches.`, {
    code: 'too_many_values',
  });
}
