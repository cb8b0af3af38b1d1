/**
 * The maximum number of runs in one batch export backfill: about a month of five-minute intervals, or a year of hours.
 * All runs are created at the same time, so they all use the interval that the export had when the backfill was
 * requested.
 */
export const maxBackfillRuns = 10_000;
