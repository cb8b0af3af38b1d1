// Represents the intervals in which an actor was active as bits of one or more numbers, so that actors with the same
// intervals can be counted together.

import type { Dialect } from './dialect.ts';
import { type Fragment, sql } from './sql.ts';

/** Number of intervals that fit into one number, one bit each. A double holds 52 bits. */
export const bitsPerNumber = 52;

/** Returns the indexes of the numbers that are needed for this many intervals. There is at least one. */
export const bitNumberIndexes = (intervals: number) =>
  Array.from({ length: Math.max(1, Math.ceil(intervals / bitsPerNumber)) }, (_, at) => at);

/** Builds one aggregate per number. Its bits are the intervals (`bucket`) of all rows for which the condition holds. */
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

/** Returns numbers in which the bits of the intervals from `first` up to but not including `end` are set. */
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
