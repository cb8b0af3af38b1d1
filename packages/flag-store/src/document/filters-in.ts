type Fields = Record<string, unknown>;

/** All filters of a flag or of a cohort's tree, however deep: whatever in it is an object with a `type`. */
export function filtersIn(stored: unknown): Fields[] {
  const found: Fields[] = [];
  const left = [stored];
  while (left.length > 0) {
    const value = left.pop();
    if (typeof value !== 'object' || value === null) continue;
    if (!Array.isArray(value) && typeof (value as Fields).type === 'string') found.push(value as Fields);
    left.push(...Object.values(value));
  }
  return found;
}

/** Ids of the cohorts that filters ask about. They are stored as numbers and as decimal text. */
export function cohortIdsIn(stored: unknown): number[] {
  return filtersIn(stored).flatMap(({ type, value }) => {
    const id =
      type === 'cohort' && (typeof value === 'number' || typeof value === 'string') ? Number(value) : Number.NaN;
    return Number.isSafeInteger(id) ? [id] : [];
  });
}
