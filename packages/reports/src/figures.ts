// Computes a query result's key figures.

import { computeOverallValue, type NumberFormat, percentFormat, readNumberFormat } from '@millrace/contracts/numbers';
import { isRecord, nullLabel, otherLabel } from '@millrace/insights';

export interface Figure {
  label: string;
  value: number;
  format: NumberFormat;
  /** Whether the numbers of several intervals were added up or averaged. */
  of: 'total' | 'average';
  /** The figure for the previous period, or null if periods are not compared. */
  before: number | null;
}

export interface SeriesResult {
  /** The series label. Absent in funnel trends. */
  label?: string;
  order?: number;
  status?: string;
  breakdown_value?: unknown;
  compare_label?: string;
  data?: number[] | null;
  /** Number of actors who entered the funnel in each interval. Present only for a funnel trend. */
  entered?: number[];
  days?: string[];
  count?: number;
  aggregated_value?: number;
  action?: { math?: string | null; custom_name?: string | null } | null;
}

export const readSeries = (results: unknown): SeriesResult[] =>
  Array.isArray(results) ? results.filter(isRecord).map((one) => one as unknown as SeriesResult) : [];

export const hasTimes = (results: unknown) => readSeries(results).some(({ days }) => days !== undefined);

export const isPreviousPeriod = ({ compare_label: period }: SeriesResult) => period === 'previous';

/** Returns a series label, with a readable name for a missing value and for a breakdown's combined remaining values. */
export function formatLabel({ label, status, action, breakdown_value: value }: SeriesResult): string {
  if (status !== undefined) return status;
  const own = (action?.custom_name && value === undefined ? action.custom_name : label) ?? '';
  return own.replaceAll(nullLabel, '(none)').replaceAll(otherLabel, '(other)').slice(0, 100);
}

const keyOf = ({ order, label, status, breakdown_value: value }: SeriesResult) =>
  JSON.stringify([order, label, status, value]);

/** Returns one figure per series of a trend or lifecycle, or an empty list for any other query. */
export function buildFigures(results: unknown, source: Record<string, unknown> | null): Figure[] {
  if (source?.kind !== 'TrendsQuery' && source?.kind !== 'LifecycleQuery') return [];
  const isCumulative = readDisplay(source) === 'ActionsLineGraphCumulative';
  const format = readNumberFormat(source);
  const series = readSeries(results);
  const former = new Map(series.filter(isPreviousPeriod).map((one) => [keyOf(one), one]));
  return series
    .filter((one) => !isPreviousPeriod(one))
    .map((one) => {
      const before = former.get(keyOf(one));
      const { value, isAverage } = computeOverallValue(one, isCumulative);
      return {
        label: formatLabel(one),
        format,
        value,
        of: isAverage ? ('average' as const) : ('total' as const),
        before: before === undefined ? null : computeOverallValue(before, isCumulative).value,
      };
    });
}

export function readDisplay({ trendsFilter: filter }: Record<string, unknown>): unknown {
  return isRecord(filter) ? filter.display : undefined;
}

/**
 * Returns the conversion rate from the first to the last step. Returns null for a funnel with a breakdown, for
 * conversion times, for funnel trends, and if no one reached the first step.
 */
export function buildFunnelFigure(results: unknown): Figure | null {
  if (!Array.isArray(results) || results.some(Array.isArray) || hasTimes(results)) return null;
  const counts = results.filter(isRecord).map(({ count }) => count);
  const [first, last] = [counts[0], counts.at(-1)];
  if (typeof first !== 'number' || typeof last !== 'number' || counts.length < 2 || first === 0) return null;
  const value = Math.round((last / first) * 10_000) / 100;
  return { label: 'Conversion', value, format: percentFormat, of: 'total', before: null };
}
