// Reads a `DataVisualizationNode`, which describes how to show the result of an SQL query: the display and the columns
// of a chart.

import { isRecord } from './query-parts.ts';

export interface Visualization {
  /**
   * `ActionsTable`, `ActionsLineGraph`, `ActionsBar`, `BoldNumber` or another of PostHog's displays. Null if the query
   * does not specify a display.
   */
  display: string | null;
  /** Column on the x-axis of the chart, or null if the settings do not name one. */
  x: string | null;
  y: string[];
  /** The column whose values become series. */
  breakdown: string | null;
}

/** Reads the visualization that wraps an SQL query. Omits settings that Millrace does not use. */
export function readVisualization(query: unknown): Visualization {
  const node = isRecord(query) && query.kind === 'DataVisualizationNode' ? query : {};
  const settings = isRecord(node.chartSettings) ? node.chartSettings : {};
  const axes = Array.isArray(settings.yAxis) ? settings.yAxis : [];
  return {
    display: textOf(node.display),
    x: columnOf(settings.xAxis),
    y: axes.flatMap((axis) => columnOf(axis) ?? []),
    breakdown: textOf(settings.seriesBreakdownColumn),
  };
}

const textOf = (value: unknown) => (typeof value === 'string' ? value : null);
const columnOf = (axis: unknown) => (isRecord(axis) ? textOf(axis.column) : null);

/**
 * Returns the first malformed setting of a `DataVisualizationNode`, or null if all settings are valid. Unknown settings
 * are allowed.
 */
export function findVisualizationProblem({
  display,
  chartSettings: chart,
  tableSettings: table,
}: Record<string, unknown>): { path: string; detail: string } | null {
  const isMissing = (value: unknown) => value === undefined || value === null;
  if (!isMissing(display) && typeof display !== 'string') return { path: 'display', detail: 'Expected a text.' };
  if (!isMissing(table) && !isRecord(table)) return { path: 'tableSettings', detail: 'Expected an object.' };
  if (isMissing(chart)) return null;
  if (!isRecord(chart)) return { path: 'chartSettings', detail: 'Expected an object.' };
  const { xAxis: x, yAxis: y, seriesBreakdownColumn: breakdown } = chart;
  if (!isMissing(x) && columnOf(x) === null)
    return { path: 'chartSettings.xAxis', detail: 'Expected an object with `column`.' };
  if (!isMissing(y) && !(Array.isArray(y) && y.every((axis) => columnOf(axis) !== null)))
    return { path: 'chartSettings.yAxis', detail: 'Expected a list of objects with `column`.' };
  if (!isMissing(breakdown) && typeof breakdown !== 'string')
    return { path: 'chartSettings.seriesBreakdownColumn', detail: 'Expected the name of a column.' };
  return null;
}
