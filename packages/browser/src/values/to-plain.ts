import type { JsonValue } from '../client/values.ts';
import { attempt } from '../page/globals.ts';

/**
 * A copy that JSON can say, strings cut to a length. Never throws: what cannot be said (functions, symbols, a circle, a
 * getter that throws) is left out, a BigInt and what belongs to the page (elements) are shown as text.
 */
export function toPlain(value: unknown, maxLength = Number.POSITIVE_INFINITY): JsonValue {
  return attempt(() => plain(value, maxLength, []));
}

function plain(value: unknown, maxLength: number, around: object[]): JsonValue {
  if (typeof value === 'string') return value.length > maxLength ? value.slice(0, maxLength) : value;
  if (typeof value === 'bigint') return String(value);
  if (typeof value === 'symbol' || typeof value === 'function') return undefined;
  if (typeof value !== 'object' || value === null) return value as JsonValue;
  if (around.includes(value)) return undefined;
  if (value instanceof Date) return attempt(() => value.toISOString()) ?? null;
  const inside = [...around, value];
  const copy = (one: unknown) => attempt(() => plain(one, maxLength, inside));
  if (Array.isArray(value)) return value.map((one) => copy(one) ?? null);
  const { toJSON } = value as { toJSON?: unknown };
  if (typeof toJSON === 'function') return copy(toJSON.call(value));
  if (/^\[object (HTML|SVG|Window|Text)/.test(String(value))) return String(value);
  const copied: Record<string, JsonValue> = {};
  for (const name of Object.keys(value)) {
    const said = attempt(() => copy((value as Record<string, unknown>)[name]));
    if (said !== undefined) copied[name] = said;
  }
  return copied;
}
