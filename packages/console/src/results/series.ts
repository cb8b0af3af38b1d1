// The series of a result: names, keys and colors, and the points of a chart.

import { chooseSeriesColor } from '@millrace/contracts/chart';
import { computeOverallValue, type SeriesTotals } from '@millrace/contracts/numbers';
import { escapeInvisible } from '../event-detail/json-text.ts';
import { type InsightQuery, toFields } from './insight-query.ts';
import { text } from './words.ts';

/** A chart point: the source of an `ActorsQuery`, with a name. */
export interface Point {
  name: string;
  source: object;
}

export interface Series extends SeriesTotals {
  label: string;
  breakdown_value?: unknown;
  compare_label?: 'current' | 'previous';
  /** The lifecycle status that the series counts. */
  status?: string;
  data: number[];
  /** Number of persons who entered the funnel in each interval. Only present for funnel trends. */
  entered?: number[];
  days: string[];
  count: number;
  /** Index of the event in the query. */
  order?: number;
}

export const isCumulative = (insightQuery: InsightQuery) =>
  toFields(insightQuery.trendsFilter).display === 'ActionsLineGraphCumulative';

/**
 * Returns the sum of all series. Returns null if their values must not be added up. Unique users by browser, for
 * example, may count one user twice.
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

/** Returns a key that is the same for a series and its counterpart in the previous period. */
export const getSeriesKey = ({ order, label, breakdown_value: value, status }: Series) =>
  JSON.stringify([order, label, value, status]);

export const selectCurrent = (series: readonly Series[]) =>
  series.filter(({ compare_label: period }) => period !== 'previous');

/** Returns the CSS class for the color of a series. @param at index of the series in the current period */
export function chooseTone(one: Series, at: number): string {
  const color = chooseSeriesColor(at, one);
  return `series-${typeof color === 'number' ? color + 1 : color}`;
}
