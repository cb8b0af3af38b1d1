// The parts of a query and its result that a public page needs to draw the numbers. Nothing in them identifies a person.

import { isObject } from '@millrace/contracts';
import { sourceOf } from '@millrace/insights';

/** Results of all other queries are lists of persons or events, or rows of SQL, which may contain anything. */
const numeric = /^(Trends|Funnels|Retention|Lifecycle|WebOverview|WebStatsTable|WebTrends)Query$/;

export const isClosed = (query: unknown): boolean => query !== null && !numeric.test(String(sourceOf(query)?.kind));

/** How a query is drawn. Filters, cohorts and the names of properties stay out. */
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

/** The query of an insight, with only what its charts need. */
export function drawnQuery(query: unknown): Record<string, unknown> | null {
  const source = sourceOf(query);
  if (source === null) return null;
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

/** Fields of all kinds of results that charts and tables show. */
const shown = new Set(
  (
    'label name custom_name order status count data days aggregated_value breakdown_value compare compare_label ' +
    'action math average_conversion_time median_conversion_time bins values date ' +
    'key kind isIncreaseBad value previous changeFromPreviousPct ' +
    'bucket metrics UniqueUsers PageViews Sessions Bounces SessionDuration'
  ).split(' '),
);

/** A result without filters, properties and links to persons. */
export function drawnResult(result: unknown): unknown {
  if (Array.isArray(result)) return result.map(drawnResult);
  if (!isObject(result)) return result;
  const fields = Object.entries(only(result, (name) => shown.has(name)));
  // The label already names the event. Charts need only the math of an action, to decide whether numbers can be added up.
  return Object.fromEntries(
    fields.map(([name, value]) => [
      name,
      name === 'action' && isObject(value) ? only(value, (field) => field === 'math') : drawnResult(value),
    ]),
  );
}

const only = (fields: Record<string, unknown>, isKept: (name: string) => boolean) =>
  Object.fromEntries(Object.entries(fields).filter(([name]) => isKept(name)));
