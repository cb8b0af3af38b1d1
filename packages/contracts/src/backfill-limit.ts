/**
 * Runs that one backfill of a batch export makes at most: a month of every five minutes, a year of hours. They are made at
 * once, so that all of them cover the intervals the export had when it was asked for.
 */
export const maxBackfillRuns = 10_000;
