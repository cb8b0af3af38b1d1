// Selects the data for a report's chart from a query result.

import {
  chooseSeriesColor,
  findFirstOpenInterval,
  maxColors,
  parseSeriesTime,
  readInterval,
  retentionColumnRange,
  type SeriesColor,
} from '@millrace/contracts/chart';
import { type NumberFormat, plainFormat, readNumberFormat, seriesValueAt } from '@millrace/contracts/numbers';
import { isRecord } from '@millrace/insights';
import { formatLabel, hasTimes, isPreviousPeriod, readDisplay, readSeries, type SeriesResult } from './figures.ts';

export type Chart =
  /** A chart of numbers over time. `open` is the index of the first interval that has not ended yet. */
  | { shape: 'lines' | 'bars'; times: string[]; open: number; format: NumberFormat; series: DrawnSeries[] }
  /** A chart with one bar per row, for the totals of series and for funnel steps. */
  | { shape: 'rows'; format: NumberFormat; rows: { label: string; value: number }[] }
  /**
   * A retention table with shares from 0 to 1. `open` is the index of the first share whose interval has not ended yet.
   */
  | { shape: 'heat'; columns: string[]; rows: { label: string; size: number; shares: number[]; open: number }[] };

interface DrawnSeries {
  label: string;
  /** A series for the previous period has the same color as the series for the current period. */
  color: SeriesColor;
  isBefore: boolean;
  /** The number of each interval, or null for an interval without a number. */
  data: (number | null)[];
}

const maxTimes = 400;
const maxRows = 12;
const maxHeatRows = 14;
const maxHeatColumns = 12;

/**
 * Selects the data to draw. Returns null if the result is better shown as numbers or rows.
 * @param results the result of the query `source`
 * @param now the local time in the project time zone
 */
export function buildChart(results: unknown, source: Record<string, unknown> | null, now: number): Chart | null {
  switch (source?.kind) {
    case 'TrendsQuery':
    case 'LifecycleQuery':
      return chartOfSeries(readSeries(results), source, now);
    case 'FunnelsQuery':
      return hasTimes(results)
        ? chartOfSeries(
            readSeries(results).map((one) => ({ ...one, label: one.label ?? 'Conversion rate' })),
            source,
            now,
          )
        : chartOfFunnel(results);
    case 'RetentionQuery':
      return chartOfRetention(results, source, now);
    default:
      return null;
  }
}

const barDisplays = new Set(['ActionsBar', 'ActionsUnstackedBar', 'ActionsStackedBar']);

function chartOfSeries(all: SeriesResult[], source: Record<string, unknown>, now: number): Chart | null {
  const format = readNumberFormat(source);
  const current = all.filter((one) => !isPreviousPeriod(one));
  const times = current[0]?.days ?? [];
  if (times.length === 0) {
    const rows = current
      .slice(0, maxRows)
      .map((one) => ({ label: formatLabel(one), value: one.aggregated_value ?? one.count ?? 0 }));
    return rows.length < 2 ? null : { shape: 'rows', format, rows };
  }
  const isBars = source.kind === 'LifecycleQuery' || barDisplays.has(String(readDisplay(source)));
  const shown = new Map(current.slice(0, maxColors).map((one, at) => [formatLabel(one), chooseSeriesColor(at, one)]));
  const drawn = isBars ? current : all;
  return {
    shape: isBars ? 'bars' : 'lines',
    times: times.slice(-maxTimes),
    open: findFirstOpenInterval(times.slice(-maxTimes), readInterval(source), now),
    format,
    series: drawn
      .filter((one) => shown.has(formatLabel(one)))
      .slice(0, 2 * maxColors)
      .map((one) => ({
        label: formatLabel(one),
        color: shown.get(formatLabel(one)) ?? 'other',
        isBefore: isPreviousPeriod(one),
        data: (one.data ?? []).map((_, at) => seriesValueAt(one, at)).slice(-maxTimes),
      })),
  };
}

function chartOfFunnel(results: unknown): Chart | null {
  if (!Array.isArray(results) || results.some(Array.isArray)) {
    return null;
  }
  const steps = results.filter(isRecord);
  if (steps.length === 0 || steps.some(({ count }) => typeof count !== 'number')) return null;
  return {
    shape: 'rows',
    format: plainFormat,
    rows: steps.slice(0, maxRows).map((step, at) => ({
      label: `${at + 1}. ${String(step.custom_name ?? step.name ?? 'All events').slice(0, 100)}`,
      value: Number(step.count),
    })),
  };
}

/**
 * Removes retention intervals in the future, for which the API returns 0. Does not change the results of other queries.
 * @param now the local time in the project time zone
 */
export function removeFuturePoints(results: unknown, source: Record<string, unknown> | null, now: number): unknown {
  if (source?.kind !== 'RetentionQuery' || !Array.isArray(results)) return results;
  return results.filter(isRecord).map((group) => ({
    ...group,
    values: valuesOf(group).filter((_, column) => columnOf(group, column, source).from <= now),
  }));
}

const valuesOf = ({ values }: Record<string, unknown>) => (Array.isArray(values) ? values.filter(isRecord) : []);
const columnOf = ({ date }: Record<string, unknown>, column: number, { retentionFilter }: Record<string, unknown>) =>
  retentionColumnRange(parseSeriesTime(String(date)), column, isRecord(retentionFilter) ? retentionFilter : {});

function chartOfRetention(results: unknown, source: Record<string, unknown>, now: number): Chart | null {
  const past = removeFuturePoints(results, source, now);
  if (!Array.isArray(past)) return null;
  const groups = past.filter(({ breakdown_value: value }) => value === undefined || value === null);
  const rows = groups.slice(0, maxHeatRows).map((group) => {
    const [size = 0, ...later] = valuesOf(group).map(({ count }) => Number(count));
    const shares = later.slice(0, maxHeatColumns - 1).map((count) => (size === 0 ? 0 : count / size));
    const open = shares.findIndex((_, at) => columnOf(group, at + 1, source).to > now);
    return { label: String(group.date).slice(0, 10), size, shares, open: open === -1 ? shares.length : open };
  });
  if (rows.length === 0) return null;
  const widest = groups.reduce((a, b) => (valuesOf(b).length > valuesOf(a).length ? b : a));
  const labels = valuesOf(widest).map(({ label }) => String(label));
  return { shape: 'heat', columns: labels.slice(1, maxHeatColumns), rows };
}
