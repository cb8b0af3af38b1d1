/**
 * Returns whether a parsed JSON value has more than `levels` levels of objects and arrays. The check stops at the
 * limit, so it needs little stack even for very deep input. Code that runs after it can use recursion.
 */
export function isDeeperThan(value: unknown, levels: number): boolean {
  if (typeof value !== 'object' || value === null) return false;
  if (levels === 0) return true;
  if (Array.isArray(value)) {
    for (const item of value) if (typeof item === 'object' && isDeeperThan(item, levels - 1)) return true;
    return false;
  }
  for (const key in value) {
    const field = (value as Record<string, unknown>)[key];
    if (typeof field === 'object' && isDeeperThan(field, levels - 1)) return true;
  }
  return false;
}
