// Formats numbers and times for reports.

import { computeChange, formatChange, formatValue } from '@millrace/contracts/numbers';
import type { Figure } from './figures.ts';

/** Formats a figure: `1,204`, `38.5%`, or `12.5 on average`. */
export const formatFigure = ({ value, format, of }: Pick<Figure, 'value' | 'format' | 'of'>): string =>
  `${formatValue(value, format)}${of === 'average' ? ' on average' : ''}`;

/** Formats a change: `+12.5%`, `−3 points` for percentages, or `–` without a comparison. */
export const formatFigureChange = ({ value, before, format }: Figure): string =>
  formatChange(computeChange(value, before, format), format);

const dayFormat: Intl.DateTimeFormatOptions = { day: 'numeric', month: 'long', year: 'numeric', timeZone: 'UTC' };
const day = new Intl.DateTimeFormat('en-GB', dayFormat);

/**
 * Formats a range: `16 November 2026 to 22 November 2026`, in the project time zone; with times if it is within one
 * day.
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

/** Formats the local date of a time with an offset. */
const dayText = (iso: string) => day.format(new Date(`${iso.slice(0, 10)}T00:00:00Z`));

/** Formats a date: `Monday, 16 November 2026`. */
export function formatWeekday(at: Date, timeZone: string): string {
  return new Intl.DateTimeFormat('en-GB', { ...dayFormat, weekday: 'long', timeZone }).format(at);
}
