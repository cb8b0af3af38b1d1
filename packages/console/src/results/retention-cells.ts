// Computes which intervals of a retention table are complete, and the mean of each column.

import { retentionColumnRange } from '@millrace/contracts/chart';
import { type Fields, toFieldsList } from './insight-query.ts';

export interface RetentionCell {
  /**
   * Number of persons who returned, or the aggregated property value. Null if a fraction is shown and the row has no
   * persons.
   */
  count: number | null;
  /** Fraction of the row's persons who returned. Null in a row without persons, and for sums and averages. */
  share: number | null;
  /**
   * Whether the interval is over. A future interval has no number yet, and the number of an interval in progress may
   * still increase.
   */
  state: 'over' | 'in progress' | 'future';
}

export interface RetentionRow {
  /** Start of the interval as local time in the project time zone, such as `2026-11-22T00:00:00`. */
  begin: string;
  size: number;
  isInProgress: boolean;
  later: RetentionCell[];
}

/**
 * Builds the rows of a retention table.
 * @param filter the query's `retentionFilter`
 * @param now the local time in the project time zone, as milliseconds since 1970 as if it were UTC
 */
export function buildRetentionRows(
  groups: readonly Fields[],
  { filter, isShare, now }: { filter: Fields; isShare: boolean; now: number },
): RetentionRow[] {
  return groups.map(({ date, values }) => {
    const begin = String(date).slice(0, 19);
    const start = Date.parse(`${begin}Z`);
    const state = (at: number) => {
      const { from, to } = retentionColumnRange(start, at, filter);
      if (from > now) return 'future';
      return to > now ? 'in progress' : 'over';
    };
    const [size = 0, ...later] = toFieldsList(values).map(({ count }) => Number(count));
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

/**
 * Returns the mean fraction of each column, weighted by the number of persons in each row. Includes only intervals that
 * are over. Null for a column without such intervals.
 */
export function computeMeanShares(rows: readonly RetentionRow[]): (number | null)[] {
  const columns = Math.max(0, ...rows.map(({ later }) => later.length));
  return Array.from({ length: columns }, (_, at) => {
    const over = rows.filter(({ later }) => later[at]?.state === 'over' && later[at]?.share !== null);
    const size = over.reduce((sum, row) => sum + row.size, 0);
    return size === 0 ? null : over.reduce((sum, { later }) => sum + (later[at]?.count ?? 0), 0) / size;
  });
}

/** Returns the local time in a time zone, as milliseconds since 1970 as if it were UTC. */
export function toWallTime(now: Date, zone: string): number {
  const text = new Intl.DateTimeFormat('sv-SE', { timeZone: zone, dateStyle: 'short', timeStyle: 'medium' }).format(
    now,
  );
  return Date.parse(`${text.replace(' ', 'T')}Z`);
}
