// Scales, labels and colors of charts, for the console and for images in reports.

import type { NumberFormat } from './numbers.ts';

/** Colors of the first ten series. Keep them in sync with the console's `styles/tokens.css`. */
export const seriesColors = {
  light: ['#0a6c8c', '#d97b29', '#6a5acd', '#2f8f5b', '#b5205f', '#8a6a14', '#2340d6', '#7c1d12', '#cf4fc9', '#7a9e00'],
  dark: ['#56b9d8', '#f0a45b', '#a99cf5', '#6fd19c', '#f0608f', '#96782a', '#5f7dff', '#e0503a', '#c23fd0', '#b8e34f'],
} as const;

/** The color of all series after the tenth, and of the series that combines a breakdown's remaining values. */
export const otherColor = { light: '#8b969e', dark: '#7d8a92' } as const;

export const maxColors = seriesColors.light.length;

/** An index into `seriesColors`, the color for negative values, or `otherColor`. */
export type SeriesColor = number | 'bad' | 'other';

/** Lifecycle series have fixed colors, because each status has a meaning. */
const lifecycleColors: Record<string, SeriesColor> = { new: 0, returning: 3, resurrecting: 2, dormant: 'bad' };

/** The breakdown value of the series that combines all values that have no series of their own. */
const otherValue = '$$_posthog_breakdown_other_$$';

/** Chooses the color of a series. @param at the series' index, not counting series of the previous period */
export function chooseSeriesColor(
  at: number,
  { status, breakdown_value: value }: { status?: string; breakdown_value?: unknown },
): SeriesColor {
  const isOther = Array.isArray(value) ? value.includes(otherValue) : value === otherValue;
  return lifecycleColors[status ?? ''] ?? (at >= maxColors || isOther ? 'other' : at);
}

const timeSteps = [1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 10_800, 21_600, 43_200, 86_400];

/** Returns the smallest round step that covers the range in four steps. */
function stepOf(span: number, { kind }: NumberFormat, isWhole: boolean): number {
  const wanted = span / 4;
  const perUnit = kind === 'milliseconds' ? 1000 : 1;
  if ((kind === 'seconds' || kind === 'milliseconds') && wanted > perUnit) {
    const days = Math.ceil(wanted / perUnit / 86_400) * 86_400;
    return (timeSteps.find((step) => step >= wanted / perUnit) ?? days) * perUnit;
  }
  const power = 10 ** Math.floor(Math.log10(wanted));
  const step = ([1, 2, 5].find((one) => one * power >= wanted) ?? 10) * power;
  return isWhole ? Math.max(1, step) : step;
}

/** Returns round ticks for an axis that contains 0 and all values. Whole numbers get whole ticks. */
export function computeTicks(values: readonly number[], format: NumberFormat): number[] {
  let [least, most, isWhole] = [0, 0, format.kind === 'number' || format.kind === 'short'];
  for (const value of values) {
    least = Math.min(least, value);
    most = Math.max(most, value);
    isWhole &&= Number.isInteger(value);
  }
  if (most === least) return [0, 1];
  const step = stepOf(most - least, format, isWhole);
  const first = Math.floor(least / step + 1e-9);
  const last = Math.ceil(most / step - 1e-9);
  return Array.from({ length: last - first + 1 }, (_, at) => Number(((first + at) * step).toPrecision(12)));
}

const intervals = ['second', 'minute', 'hour', 'day', 'week', 'month'] as const;
export type Interval = (typeof intervals)[number];

export const readInterval = ({ interval }: Readonly<Record<string, unknown>>): Interval =>
  intervals.find((one) => one === interval) ?? 'day';

/**
 * Parses the time of a data point in a series, `2026-11-23` or `2026-11-23 16:00:00` in the project time zone. Returns
 * milliseconds as if the time were in UTC.
 */
export const parseSeriesTime = (day: string) =>
  // `Date.parse` would interpret `Day 1` as a day in 2001.
  /^\d{4}-/.test(day) ? Date.parse(`${day.slice(0, 10)}T${day.slice(11, 19) || '00:00:00'}Z`) : Number.NaN;

/** Returns the end of an interval. @param begin the local time in milliseconds, as if it were UTC */
export function endOfInterval(begin: number, interval: Interval, count = 1): number {
  const date = new Date(begin);
  if (interval === 'month') return date.setUTCMonth(date.getUTCMonth() + count);
  const seconds = { second: 1, minute: 60, hour: 3600, day: 86_400, week: 604_800 }[interval];
  return begin + count * seconds * 1000;
}

/**
 * Returns the time range of a column in a retention table, as local time in milliseconds, as if it were UTC. Column 0
 * is the interval in which the row begins.
 * @param begin the start of the row
 * @param filter the query's `retentionFilter`. With `retentionCustomBrackets`, each column after column 0 spans as
 *   many intervals as its bracket.
 */
export function retentionColumnRange(
  begin: number,
  column: number,
  filter: Readonly<Record<string, unknown>>,
): { from: number; to: number } {
  const interval = readInterval({ interval: String(filter.period ?? 'Day').toLowerCase() });
  const brackets = Array.isArray(filter.retentionCustomBrackets) ? filter.retentionCustomBrackets.map(Number) : null;
  const endBefore = (at: number) => (brackets === null ? at : 1 + brackets.slice(0, at - 1).reduce((a, b) => a + b, 0));
  const first = column === 0 ? 0 : endBefore(column);
  return { from: endOfInterval(begin, interval, first), to: endOfInterval(begin, interval, endBefore(column + 1)) };
}

/**
 * Returns the index of the first interval that has not ended, or the number of intervals if all have ended.
 * @param now the local time in the project time zone
 */
export function findFirstOpenInterval(days: readonly string[], interval: Interval, now: number): number {
  const at = days.findIndex((day) => endOfInterval(parseSeriesTime(day), interval) > now);
  return at === -1 ? days.length : at;
}

/** Splits a line at gaps, which are points without a value. Each segment is drawn as a separate line. */
export function splitAtGaps(
  valueAt: (at: number) => number | null,
  { from, to }: { from: number; to: number },
): number[][] {
  const runs: number[][] = [];
  for (let at = Math.max(0, from); at < to; at += 1) {
    if (valueAt(at) === null) continue;
    const last = runs.at(-1);
    if (last?.at(-1) === at - 1) last?.push(at);
    else runs.push([at]);
  }
  return runs;
}

const zone = { timeZone: 'UTC' } as const;
const shortDay = new Intl.DateTimeFormat('en-GB', { day: 'numeric', month: 'short', ...zone });
const month = new Intl.DateTimeFormat('en-GB', { month: 'short', year: 'numeric', ...zone });
const dayOfYear = { day: 'numeric', month: 'short', year: 'numeric', ...zone } as const;
const dayInYear = new Intl.DateTimeFormat('en-GB', dayOfYear);
const longDay = new Intl.DateTimeFormat('en-GB', { weekday: 'short', ...dayOfYear });

/** Formats the labels of a time axis: months, days, or days with times. */
export function formatAxisLabels(days: readonly string[]): string[] {
  const times = days.map(parseSeriesTime);
  const isMonthly =
    times.length > 1 &&
    times.every((time, at) => new Date(time).getUTCDate() === 1 && time !== times[at - 1]) &&
    days.every((day) => day.length <= 10 || day.slice(11).startsWith('00:00'));
  return days.map((day, at) => {
    const time = times[at] ?? Number.NaN;
    if (Number.isNaN(time)) return day;
    return isMonthly ? month.format(time) : `${shortDay.format(time)} ${day.slice(11, 16)}`.trim();
  });
}

/** Formats an interval in full: `Mon, 23 Nov 2026`, `Mon, 23 Nov 2026, 16:00`, `23–29 Nov 2026` or `Nov 2026`. */
export function formatInterval(day: string, interval: Interval): string {
  const time = parseSeriesTime(day);
  if (Number.isNaN(time)) return day;
  if (interval === 'month') return month.format(time);
  if (interval === 'week') return dayInYear.formatRange(time, endOfInterval(time, 'day', 6)).replaceAll('\u2009', ' ');
  return interval === 'day' ? longDay.format(time) : `${longDay.format(time)}, ${day.slice(11, 16)}`;
}
