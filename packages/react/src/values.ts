// Checks value types, and compares values by content.

export const isFunction = <Value>(value: Value): value is Extract<Value, (...parameters: never[]) => unknown> =>
  typeof value === 'function';

export const isUndefined = (value: unknown): value is undefined => value === undefined;

export const isNull = (value: unknown): value is null => value === null;

type Pair = readonly [unknown, unknown];

/**
 * Compares two option or payload values. Arrays and plain objects are equal if their contents are equal. The order of
 * keys does not matter, and cycles are supported. All other values are compared with `===`, so `NaN` does not equal
 * `NaN`, and DOM elements are not traversed.
 */
export function isDeepEqual(one: unknown, other: unknown, compared: readonly Pair[] = []): boolean {
  if (one === other) return true;
  const kind = constructorOf(one);
  if (kind !== constructorOf(other) || (kind !== Object && kind !== Array)) return false;
  // The same pair is already being compared further up the call stack, so assume that it is equal.
  if (compared.some(([left, right]) => left === one && right === other)) return true;

  const left = one as Record<string, unknown>;
  const right = other as Record<string, unknown>;
  const keys = Object.keys(left);
  return (
    keys.length === Object.keys(right).length &&
    keys.every((key) => key in right && isDeepEqual(left[key], right[key], [...compared, [one, other]]))
  );
}

const constructorOf = (value: unknown) => (value as { constructor?: unknown } | null | undefined)?.constructor;
