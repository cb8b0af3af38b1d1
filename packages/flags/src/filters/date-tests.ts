import { type TimeZone, timeZone } from '@millrace/schedule';
import { numberForm } from '../values/number-form.ts';
import { parseDate } from '../values/parse-date.ts';
import { parseRelativeDate } from '../values/relative-date.ts';
import type { ValueTest } from './value-test.ts';

type Comparison = (value: number, expected: number) => boolean;

/** Null for a filter value that is no date. Relative ones are reckoned at each evaluation. */
export function compareDates(expected: unknown, zone: TimeZone, holds: Comparison): ValueTest | null {
  if (typeof expected !== 'string') return null;
  const fixed = parseDate(expected, zone);
  const bound = parseRelativeDate(expected, zone) ?? (fixed === null ? null : () => fixed);
  if (bound === null) return null;
  return (value, now) => {
    const moment = momentOf(value, zone);
    return moment !== null && holds(moment, bound(now));
  };
}

/** Whether a filter may compare with it: a date, or a span back from now. For the check when a flag or cohort is written. */
export function isFilterDate(value: unknown): boolean {
  return compareDates(value, timeZone('UTC'), () => true) !== null;
}

/** A property's moment: numbers, also as text ("2024" too), are seconds since 1970. */
function momentOf(value: unknown, zone: TimeZone): number | null {
  if (typeof value !== 'string' && typeof value !== 'number') return null;
  const seconds = numberForm(value);
  if (seconds !== null) return seconds * 1000;
  return typeof value === 'string' ? parseDate(value, zone) : null;
}
