import { isObject } from '@millrace/contracts';

/** Of objects and lists: many filters ask for the text of the same one. Values are never changed while they are evaluated. */
const textsOfObjects = new WeakMap<object, string>();

/**
 * The text that operators compare: a string as it is, anything else as compact JSON with the keys of objects in the
 * order of their code points. `1.0` of a request reads as `1` here: JSON.parse does not tell them apart.
 */
export function textForm(value: unknown): string {
  if (typeof value === 'string') return value;
  if (typeof value !== 'object' || value === null) return String(value);
  const known = textsOfObjects.get(value);
  if (known !== undefined) return known;
  const text = compactJson(value);
  textsOfObjects.set(value, text);
  return text;
}

function compactJson(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(compactJson).join(',')}]`;
  if (!isObject(value)) return typeof value === 'string' ? JSON.stringify(value) : String(value);
  const members = Object.keys(value).sort(byCodePoint);
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
