/**
 * Deep equality of two JSON values; the order of keys does not count, as PostgreSQL does not keep it. The reference
 * takes equal objects for different and so rewrites the row on every event that repeats one; we do not.
 */
export function jsonEqual(a: unknown, b: unknown): boolean {
  if (a === b) return true;
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return false;
  if (Array.isArray(a) || Array.isArray(b)) return Array.isArray(a) && Array.isArray(b) && arraysEqual(a, b);
  return objectsEqual(a, b);
}

function arraysEqual(a: readonly unknown[], b: readonly unknown[]): boolean {
  return a.length === b.length && a.every((value, index) => jsonEqual(value, b[index]));
}

function objectsEqual(a: object, b: object): boolean {
  const entries = Object.entries(a);
  if (entries.length !== Object.keys(b).length) return false;
  const other: Record<string, unknown> = b as Record<string, unknown>;
  return entries.every(([key, value]) => Object.hasOwn(other, key) && jsonEqual(value, other[key]));
}
