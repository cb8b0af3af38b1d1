import type { JsonObject } from '@millrace/contracts';

/** Names of objects and indexes of arrays, from the outside in. */
export type PropertyPath = readonly (string | number)[];

const maxSteps = 16;
const maxIndex = 1000;
const step = /(?:^|\.)([^.[\]]+)|\[(\d{1,4})\]/y;

/**
 * Where a property stands: `$ai_input[0].content` is the field `content` of the first thing in `$ai_input`. Null for text
 * that is no such path, or too long a one.
 */
export function parsePropertyPath(text: string): PropertyPath | null {
  const path: (string | number)[] = [];
  step.lastIndex = 0;
  while (step.lastIndex < text.length) {
    const [, name, index] = step.exec(text) ?? [];
    if (name !== undefined) path.push(name);
    else if (index !== undefined && Number(index) < maxIndex && path.length > 0) path.push(Number(index));
    else return null;
  }
  return path.length === 0 || path.length > maxSteps ? null : path;
}

/**
 * Puts a value where a path leads, and makes the objects and arrays on the way that are missing (null counts as missing).
 *
 * @returns false when something else is in the way; then nothing was changed.
 */
export function setAtPath(properties: JsonObject, path: PropertyPath, value: unknown): boolean {
  let at: unknown = properties;
  let made: { in: object; key: string | number; value: unknown } | undefined;
  for (const [depth, key] of path.entries()) {
    if (typeof at !== 'object' || at === null || Array.isArray(at) !== (typeof key === 'number')) return false;
    const isLast = depth === path.length - 1;
    const there: unknown = Object.hasOwn(at, key) ? (at as Record<string | number, unknown>)[key] : undefined;
    if (isLast || there === undefined || there === null) {
      const next: unknown = isLast ? value : typeof path[depth + 1] === 'number' ? [] : {};
      // The first thing that is missing is put in its place when all that goes into it is known to fit.
      if (made === undefined) made = { in: at, key, value: next };
      else put(at, key, next);
      at = next;
    } else {
      at = there;
    }
  }
  if (made !== undefined) put(made.in, made.key, made.value);
  return true;
}

/** Not an assignment: a name may be `__proto__`, which must stay data. Places before it in an array become null. */
function put(into: object, key: string | number, value: unknown): void {
  if (Array.isArray(into)) while (into.length < Number(key)) into.push(null);
  Object.defineProperty(into, key, { value, enumerable: true, configurable: true, writable: true });
}
