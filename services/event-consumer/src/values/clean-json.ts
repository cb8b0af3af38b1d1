import type { JsonObject } from '@millrace/contracts';
import { setOwn } from './json-object.ts';

/**
 * Deepest nesting of arrays and objects we accept. Far beyond what an SDK sends, and far below where walking a value
 * (here, in JSON.stringify, in PostgreSQL) would exhaust a stack.
 */
export const maxNesting = 200;

/** Whether JSON text could nest deeper than `limit`: it cannot with fewer opening brackets, and nearly none has as many. */
export function mayNestDeeperThan(text: string, limit: number): boolean {
  let left = limit;
  for (const bracket of ['{', '[']) {
    for (let at = text.indexOf(bracket); at !== -1; at = text.indexOf(bracket, at + 1)) {
      left -= 1;
      if (left < 0) return true;
    }
  }
  return false;
}

/**
 * Text PostgreSQL and every reader can hold: a NUL and half of a surrogate pair become U+FFFD
 * (docs/ingestion-rules.md#before-the-rules).
 */
function cleanText(text: string): string {
  return text.toWellFormed().replaceAll('\u0000', '\ufffd');
}

/**
 * Cleans all texts in a JSON value, keys included; a new value, the given one is left alone. Call only for values
 * within `maxNesting`.
 */
export function cleanJson(value: unknown): unknown {
  if (typeof value === 'string') return cleanText(value);
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map(cleanJson);
  const clean: JsonObject = {};
  for (const [key, child] of Object.entries(value)) setOwn(clean, cleanText(key), cleanJson(child));
  return clean;
}
