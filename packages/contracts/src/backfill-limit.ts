/**
 * Maximum number of runs in one backfill of a batch export: about a month of five-minute intervals, or more than a year
 * of hours. All runs are created when the backfill is requested, with the interval that the export has at that time.
 */
export const maxBackfillRuns = 10_000;
