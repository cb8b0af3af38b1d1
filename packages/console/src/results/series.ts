// The series of a result: names, keys, colors and points.

import { chooseSeriesColor } from '@millrace/contracts/chart';
import { computeOverallValue, type SeriesTotals } from '@millrace/contracts/numbers';
import { escapeInvisible } from '../event-detail/json-text.ts';
import { type InsightQuery, toFields } from './insight-query.ts';
import { text } from './words.ts';

/** A chart point: the source of an `ActorsQuery` for its persons, and a title for their list. */
export interface Point {
  name: string;
  source: object;
}

export interface Series extends SeriesTotals {
  label: string;
  breakdown_value?: unknown;
  compare_label?: 'current' | 'previous';
  /** The status that the series counts, for lifecycle queries. */
  status?: string;
  data: number[];
  /** Number of persons who entered the funnel in each interval, for funnel trends. */
  entered?: number[];
  days: string[];
  count: number;
  order?: number;
}

export const isCumulative = (insightQuery: InsightQuery) =>
  toFields(insightQuery.trendsFilter).display === 'ActionsLineGraphCumulative';

/**
 * Returns the sum of all series. Returns null if their values must not be added up: unique users by browser, for
 * example, may count a user twice.
 */
export function sumOfSeries(series: readonly Series[], insightQuery: InsightQuery) {
  const all = series.map((one) => computeOverallValue(one, isCumulative(insightQuery)));
  const canSum = series.every(({ action }) => /^(total|sum)$/.test(action?.math ?? 'total') && action !== null);
  const [first] = all;
  if (first === undefined || (all.length > 1 && !canSum)) return null;
  return { value: all.reduce((sum, { value }) => sum + value, 0), isAverage: first.isAverage };
}

export const formatSeriesName = ({ label, breakdown_value: value, status }: Series) => {
  if (status) return status;
  const values = Array.isArray(value) ? value : value === undefined || value === null ? [] : [value];
  // If the query has several events, the label also contains the event, as in `order - Firefox`.
  const ofEvent = label.endsWith(` - ${values.join('::')}`)
    ? label.slice(0, label.length - values.join('::').length)
    : '';
  const name = values.length === 0 ? label : ofEvent + values.join(', ');
  return escapeInvisible(
    name
      .replaceAll('$$_posthog_breakdown_null_$$', text.noValue)
      .replaceAll('$$_posthog_breakdown_other_$$', text.otherValues),
  );
};

/** Returns a key that identifies a series in both the current and the previous period. */
export const getSeriesKey = ({ order, label, breakdown_value: value, status }: Series) =>
  JSON.stringify([order, label, value, status]);

export const selectCurrent = (series: readonly Series[]) =>
  series.filter(({ compare_label: period }) => period !== 'previous');

/** Returns the CSS class for a series color. @param at the index of the series in the current period */
export function chooseTone(one: Series, at: number): string {
  const color = chooseSeriesColor(at, one);
  return `series-${typeof color === 'number' ? color + 1 : color}`;
}
