import { isDeepStrictEqual } from 'node:util';
import { isObject } from '@millrace/contracts';
import { AppError } from '@millrace/errors';
import { withoutNamesInFilters } from './filters/names-in-filters.ts';
import type { FlagChanges } from './flag-fields.ts';

/**
 * Whoever changes a flag may say what it looked like when they began: its `version` and the flag itself, `original_flag`.
 * Then a field that somebody else has changed meanwhile is not overwritten.
 *
 * @param current the flag as it is shown now.
 * @throws AppError `conflict`.
 */
export function refuseConflict(
  changes: FlagChanges,
  current: Record<string, unknown> & { version: number; last_modified_by: { email: string } | null },
): void {
  const { version, original_flag: original, ...sent } = changes;
  if (version === undefined || version === current.version || !original) return;
  const conflicting = Object.entries(sent).some(
    ([field, value]) =>
      Object.hasOwn(original, field) && !isSame(value, original[field]) && !isSame(original[field], current[field]),
  );
  if (!conflicting) return;
  throw new AppError(
    'conflict',
    `The feature flag was updated by ${current.last_modified_by?.email ?? 'somebody else'} since you started editing it. Please refresh and try again.`,
  );
}

/** Names in filters are those of others: who renames a cohort does not change the flag. */
function isSame(one: unknown, other: unknown): boolean {
  if (!isObject(one) || !isObject(other)) return isDeepStrictEqual(one, other);
  return isDeepStrictEqual(withoutNamesInFilters(one), withoutNamesInFilters(other));
}
