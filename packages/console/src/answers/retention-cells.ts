// Which intervals of a retention table are over, and the mean of each column.

import { type Fields, listOf } from './question.ts';

export type Period = 'Hour' | 'Day' | 'Week' | 'Month';

export interface RetentionCell {
  /** Null when the row has no persons who could come back. */
  count: number | null;
  /** Of the persons of the row, 0 to 1. Null without persons, and for sums and averages. */
  share: number | null;
  /** An interval that has not begun has no number yet, and one that is not over may still grow. */
  state: 'over' | 'in progress' | 'future';
}

export interface RetentionRow {
  /** When the interval begins, by local time of the project: `2026-11-22T00:00:00`. */
  begin: string;
  size: number;
  isInProgress: boolean;
  later: RetentionCell[];
}

/** A wall time some periods later, both in milliseconds as if the clock showed UTC. */
function laterBy(begin: number, count: number, period: Period): number {
  const date = new Date(begin);
  if (period === 'Month') return date.setUTCMonth(date.getUTCMonth() + count);
  const hours = { Hour: 1, Day: 24, Week: 168 }[period];
  return begin + count * hours * 3_600_000;
}

/** @param now wall time in the project's time zone, in milliseconds as if its clock showed UTC */
export function retentionRows(
  groups: readonly Fields[],
  { period, isShare, now }: { period: Period; isShare: boolean; now: number },
): RetentionRow[] {
  return groups.map(({ date, values }) => {
    const begin = String(date).slice(0, 19);
    const start = Date.parse(`${begin}Z`);
    const state = (at: number) => {
      if (laterBy(start, at, period) > now) return 'future';
      return laterBy(start, at + 1, period) > now ? 'in progress' : 'over';
    };
    const [size = 0, ...later] = listOf(values).map(({ count }) => Number(count));
    return {
      begin,
      size,
      isInProgress: state(0) === 'in progress',
      later: later.map((count, at) => ({
        count: isShare && size === 0 ? null : count,
        share: isShare && size > 0 ? count / size : null,
        state: state(at + 1),
      })),
    };
  });
}

/** The share of each later interval over all rows for which it is over, weighted by their size. Null without such a row. */
export function meanShares(rows: readonly RetentionRow[]): (number | null)[] {
  const columns = Math.max(0, ...rows.map(({ later }) => later.length));
  return Array.from({ length: columns }, (_, at) => {
    const over = rows.filter(({ later }) => later[at]?.state === 'over' && later[at]?.share !== null);
    const size = over.reduce((sum, row) => sum + row.size, 0);
    return size === 0 ? null : over.reduce((sum, { later }) => sum + (later[at]?.count ?? 0), 0) / size;
  });
}

/** What a clock in a time zone shows, in milliseconds as if it were UTC. */
export function wallTime(now: Date, zone: string): number {
  const text = new Intl.DateTimeFormat('sv-SE', { timeZone: zone, dateStyle: 'short', timeStyle: 'medium' }).format(
    now,
  );
  return Date.parse(`${text.replace(' ', 'T')}Z`);
}
