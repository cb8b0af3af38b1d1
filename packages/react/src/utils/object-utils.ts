type Pair = readonly [object, object];

/**
 * Whether two values of options, payloads and the like say the same: arrays and plain objects by what they hold, in any
 * order of keys and with cycles; regular expressions by their text; all else by identity (so `NaN` equals nothing).
 */
export function isDeepEqual(one: unknown, other: unknown, compared: readonly Pair[] = []): boolean {
  if (one === other) return true;
  if (!isObject(one) || !isObject(other)) return false;
  const prototype = Object.getPrototypeOf(one);
  if (prototype !== Object.getPrototypeOf(other)) return false;
  if (one instanceof RegExp) return String(one) === String(other);
  // An element of the page holds half of React by its keys.
  if (prototype !== Object.prototype && prototype !== Array.prototype && prototype !== null) return false;
  // Met again further down: equal as far as this pair is concerned.
  if (compared.some(([left, right]) => left === one && right === other)) return true;

  const keys = Object.keys(one);
  const pairs: Pair[] = [...compared, [one, other]];
  return (
    keys.length === Object.keys(other).length &&
    keys.every((key) => Object.hasOwn(other, key) && isDeepEqual(one[key], other[key], pairs))
  );
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null;
}
