// The intervals in which an actor was active, as bits of numbers. Actors with the same intervals can then be counted
// together.

import type { Dialect } from './dialect.ts';
import { type Fragment, sql } from './sql.ts';

/** Number of intervals that fit into one number as bits: a double holds 52. */
export const bitsOfNumber = 52;

/** Returns the indexes of the numbers that a number of intervals needs; at least one. */
export const numbersOf = (intervals: number) =>
  Array.from({ length: Math.max(1, Math.ceil(intervals / bitsOfNumber)) }, (_, at) => at);

/** Builds one aggregate per number: the bits of the intervals (`bucket`) of all rows for which the condition holds. */
export function intervalBits(
  dialect: Dialect,
  { intervals, name, happened }: { intervals: number; name: 't' | 'r'; happened: Fragment },
): Fragment[] {
  return numbersOf(intervals).map((at) => {
    const first = at * bitsOfNumber;
    const isIn = sql`bucket >= ${sql.int(first)} AND bucket < ${sql.int(first + bitsOfNumber)}`;
    return sql`${dialect.bits(sql`bucket - ${sql.int(first)}`, sql`${happened} AND ${isIn}`)} AS ${sql.numbered(name, at)}`;
  });
}

/** Returns the bits of the intervals from `first` up to but not including `end`, as numbers. */
export function maskOf({ first, end }: { first: number; end: number }, intervals: number): number[] {
  return numbersOf(intervals).map((at) => {
    let mask = 0;
    for (let place = 0; place < bitsOfNumber; place += 1) {
      const interval = at * bitsOfNumber + place;
      if (interval >= first && interval < end) mask += 2 ** place;
    }
    return mask;
  });
}
