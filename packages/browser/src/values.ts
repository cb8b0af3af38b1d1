// Converts values to JSON, memoizes functions and creates IDs.

import type { JsonValue } from './client/values.ts';
import { attempt } from './page/globals.ts';

/**
 * Maximum number of repeated references. In some frameworks, objects refer to each other so often that copying them
 * would take exponential time.
 */
const maxRepeats = 1000;

/**
 * Returns a copy that JSON can represent, with strings cut to a maximum length. Never throws. Values that cannot be
 * represented (functions, symbols, cycles, getters that throw) are left out. BigInts and DOM objects become strings.
 */
export function toJsonValue(given: unknown, maxLength = Number.POSITIVE_INFINITY): JsonValue {
  /** The visited objects. The value is true for the current object's ancestors. */
  const known = new Map<object, boolean>();
  let repeats = 0;

  const copy = (value: unknown) => attempt(() => plain(value));

  function plain(value: unknown): JsonValue {
    if (typeof value === 'string') return value.length > maxLength ? value.slice(0, maxLength) : value;
    if (typeof value === 'bigint') return String(value);
    if (typeof value === 'symbol' || typeof value === 'function') return undefined;
    if (typeof value !== 'object' || value === null) return value as JsonValue;
    if (known.get(value) || (known.has(value) && ++repeats > maxRepeats)) return undefined;
    known.set(value, true);
    const result = plainObject(value);
    known.set(value, false);
    return result;
  }

  function plainObject(value: object): JsonValue {
    if (value instanceof Date) return attempt(() => value.toISOString()) ?? null;
    if (Array.isArray(value)) return value.map((one) => copy(one) ?? null);
    const { toJSON } = value as { toJSON?: unknown };
    if (typeof toJSON === 'function') return copy(toJSON.call(value));
    const kind = Object.prototype.toString.call(value);
    if (/^\[object (HTML|SVG|Window|Text)/.test(kind)) return kind;
    const copied: Record<string, JsonValue> = {};
    for (const name of Object.keys(value)) {
      const part = attempt(() => copy((value as Record<string, unknown>)[name]));
      if (part !== undefined) copied[name] = part;
    }
    return copied;
  }

  return copy(given);
}

/**
 * Encodes JSON without calling `Array.prototype.toJSON`, because old frameworks add this method and it turns arrays
 * into strings.
 */
export function toJson(value: unknown): string {
  const arrays = Array.prototype as { toJSON?: unknown };
  const { toJSON } = arrays;
  if (!toJSON) return JSON.stringify(value);
  delete arrays.toJSON;
  try {
    return JSON.stringify(value);
  } finally {
    arrays.toJSON = toJSON;
  }
}

export function memoizeLast<From, To>(workOut: (from: From) => To): (from: From) => To {
  let last: { from: From; to: To } | undefined;
  return (from) => {
    if (!last || last.from !== from) last = { from, to: workOut(from) };
    return last.to;
  };
}

/** Creates a UUIDv7. The ID begins with the time in milliseconds, so IDs sort by creation time. */
export function newUuid(now = Date.now()): string {
  const [version = 0, variant = 0, ...rest] = crypto.getRandomValues(new Uint16Array(5));
  const words = [(version & 0xfff) | 0x7000, (variant & 0x3fff) | 0x8000, ...rest];
  const hex = now.toString(16).padStart(12, '0') + words.map((word) => word.toString(16).padStart(4, '0')).join('');
  return hex.replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-');
}
