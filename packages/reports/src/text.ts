// Formats numbers and times for reports.

import { computeChange, formatChange, formatValue } from '@millrace/contracts/numbers';
import type { Figure } from './figures.ts';

/** Formats a figure, for example as `1,204`, `38.5%` or `12.5 on average`. */
export const formatFigure = ({ value, format, of }: Pick<Figure, 'value' | 'format' | 'of'>): string =>
  `${formatValue(value, format)}${of === 'average' ? ' on average' : ''}`;

/** Formats a change, for example as `+12.5%`, as `−3 points` for percentages, or as `–` without a comparison. */
export const formatFigureChange = ({ value, before, format }: Figure): string =>
  formatChange(computeChange(value, before, format), format);

const dayFormat: Intl.DateTimeFormatOptions = { day: 'numeric', month: 'long', year: 'numeric', timeZone: 'UTC' };
const day = new Intl.DateTimeFormat('en-GB', dayFormat);

/**
 * Formats a date range in the project time zone, for example as `16 November 2026 to 22 November 2026`. If the range is
 * within one day, the times are included.
 */
export function formatRange({
  date_from: from,
  date_to: to,
}: {
  date_from: string | null;
  date_to: string | null;
}): string {
  if (from === null || to === null) return '';
  const [first, last] = [dayText(from), dayText(to)];
  return first === last ? `${first}, ${from.slice(11, 16)} to ${to.slice(11, 16)}` : `${first} to ${last}`;
}

/** Formats the date of an ISO 8601 time with an offset, in local time at that offset. */
const dayText = (iso: string) => day.format(new Date(`${iso.slice(0, 10)}T00:00:00Z`));

/** Formats a date, for example as `Monday, 16 November 2026`. */
export function formatWeekday(at: Date, timeZone: string): string {
  return new Intl.DateTimeFormat('en-GB', { ...dayFormat, weekday: 'long', timeZone }).format(at);
}
