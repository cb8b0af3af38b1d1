// Converts an SQL result to chart series.

import type { Interval } from '@millrace/contracts/chart';
import { parseSeriesTime } from '@millrace/contracts/chart';
import { type InsightQuery, toFields, toFieldsList } from '../results/insight-query.ts';
import type { Series } from '../results/series.ts';
import { type Column, cellAt, formatCell, formatLocalTime } from './columns.ts';
import { type Display, getDisplay, type SqlNode } from './node.ts';
import { text } from './words.ts';

/** Maximum number of points. A chart with more points is unreadable. */
export const maxPoints = 2000;
/** Maximum number of series. If a breakdown has more, the chart shows the first ones in the result. */
const maxSeries = 25;

export interface ChartColumns {
  x: string;
  y: readonly string[];
  /** Name of the breakdown column, whose values become separate series. Null without a breakdown. */
  by: string | null;
}

/**
 * Returns the columns of the chart: those in the chart settings or, if the result does not contain them, default
 * columns.
 * @returns null if the result cannot be drawn
 */
export function chooseChartColumns({ chartSettings }: SqlNode, columns: readonly Column[], rows: readonly unknown[]) {
  const settings = toFields(chartSettings);
  const named = (name: unknown) => columns.find((one) => one.name === name);
  const isMoment = ({ kind }: Column) => kind === 'time' || kind === 'date';
  const usualX = columns.find(isMoment) ?? columns.find(({ kind }) => kind === 'text');
  const x = named(toFields(settings.xAxis).column) ?? usualX;
  if (x === undefined) return null;
  const numbers = columns.filter((one) => one.kind === 'number' && one !== x);
  const chosen = toFieldsList(settings.yAxis).flatMap(({ column }) => numbers.filter(({ name }) => name === column));
  const y = chosen.length > 0 ? chosen : numbers;
  if (y.length === 0) return null;
  // Undefined until the user chooses a breakdown. Null if the user has turned the breakdown off.
  const { seriesBreakdownColumn: given } = settings;
  const by = given === undefined ? usualBreakdown({ x, y }, columns, rows) : named(given);
  return { x: x.name, y: y.map(({ name }) => name), by: by?.name ?? null } satisfies ChartColumns;
}

/**
 * If x values repeat, chooses a breakdown column, because rows with the same x value then belong to different series.
 */
function usualBreakdown(
  { x, y }: { x: Column; y: readonly Column[] },
  columns: readonly Column[],
  rows: readonly unknown[],
) {
  if (y.length > 1) return undefined;
  const at = columns.indexOf(x);
  const isRepeated = new Set(rows.map((row) => String(cellAt(row, at)))).size < rows.length;
  return isRepeated ? columns.find((one) => one !== x && one.kind === 'text') : undefined;
}

export const toChartSettings = ({ x, y, by }: ChartColumns) => ({
  xAxis: { column: x },
  yAxis: y.map((column) => ({ column })),
  seriesBreakdownColumn: by,
});

/** Returns the series for the chart component, and a query that only contains the display settings. */
export function createChart(
  rows: readonly unknown[],
  columns: readonly Column[],
  { node, chosen }: { node: SqlNode; chosen: ChartColumns },
): { series: Series[]; insightQuery: InsightQuery; isCut: boolean } {
  const place = (name: string) => columns.findIndex((one) => one.name === name);
  const [x, by] = [place(chosen.x), chosen.by === null ? -1 : place(chosen.by)];
  const isTime = /^(time|date)$/.test(columns[x]?.kind ?? '');
  const labelOf = (row: unknown) => {
    const value = cellAt(row, x);
    return value === null ? text.null : isTime ? formatLocalTime(String(value)) : formatCell(value, 'text');
  };
  const shown = rows.slice(0, maxPoints);
  const isGrouped = by !== -1;
  const labels = shown.map(labelOf);
  const days = isGrouped ? [...new Set(labels)] : labels;
  const order = days.map((_, at) => at);
  if (isTime) order.sort((a, b) => (days[a] ?? '').localeCompare(days[b] ?? ''));
  const sorted = order.map((at) => days[at] ?? '');
  const seriesOf = (label: string, values: readonly (number | null)[]): Series => ({
    label,
    data: values.map((value) => value ?? 0),
    // The chart omits points for which `entered` is 0.
    entered: values.map((value) => (value === null ? 0 : 1)),
    days: shortened(sorted),
    count: 0,
  });
  const numberAt = (row: unknown, at: number) => {
    const value = cellAt(row, at);
    return typeof value === 'number' ? value : null;
  };
  const series = chosen.y.flatMap((name) => {
    const at = place(name);
    if (!isGrouped) {
      const values = shown.map((row) => numberAt(row, at));
      return [
        seriesOf(
          name,
          order.map((index) => values[index] ?? null),
        ),
      ];
    }
    const groups = new Map<string, Map<string, number | null>>();
    for (const [index, row] of shown.entries()) {
      const group = cellAt(row, by);
      const key = group === null ? text.null : formatCell(group, 'text');
      const values = groups.get(key) ?? new Map<string, number | null>();
      values.set(labels[index] ?? '', numberAt(row, at));
      groups.set(key, values);
    }
    const nameOf = (key: string) => (chosen.y.length === 1 ? key : `${key} · ${name}`);
    return [...groups].map(([key, values]) =>
      seriesOf(
        nameOf(key),
        sorted.map((label) => (values.has(label) ? (values.get(label) ?? null) : 0)),
      ),
    );
  });
  return {
    series: series.slice(0, maxSeries),
    insightQuery: insightQueryOf(getDisplay(node), sorted),
    isCut: rows.length > maxPoints || series.length > maxSeries,
  };
}

const shortened = (days: readonly string[]) =>
  days.every((day) => day.length === 19 && day.endsWith(' 00:00:00')) ? days.map((day) => day.slice(0, 10)) : [...days];

const insightQueryOf = (display: Display, days: readonly string[]): InsightQuery => ({
  kind: 'HogQLQuery',
  interval: intervalBetween(days),
  trendsFilter: { display },
});

/** Returns the chart's interval, based on the shortest time between two points. */
function intervalBetween(days: readonly string[]): Interval {
  const times = days.map(parseSeriesTime);
  let least = Number.POSITIVE_INFINITY;
  for (const [at, time] of times.entries()) {
    const gap = time - (times[at - 1] ?? Number.NaN);
    if (gap > 0) least = Math.min(least, gap);
  }
  const seconds = least / 1000;
  if (seconds < 60) return 'second';
  if (seconds < 3600) return 'minute';
  if (seconds < 86_400) return 'hour';
  if (seconds < 7 * 86_400 || least === Number.POSITIVE_INFINITY) return 'day';
  return seconds < 28 * 86_400 ? 'week' : 'month';
}
