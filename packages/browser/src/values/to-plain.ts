import type { JsonValue } from '../client/values.ts';
import { attempt } from '../page/globals.ts';

/** Objects of a framework hold each other in so many ways that to follow each of them never ends. */
const mostRepeats = 1000;

/**
 * A copy that JSON can say, strings cut to a length. Never throws: what cannot be said (functions, symbols, a circle, a
 * getter that throws) is left out, a BigInt and what belongs to the page (elements) are shown as text.
 */
export function toPlain(given: unknown, maxLength = Number.POSITIVE_INFINITY): JsonValue {
  /** By object: whether it is one of those around what is copied now. */
  const known = new Map<object, boolean>();
  let repeats = 0;

  const copy = (value: unknown) => attempt(() => plain(value));

  function plain(value: unknown): JsonValue {
    if (typeof value === 'string') return value.length > maxLength ? value.slice(0, maxLength) : value;
    if (typeof value === 'bigint') return String(value);
    if (typeof value === 'symbol' || typeof value === 'function') return undefined;
    if (typeof value !== 'object' || value === null) return value as JsonValue;
    if (known.get(value) || (known.has(value) && ++repeats > mostRepeats)) return undefined;
    known.set(value, true);
    const said = plainObject(value);
    known.set(value, false);
    return said;
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
      const said = attempt(() => copy((value as Record<string, unknown>)[name]));
      if (said !== undefined) copied[name] = said;
    }
    return copied;
  }

  return copy(given);
}
