import { isObject } from '@millrace/contracts';

/**
 * The text that operators compare: a string as it is, anything else as compact JSON with the keys of objects in the
 * order of their code points. `1.0` of a request reads as `1` here: JSON.parse does not tell them apart.
 */
export function textForm(value: unknown): string {
  if (typeof value === 'string') return value;
  if (typeof value !== 'object' || value === null) return String(value);
  return compactJson(value);
}

function compactJson(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(compactJson).join(',')}]`;
  if (!isObject(value)) return typeof value === 'string' ? JSON.stringify(value) : String(value);
  const keys = Object.keys(value);
  // The order that JavaScript has by itself is far quicker, and another one only beyond 0xd7ff.
  const members = keys.every((key) => /^[\0-\ud7ff]*$/.test(key)) ? keys.sort() : keys.sort(byCodePoint);
  return `{${members.map((key) => `${JSON.stringify(key)}:${compactJson(value[key])}`).join(',')}}`;
}

/** JavaScript's own order is that of UTF-16, in which code points beyond 0xffff come before some below. */
function byCodePoint(a: string, b: string): number {
  if (a === b) return 0;
  const length = Math.min(a.length, b.length);
  for (let index = 0; index < length; index += 1) {
    const one = a.charCodeAt(index);
    const other = b.charCodeAt(index);
    if (one !== other) return rank(one) - rank(other);
  }
  return a.length - b.length;
}

/** Surrogates, which stand for code points beyond 0xffff, behind everything else. */
function rank(unit: number): number {
  if (unit < 0xd800) return unit;
  return unit > 0xdfff ? unit - 0x800 : unit + 0x2000;
}

/** Each character is looked at once: where two parts could take the same digits, a million of them would take hours. */
const decimal = /^[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:e[+-]?\d+)?$/i;
const infinite = /^[+-]?inf(?:inity)?$/i;

/** What numeric operators compare; null for what is no number. Blanks, hexadecimal and booleans are none. */
export function numberForm(value: unknown): number | null {
  if (typeof value === 'number') return value;
  const text = textForm(value);
  if (decimal.test(text)) return Number(text);
  if (infinite.test(text)) return text.startsWith('-') ? -Infinity : Infinity;
  return null;
}

/** `true`, the text "true" in any case, or a list of nothing else. */
export function isTruthy(value: unknown): boolean {
  if (Array.isArray(value)) return value.every(isTruthy);
  return value === true || (typeof value === 'string' && value.toLowerCase() === 'true');
}

/** A boolean, its text in any case, or a list of nothing else. */
export function isBooleanLike(value: unknown): boolean {
  if (Array.isArray(value)) return value.every(isBooleanLike);
  return typeof value === 'boolean' || (typeof value === 'string' && /^(?:true|false)$/i.test(value));
}
