// Filters of a dashboard on top of a query.

import { isRecord, queryError } from './query.ts';

const wrappers = new Set(['InsightVizNode', 'DataTableNode']);

/**
 * The query with a dashboard's filters: its dates replace those of the query, its properties are added, its breakdown replaces.
 * What only draws around the source stays.
 */
export function withFilters(query: unknown, filters: unknown): unknown {
  if (filters === undefined || filters === null || !isRecord(query)) return query;
  if (!isRecord(filters)) throw queryError('filters_override', 'Expected an object.');
  if (wrappers.has(String(query.kind))) return { ...query, source: withFilters(query.source, filters) };
  const { date_from: from, date_to: to, explicitDate, properties, breakdown_filter: breakdown, interval } = filters;
  const result = { ...query };
  if (isGiven(from) || isGiven(to)) {
    if (query.kind === 'EventsQuery') Object.assign(result, { after: from ?? undefined, before: to ?? undefined });
    else
      result.dateRange = {
        date_from: from ?? null,
        date_to: to ?? null,
        ...(explicitDate === true && { explicitDate }),
      };
    const compare = isRecord(query.compareFilter) ? query.compareFilter : undefined;
    if (from === 'all' && compare !== undefined) result.compareFilter = { ...compare, compare: false };
  }
  if (isGiven(interval) && query.kind !== 'EventsQuery' && query.kind !== 'RetentionQuery') result.interval = interval;
  if (isGiven(properties) && !(Array.isArray(properties) && properties.length === 0)) {
    result.properties = isGiven(query.properties)
      ? { type: 'AND', values: [groupOf(query.properties), groupOf(properties)] }
      : properties;
  }
  const takesBreakdown =
    query.kind === 'TrendsQuery' || query.kind === 'FunnelsQuery' || query.kind === 'RetentionQuery';
  if (isGiven(breakdown) && takesBreakdown) result.breakdownFilter = breakdown;
  return result;
}

const isGiven = (value: unknown) => value !== undefined && value !== null;
const groupOf = (filters: unknown) => (Array.isArray(filters) ? { type: 'AND', values: filters } : filters);
