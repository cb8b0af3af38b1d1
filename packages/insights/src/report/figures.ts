// The numbers of an answer that are read at a glance.

import { type NumberFormat, numberFormatOf, overallOf, percentFormat } from '@millrace/contracts/numbers';
import { nullLabel, otherLabel } from '../breakdown-labels.ts';
import { isRecord } from '../query-parts.ts';

export interface Figure {
  label: string;
  value: number;
  format: NumberFormat;
  /** How the numbers of several times became one. */
  of: 'total' | 'average';
  /** The same of the time before; null where nothing was asked of it. */
  before: number | null;
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

/** A number for each series of trends or a lifecycle; nothing for other kinds. */
export function figuresOf(results: unknown, source: Record<string, unknown> | null): Figure[] {
  if (source?.kind !== 'TrendsQuery' && source?.kind !== 'LifecycleQuery') return [];
  const isCumulative = displayOf(source) === 'ActionsLineGraphCumulative';
  const format = numberFormatOf(source);
  const series = seriesOf(results);
  const former = new Map(series.filter(isBefore).map((one) => [keyOf(one), one]));
  return series
    .filter((one) => !isBefore(one))
    .map((one) => {
      const before = former.get(keyOf(one));
      const { value, isAverage } = overallOf(one, isCumulative);
      return {
        label: labelOf(one),
        format,
        value,
        of: isAverage ? ('average' as const) : ('total' as const),
        before: before === undefined ? null : overallOf(before, isCumulative).value,
      };
    });
}

export function displayOf({ trendsFilter: filter }: Record<string, unknown>): unknown {
  return isRecord(filter) ? filter.display : undefined;
}

/** The share of those in the first step who came to the last one; null for funnels by a breakdown or of times, and where nobody was in the first. */
export function figureOfFunnel(results: unknown): Figure | null {
  if (!Array.isArray(results) || results.some(Array.isArray)) return null;
  const counts = results.filter(isRecord).map(({ count }) => count);
  const [first, last] = [counts[0], counts.at(-1)];
  if (typeof first !== 'number' || typeof last !== 'number' || counts.length < 2 || first === 0) return null;
  const value = Math.round((last / first) * 10_000) / 100;
  return { label: 'Conversion', value, format: percentFormat, of: 'total', before: null };
}
