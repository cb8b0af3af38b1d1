/**
 * The maximum number of runs in one backfill of a batch export: about a month of five-minute intervals, or more than a
 * year of hours. All runs are created immediately, with the interval that the export has when the backfill is
 * requested.
 */
export const maxBackfillRuns = 10_000;
