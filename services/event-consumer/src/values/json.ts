// Helpers for JSON objects that are safe for malicious keys and values.

import { isObject, type JsonObject } from '@millrace/contracts';

/** Returns the value if it is a JSON object, and otherwise an empty object. The result must not be modified. */
export function objectOrEmpty(value: unknown): JsonObject {
  return isObject(value) ? value : emptyObject;
}

const emptyObject: JsonObject = Object.freeze({});

/** Sets an own property. For the key `__proto__`, a plain assignment would change the object's prototype. */
export function setOwn(object: JsonObject, key: string, value: unknown): void {
  if (key === '__proto__') {
    Object.defineProperty(object, key, { value, writable: true, enumerable: true, configurable: true });
  } else {
    object[key] = value;
  }
}

/**
 * Returns the same as `{ ...under, ...over }`, but is several times faster in V8 for objects with more than a few keys.
 * Object.assign is not safe for the key `__proto__`, so objects with this key are spread.
 */
export function mergeObjects(under: JsonObject, over: JsonObject): JsonObject {
  if (Object.hasOwn(under, '__proto__') || Object.hasOwn(over, '__proto__')) return { ...under, ...over };
  return Object.assign({}, under, over);
}

/** Returns a copy without these keys, or the original object if it contains none of them. */
export function omitKeys(object: JsonObject, keys: ReadonlySet<string>): JsonObject {
  if (!hasAnyKey(object, keys)) return object;
  const copy: JsonObject = {};
  for (const key of Object.keys(object)) {
    if (!keys.has(key)) setOwn(copy, key, object[key]);
  }
  return copy;
}

function hasAnyKey(object: JsonObject, keys: ReadonlySet<string>): boolean {
  for (const key of keys) {
    if (Object.hasOwn(object, key)) return true;
  }
  return false;
}

/**
 * Compares two JSON values deeply, ignoring the order of keys, which PostgreSQL does not preserve. PostHog treats
 * objects with a different order of keys as different, and rewrites the row for each event with such an object.
 */
export function jsonEqual(a: unknown, b: unknown): boolean {
  if (a === b) return true;
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return false;
  if (Array.isArray(a) || Array.isArray(b)) return Array.isArray(a) && Array.isArray(b) && arraysEqual(a, b);
  return objectsEqual(a, b);
}

function arraysEqual(a: readonly unknown[], b: readonly unknown[]): boolean {
  return a.length === b.length && a.every((value, index) => jsonEqual(value, b[index]));
}

function objectsEqual(a: object, b: object): boolean {
  const entries = Object.entries(a);
  if (entries.length !== Object.keys(b).length) return false;
  const other: Record<string, unknown> = b as Record<string, unknown>;
  return entries.every(([key, value]) => Object.hasOwn(other, key) && jsonEqual(value, other[key]));
}

/**
 * The maximum nesting of arrays and objects. SDKs send far fewer levels, and it is far from the depth that would
 * exhaust the stack of this process, JSON.stringify or PostgreSQL.
 */
export const maxNesting = 200;

/**
 * Returns whether a JSON text may be nested deeper than `limit`. Counts only opening brackets, which is enough because
 * almost no text has more than `limit` of them.
 */
export function mayNestDeeperThan(text: string, limit: number): boolean {
  let remaining = limit;
  for (const bracket of ['{', '[']) {
    for (let at = text.indexOf(bracket); at !== -1; at = text.indexOf(bracket, at + 1)) {
      remaining -= 1;
      if (remaining < 0) return true;
    }
  }
  return false;
}

/** Replaces NUL and lone surrogates with U+FFFD for PostgreSQL (docs/ingestion-rules.md#before-the-rules). */
function cleanText(text: string): string {
  return text.toWellFormed().replaceAll('\u0000', '\ufffd');
}

/**
 * Returns a copy of a JSON value in which all strings are cleaned, including keys. Use it only for values within
 * `maxNesting`.
 */
export function cleanJson(value: unknown): unknown {
  if (typeof value === 'string') return cleanText(value);
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map(cleanJson);
  const clean: JsonObject = {};
  for (const [key, child] of Object.entries(value)) setOwn(clean, cleanText(key), cleanJson(child));
  return clean;
}
