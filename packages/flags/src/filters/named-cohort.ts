import { parseRecordId } from '@millrace/contracts';

/** Types of the property filters that ask whether a person is in a cohort. */
export const cohortFilterTypes: ReadonlySet<unknown> = new Set(['cohort', 'static-cohort', 'precalculated-cohort']);

/**
 * The cohort that a property filter names. Everything that checks, stores or evaluates such a filter reads it by this function.
 * @returns undefined for a filter about something else, and for a value that is not the id of a record.
 */
export function namedCohort({ type, value }: { type?: unknown; value?: unknown }): number | undefined {
  return cohortFilterTypes.has(type) ? parseRecordId(value) : undefined;
}
