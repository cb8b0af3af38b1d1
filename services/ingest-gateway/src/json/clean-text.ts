import type { JsonObject } from '@millrace/contracts';

/**
 * Whether JSON text may hold something that PostgreSQL's jsonb does not take: an escaped NUL, or an escaped surrogate,
 * which may be a lone one. Raw ones cannot be in it, it was valid UTF-8. A few byte searches for most requests.
 */
export function mayNeedCleaning(json: string): boolean {
  return json.includes('\\') && (json.includes('\\u0000') || json.includes('\\ud') || json.includes('\\uD'));
}

/** NUL and lone surrogates become U+FFFD (docs/wire-rules.md#text). */
function cleanText(text: string): string {
  const wellFormed = text.isWellFormed() ? text : text.toWellFormed();
  return wellFormed.includes('\0') ? wellFormed.replaceAll('\0', '\ufffd') : wellFormed;
}

/** Cleans every string and every key of a parsed value, in place. The value must be bounded in depth. */
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
    // Not an assignment: a key may be called `__proto__`, which must stay data.
    Object.defineProperty(object, cleanKey, { value: cleaned, enumerable: true, configurable: true, writable: true });
  }
}
