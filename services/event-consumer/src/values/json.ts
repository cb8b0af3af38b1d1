import { isObject, type JsonObject } from '@millrace/contracts';

/** The value when it is a JSON object, else an empty one. The result must not be changed. */
export function objectOrEmpty(value: unknown): JsonObject {
  return isObject(value) ? value : emptyObject;
}

const emptyObject: JsonObject = Object.freeze({});

/** Sets an own property. Plain assignment to `__proto__` would change the object's prototype instead. */
export function setOwn(object: JsonObject, key: string, value: unknown): void {
  if (key === '__proto__') {
    Object.defineProperty(object, key, { value, writable: true, enumerable: true, configurable: true });
  } else {
    object[key] = value;
  }
}

/**
 * `{ ...under, ...over }`, which V8 does several times slower for more than a handful of keys. Object.assign is not safe
 * for a key called `__proto__`, so objects that have one take the slow way.
 */
export function overlaid(under: JsonObject, over: JsonObject): JsonObject {
  if (Object.hasOwn(under, '__proto__') || Object.hasOwn(over, '__proto__')) return { ...under, ...over };
  return Object.assign({}, under, over);
}

/** A copy without the given keys, or the object itself when it has none of them. */
export function withoutKeys(object: JsonObject, keys: ReadonlySet<string>): JsonObject {
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
 * Deep equality of two JSON values; the order of keys does not count, as PostgreSQL does not keep it. PostHog
 * takes equal objects for different and so rewrites the row on every event that repeats one; we do not.
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
