// Reduces a query and its result to what a public page displays. The reduced result does not identify persons, except
// through columns that the author of an SQL insight selects. It omits the SQL text and the query's variables and
// filters.

import { isObject } from '@millrace/contracts';
import { findSource, readVisualization } from '@millrace/insights';

/** Kinds of queries that can be shared. All other kinds return persons or events with all their properties. */
const open = /^(Trends|Funnels|Retention|Lifecycle|WebOverview|WebStatsTable|WebTrends|HogQL)Query$/;

export const isClosedQuery = (query: unknown): boolean => query !== null && !open.test(String(findSource(query)?.kind));
const isSql = (query: unknown) => findSource(query)?.kind === 'HogQLQuery';

/** Maximum number of an SQL insight's rows that visitors see. */
const maxRows = 1000;

/** Query fields that determine how the result is drawn. They exclude filters, cohorts and property names. */
const drawn: Record<string, readonly string[]> = {
  trendsFilter: [
    'display',
    'aggregationAxisFormat',
    'aggregationAxisPrefix',
    'aggregationAxisPostfix',
    'decimalPlaces',
    'minDecimalPlaces',
  ],
  retentionFilter: ['period', 'aggregationType', 'retentionCustomBrackets'],
  funnelsFilter: ['funnelVizType'],
  compareFilter: ['compare'],
};

/** Returns an insight's query, reduced to the fields that its charts need. */
export function toPublicQuery(query: unknown): Record<string, unknown> | null {
  const source = findSource(query);
  if (source === null) return null;
  if (isSql(query)) return drawnSql(query);
  const parts = Object.entries(drawn).flatMap(([name, fields]) => {
    const part = source[name];
    return isObject(part) ? [[name, only(part, (field) => fields.includes(field))]] : [];
  });
  return {
    kind: source.kind,
    ...(source.interval !== undefined && { interval: source.interval }),
    ...Object.fromEntries(parts),
  };
}

function drawnSql(query: unknown): Record<string, unknown> {
  const { display, x, y, breakdown } = readVisualization(query);
  return {
    kind: 'DataVisualizationNode',
    // Clients recognize SQL by the field `query`, so include it, but without the SQL text.
    source: { kind: 'HogQLQuery', query: '' },
    ...(display !== null && { display }),
    chartSettings: {
      ...(x !== null && { xAxis: { column: x } }),
      ...(y.length > 0 && { yAxis: y.map((column) => ({ column })) }),
      ...(breakdown !== null && { seriesBreakdownColumn: breakdown }),
    },
  };
}

const shown = new Set(
  (
    'label name custom_name order status count data days aggregated_value breakdown_value compare compare_label ' +
    'action math average_conversion_time median_conversion_time bins values date ' +
    'key kind isIncreaseBad value previous changeFromPreviousPct ' +
    'bucket metrics UniqueUsers PageViews Sessions Bounces SessionDuration'
  ).split(' '),
);

/** Removes filters, properties and links to persons from a result. For SQL, keeps only the first rows. */
export function toPublicResult(query: unknown, result: unknown): unknown {
  return isSql(query) && Array.isArray(result) ? result.slice(0, maxRows) : withoutDetails(result);
}

function withoutDetails(result: unknown): unknown {
  if (Array.isArray(result)) return result.map(withoutDetails);
  if (!isObject(result)) return result;
  const fields = Object.entries(only(result, (name) => shown.has(name)));
  // The label already contains the name of the event. Charts need only an action's `math`, which determines whether the
  // values of its intervals can be added up.
  return Object.fromEntries(
    fields.map(([name, value]) => [
      name,
      name === 'action' && isObject(value) ? only(value, (field) => field === 'math') : withoutDetails(value),
    ]),
  );
}

const only = (fields: Record<string, unknown>, isKept: (name: string) => boolean) =>
  Object.fromEntries(Object.entries(fields).filter(([name]) => isKept(name)));
