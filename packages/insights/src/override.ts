import { createQueryError, isRecord } from './query-parts.ts';
import { mergeVariables } from './sql-variables.ts';

const wrappers = new Set(['InsightVizNode', 'DataTableNode', 'DataVisualizationNode']);

/** Returns a query's source without its visualization wrappers. Returns null if the value is not a query. */
export function findSource(query: unknown): Record<string, unknown> | null {
  if (!isRecord(query)) return null;
  return wrappers.has(String(query.kind)) ? findSource(query.source) : query;
}

/** Changes a query's source and keeps its visualization wrappers. */
export function changeSource(
  query: unknown,
  change: (source: Record<string, unknown>) => Record<string, unknown>,
): unknown {
  if (!isRecord(query)) return query;
  return wrappers.has(String(query.kind)) ? { ...query, source: changeSource(query.source, change) } : change(query);
}

/**
 * Applies dashboard filters to a query: replaces its dates and breakdown, and adds the property filters. Keeps its
 * visualization wrappers.
 */
export function overrideFilters(query: unknown, filters: unknown): unknown {
  if (filters === undefined || filters === null || !isRecord(query)) return query;
  if (!isRecord(filters)) throw createQueryError('filters_override', 'Expected a JSON object.');
  return changeSource(query, (source) => underFilters(source, filters));
}

/**
 * Applies a dashboard's variables to an SQL query. The dashboard's values replace the query's values. Returns queries
 * that are not SQL unchanged.
 */
export function overrideVariables(query: unknown, variables: unknown): unknown {
  if (!isRecord(variables) || Object.keys(variables).length === 0) return query;
  return changeSource(query, (source) =>
    source.kind === 'HogQLQuery' ? { ...source, variables: mergeVariables(source.variables, variables) } : source,
  );
}

function underFilters(query: Record<string, unknown>, filters: Record<string, unknown>): Record<string, unknown> {
  const { date_from: from, date_to: to, explicitDate, properties, breakdown_filter: breakdown, interval } = filters;
  if (query.kind === 'HogQLQuery') return underSqlFilters(query, filters);
  const result: Record<string, unknown> = { ...query };
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

/**
 * Applies dashboard filters to the `{filters}` of an SQL query. The dashboard's dates replace both bounds, and its
 * property filters are added. Its setting for test accounts replaces the query's setting unless it is null.
 */
function underSqlFilters(
  query: Record<string, unknown>,
  { date_from: from, date_to: to, properties, filterTestAccounts }: Record<string, unknown>,
): Record<string, unknown> {
  const own = isRecord(query.filters) ? query.filters : {};
  const isNarrowed = isGiven(properties) && !(Array.isArray(properties) && properties.length === 0);
  const both = isGiven(own.properties)
    ? { type: 'AND', values: [groupOf(own.properties), groupOf(properties)] }
    : properties;
  return {
    ...query,
    filters: {
      ...own,
      ...((isGiven(from) || isGiven(to)) && { dateRange: { date_from: from ?? null, date_to: to ?? null } }),
      ...(isNarrowed && { properties: both }),
      ...(isGiven(filterTestAccounts) && { filterTestAccounts }),
    },
  };
}

const isGiven = (value: unknown) => value !== undefined && value !== null;
const groupOf = (filters: unknown) => (Array.isArray(filters) ? { type: 'AND', values: filters } : filters);
