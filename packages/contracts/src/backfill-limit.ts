/**
 * Maximum number of runs in one backfill of a batch export: about a month of five-minute intervals, or over a year of
 * hourly ones. All runs are created when the backfill is requested, with the interval that the export has at that time.
 */
export const maxBackfillRuns = 10_000;
