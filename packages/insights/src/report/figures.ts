// The numbers of an answer that are read at a glance.

import { nullLabel, otherLabel } from '../breakdown-labels.ts';
import { isRecord } from '../query-parts.ts';

export interface Figure {
  label: string;
  value: number;
  unit: 'number' | 'percent';
  /** How the numbers of several times became one. */
  of: 'total' | 'average';
  /** The same of the time before; null where nothing was asked of it. */
  before: number | null;
}

/** The difference to the time before, in percent; of percentages, in points. Null where there was nothing. */
export function changeOf({ value, before, unit }: Figure): number | null {
  if (before === null) return null;
  if (unit === 'percent') return value - before;
  return before === 0 ? null : ((value - before) / before) * 100;
}

export interface SeriesResult {
  label: string;
  order?: number;
  status?: string;
  breakdown_value?: unknown;
  compare_label?: string;
  data?: number[] | null;
  days?: string[];
  count?: number;
  aggregated_value?: number;
  action?: { math?: string | null; custom_name?: string | null } | null;
}

export const seriesOf = (results: unknown): SeriesResult[] =>
  Array.isArray(results) ? results.filter(isRecord).map((one) => one as unknown as SeriesResult) : [];

export const isBefore = ({ compare_label: period }: SeriesResult) => period === 'previous';

/** What stands for "none" and "all others" in answers is written as words. */
export function labelOf({ label, status, action, breakdown_value: value }: SeriesResult): string {
  if (status !== undefined) return status;
  const own = action?.custom_name && value === undefined ? action.custom_name : label;
  return own.replaceAll(nullLabel, '(none)').replaceAll(otherLabel, '(other)').slice(0, 100);
}

const keyOf = ({ order, label, status, breakdown_value: value }: SeriesResult) =>
  JSON.stringify([order, label, status, value]);

/** Counts of events can be summed up over time; distinct persons cannot: one who came on two days is no two persons. */
const sums = new Set([null, undefined, 'total', 'sum']);

/** A number for each series of trends or a lifecycle; nothing for other kinds. */
export function figuresOf(results: unknown, source: Record<string, unknown> | null): Figure[] {
  if (source?.kind !== 'TrendsQuery' && source?.kind !== 'LifecycleQuery') return [];
  const isCumulative = displayOf(source) === 'ActionsLineGraphCumulative';
  const series = seriesOf(results);
  const former = new Map(series.filter(isBefore).map((one) => [keyOf(one), one]));
  return series
    .filter((one) => !isBefore(one))
    .map((one) => {
      const before = former.get(keyOf(one));
      return {
        label: labelOf(one),
        unit: 'number' as const,
        ...numberOf(one, isCumulative),
        before: before === undefined ? null : numberOf(before, isCumulative).value,
      };
    });
}

export function displayOf({ trendsFilter: filter }: Record<string, unknown>): unknown {
  return isRecord(filter) ? filter.display : undefined;
}

function numberOf(one: SeriesResult, isCumulative: boolean): Pick<Figure, 'value' | 'of'> {
  const { aggregated_value: total, count = 0, data, action } = one;
  if (total !== undefined) return { value: total, of: 'total' };
  // Formulas have no event of their own.
  const isSum = isCumulative || (action !== null && sums.has(action?.math));
  const length = data?.length ?? 0;
  if (isSum || length === 0) return { value: count, of: 'total' };
  return { value: (data ?? []).reduce((sum, number) => sum + number, 0) / length, of: 'average' };
}

/** The share of those in the first step who came to the last one; null for funnels by a breakdown or of times, and where nobody was in the first. */
export function figureOfFunnel(results: unknown): Figure | null {
  if (!Array.isArray(results) || results.some(Array.isArray)) return null;
  const counts = results.filter(isRecord).map(({ count }) => count);
  const [first, last] = [counts[0], counts.at(-1)];
  if (typeof first !== 'number' || typeof last !== 'number' || counts.length < 2 || first === 0) return null;
  const value = Math.round((last / first) * 10_000) / 100;
  return { label: 'Conversion', value, unit: 'percent', of: 'total', before: null };
}
