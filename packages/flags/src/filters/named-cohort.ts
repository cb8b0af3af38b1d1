import { parseRecordId } from '@millrace/contracts';

export const cohortFilterTypes: ReadonlySet<unknown> = new Set(['cohort', 'static-cohort', 'precalculated-cohort']);

/**
 * Returns the cohort ID in a property filter. All code that validates, stores or evaluates cohort filters uses this
 * function.
 * @returns undefined if the filter is not about a cohort, or if its value is not a valid ID
 */
export function readCohortFilterId({ type, value }: { type?: unknown; value?: unknown }): number | undefined {
  return cohortFilterTypes.has(type) ? parseRecordId(value) : undefined;
}
