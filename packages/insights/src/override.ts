// Filters of a dashboard on top of a query, and what tells two questions apart.

import { createHash } from 'node:crypto';
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

/** The same for the same question of a project, in whatever order its fields were written. */
export function cacheKey(parts: { projectId: number; timezone: string; query: unknown }): string {
  return `cache_${createHash('sha256')
    .update(JSON.stringify(inOrder(parts)))
    .digest('hex')
    .slice(0, 32)}`;
}

function inOrder(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(inOrder);
  if (!isRecord(value)) return value;
  return Object.fromEntries(
    Object.keys(value)
      .sort()
      .map((key) => [key, inOrder(value[key])]),
  );
}

const minuteMs = 60_000;
const hourMs = 60 * minuteMs;
const dayMs = 24 * hourMs;

/** How long an answer counts as fresh, by the interval of its query. */
export function freshForMs(query: unknown): number {
  if (!isRecord(query)) return 6 * hourMs;
  if (isRecord(query.source)) return freshForMs(query.source);
  const ages: Record<string, number> = {
    minute: 5 * minuteMs,
    hour: hourMs,
    day: 6 * hourMs,
    week: dayMs,
    month: 2 * dayMs,
  };
  return ages[String(query.interval)] ?? 6 * hourMs;
}
