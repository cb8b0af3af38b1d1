import { isObject } from '@millrace/contracts';

/**
 * The text that operators compare: a string as it is, anything else as compact JSON with the keys of objects in the
 * order of their code points. `1.0` of a request reads as `1` here: JSON.parse does not tell them apart.
 */
export function textForm(value: unknown): string {
  return typeof value === 'string' ? value : compactJson(value);
}

function compactJson(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(compactJson).join(',')}]`;
  if (!isObject(value)) return typeof value === 'string' ? JSON.stringify(value) : String(value);
  const members = Object.keys(value).sort(byCodePoint);
  return `{${members.map((key) => `${JSON.stringify(key)}:${compactJson(value[key])}`).join(',')}}`;
}

/** UTF-8 sorts as code points do; JavaScript's own order is that of UTF-16. */
function byCodePoint(a: string, b: string): number {
  return Buffer.compare(Buffer.from(a), Buffer.from(b));
}
