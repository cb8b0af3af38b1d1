// Represents the intervals in which an actor was active as bits of one or more numbers. Actors with the same intervals
// can then be counted together.

import type { Dialect } from './dialect.ts';
import { type Fragment, sql } from './sql.ts';

/** Number of intervals that fit into one number. Each interval needs one of a double's 52 bits. */
export const bitsPerNumber = 52;

/** Returns the indexes of the numbers whose bits represent the intervals. Returns at least one index. */
export const bitNumberIndexes = (intervals: number) =>
  Array.from({ length: Math.max(1, Math.ceil(intervals / bitsPerNumber)) }, (_, at) => at);

/** Builds one aggregate per number, whose bits are the intervals (`bucket`) of all rows that meet the condition. */
export function buildIntervalBits(
  dialect: Dialect,
  { intervals, name, happened }: { intervals: number; name: 't' | 'r'; happened: Fragment },
): Fragment[] {
  return bitNumberIndexes(intervals).map((at) => {
    const first = at * bitsPerNumber;
    const isIn = sql`bucket >= ${sql.int(first)} AND bucket < ${sql.int(first + bitsPerNumber)}`;
    return sql`${dialect.bits(sql`bucket - ${sql.int(first)}`, sql`${happened} AND ${isIn}`)} AS ${sql.numbered(name, at)}`;
  });
}

/** Returns numbers whose bits are set for the intervals from `first` up to but not including `end`. */
export function createIntervalMasks({ first, end }: { first: number; end: number }, intervals: number): number[] {
  return bitNumberIndexes(intervals).map((at) => {
    let mask = 0;
    for (let place = 0; place < bitsPerNumber; place += 1) {
      const interval = at * bitsPerNumber + place;
      if (interval >= first && interval < end) mask += 2 ** place;
    }
    return mask;
  });
}
