// Parses JSON that clients send, including some invalid JSON, with helpful error messages.

import type { JsonObject } from '@millrace/contracts';
import { AppError } from '@millrace/runtime';
import { findJsonFault } from './fault.ts';
import { requireParsableLength } from './parse-limit.ts';

/**
 * Like `JSON.parse`, but with a helpful error message that does not quote the text. A key `__proto__` becomes an own
 * property, so callers must not copy fields by assignment.
 *
 * @param expected a description of valid JSON for the error message
 * @throws AppError `invalid` (`invalid_json`), or the error of `requireParsableLength`
 */
export function parseJson(text: string, expected = 'an object or an array of events'): unknown {
  requireParsableLength(text.length);
  const parsed = tryParseJson(text);
  if (parsed !== undefined) return parsed;
  const advice = /^\s*[[{]/.test(text) ? '' : ` Send ${expected}.`;
  const message = `The body is not valid JSON: ${describeJsonFault(text)}.${advice}`;
  throw new AppError('invalid', message, { code: 'invalid_json' });
}

/** Describes where a text stops being valid JSON, for example `unexpected character at line 3, column 12`. */
export function describeJsonFault(text: string): string {
  const { line, column, isCutShort } = findJsonFault(text);
  return `${isCutShort ? 'unexpected end' : 'unexpected character'} at line ${line}, column ${column}`;
}

/** Returns undefined if the text is invalid. `NaN` and infinities become null (docs/wire-rules.md#body-decoding). */
export function tryParseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    const repaired = withoutNonFinite(text);
    return repaired === null ? undefined : tryParseJson(repaired);
  }
}

const longNumericId = /("(?:\$?distinct_id|\$anon_distinct_id|alias)"\s*:\s*)(-?\d{16,})(?=\s*[,}])/g;

/**
 * Adds quotes around numeric distinct IDs of 16 or more digits. JavaScript cannot represent these numbers exactly, so
 * two persons whose IDs differ only in the last digit would become one. In a JSON string, a quote is always escaped, so
 * the pattern matches only real fields.
 */
export function quoteLongNumericIds(text: string): string {
  return text.replace(longNumericId, '$1"$2"');
}

const nonFinite = /-?Infinity|NaN/y;
const noteworthy = /["NI-]/g;

/**
 * Replaces `NaN`, `Infinity` and `-Infinity` outside strings with null. Python writes them, although they are not valid
 * JSON. Returns null if there was nothing to replace.
 */
function withoutNonFinite(text: string): string | null {
  if (!text.includes('NaN') && !text.includes('Infinity')) return null;
  const pieces: string[] = [];
  let copied = 0;
  noteworthy.lastIndex = 0;
  for (let found = noteworthy.exec(text); found !== null; found = noteworthy.exec(text)) {
    const at = found.index;
    if (text[at] === '"') {
      noteworthy.lastIndex = endOfString(text, at);
      continue;
    }
    nonFinite.lastIndex = at;
    if (!nonFinite.test(text)) continue;
    pieces.push(text.slice(copied, at), 'null');
    copied = nonFinite.lastIndex;
    noteworthy.lastIndex = copied;
  }
  if (copied === 0) return null;
  return pieces.join('') + text.slice(copied);
}

const quoteOrBackslash = /["\\]/g;

/**
 * Finds the end of a JSON string.
 * @param start the position of the opening quote
 * @returns the position after the closing quote, or the end of the text
 */
function endOfString(text: string, start: number): number {
  quoteOrBackslash.lastIndex = start + 1;
  for (let found = quoteOrBackslash.exec(text); found !== null; found = quoteOrBackslash.exec(text)) {
    if (text[found.index] === '"') return found.index + 1;
    quoteOrBackslash.lastIndex = found.index + 2;
  }
  return text.length;
}

/**
 * Returns whether JSON may contain characters that PostgreSQL's jsonb rejects: an escaped NUL, or an escaped surrogate
 * that may be a lone one. The JSON was valid UTF-8, so it contains no unescaped surrogates.
 */
export function mayNeedCleaning(json: string): boolean {
  return json.includes('\\') && (json.includes('\\u0000') || json.includes('\\ud') || json.includes('\\uD'));
}

/** Replaces NUL and lone surrogates with U+FFFD (docs/wire-rules.md#text). */
function cleanText(text: string): string {
  const wellFormed = text.isWellFormed() ? text : text.toWellFormed();
  return wellFormed.includes('\0') ? wellFormed.replaceAll('\0', '\ufffd') : wellFormed;
}

/** Cleans all strings and keys of a parsed JSON value in place. The caller must check the nesting depth before. */
export function cleanValue(value: unknown): unknown {
  if (typeof value === 'string') return cleanText(value);
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) {
    for (let i = 0; i < value.length; i++) value[i] = cleanValue(value[i]);
  } else {
    cleanObject(value as JsonObject);
  }
  return value;
}

function cleanObject(object: JsonObject): void {
  for (const key of Object.keys(object)) {
    const cleanKey = cleanText(key);
    const cleaned = cleanValue(object[key]);
    if (cleanKey === key && cleaned === object[key]) continue;
    if (cleanKey !== key) delete object[key];
    // A key may be named `__proto__`, so do not use an assignment.
    Object.defineProperty(object, cleanKey, { value: cleaned, enumerable: true, configurable: true, writable: true });
  }
}
