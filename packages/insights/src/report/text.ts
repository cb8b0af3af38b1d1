// Numbers and times in words, as reports write them.

import { changeOf, type Figure } from './figures.ts';

const number = new Intl.NumberFormat('en', { maximumFractionDigits: 2 });
export const numberText = (value: number) => number.format(value);

/** `1,204`, `38.5%`, or `12.5 on average`. */
export function valueText({ value, unit, of }: Pick<Figure, 'value' | 'unit' | 'of'>): string {
  return `${numberText(value)}${unit === 'percent' ? '%' : ''}${of === 'average' ? ' on average' : ''}`;
}

/** `+12.5%`; of percentages `−3 points`; `–` where there was nothing before. */
export function changeText(figure: Figure): string {
  const change = changeOf(figure);
  if (change === null) return '–';
  const sign = change > 0 ? '+' : change < 0 ? '−' : '';
  const shown = numberText(Math.round(Math.abs(change) * 10) / 10);
  return `${sign}${shown}${figure.unit === 'percent' ? ' points' : '%'}`;
}

const dayFormat: Intl.DateTimeFormatOptions = { day: 'numeric', month: 'long', year: 'numeric', timeZone: 'UTC' };
const day = new Intl.DateTimeFormat('en-GB', dayFormat);

/** `16 November 2026 to 22 November 2026`, in the project time zone; with times where the range is within a day. */
export function rangeText({
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

/** Of a moment with an offset, the day where that offset is. */
const dayText = (iso: string) => day.format(new Date(`${iso.slice(0, 10)}T00:00:00Z`));

/** `Monday, 16 November 2026`. */
export function weekdayText(at: Date, timeZone: string): string {
  return new Intl.DateTimeFormat('en-GB', { ...dayFormat, weekday: 'long', timeZone }).format(at);
}
