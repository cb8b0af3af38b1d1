import { type ExportInterval, exportIntervalAt, type TimeSpan } from './export-interval.ts';

/** What the runs of an export cover that begin within a range: whole intervals, but for the first and the last, which are cut to it. */
export function* exportSpans(
  { start: from, end: until }: TimeSpan,
  { interval, timezone }: { interval: ExportInterval; timezone: string },
): Generator<TimeSpan> {
  for (let start = from; start < until; ) {
    const whole = exportIntervalAt(interval, start, timezone);
    const end = whole.end < until ? whole.end : until;
    yield { start, end };
    start = end;
  }
}
