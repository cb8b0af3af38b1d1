// Creates and edits queries in the insight builder.

import { type Fields, findSource, type InsightQuery, toFields, toFieldsList } from '../../results/insight-query.ts';
import { text } from './words.ts';

export const kinds = ['TrendsQuery', 'FunnelsQuery', 'RetentionQuery', 'LifecycleQuery'] as const;
export type Kind = (typeof kinds)[number];

export function readInsightQuery(json: string): InsightQuery | null {
  try {
    return findSource(JSON.parse(json));
  } catch {
    return null;
  }
}

export const isKind = (kind: string): kind is Kind => (kinds as readonly string[]).includes(kind);

const event = (name: string | null): Fields => ({ kind: 'EventsNode', event: name, ...(name !== null && { name }) });

/** Converts a query to another insight type and preserves its events, filters and date range. */
export function convertToKind(insightQuery: InsightQuery, kind: Kind): InsightQuery {
  const { properties, filterTestAccounts, dateRange, interval } = insightQuery;
  const shared = {
    kind,
    ...(properties !== undefined && { properties }),
    ...(filterTestAccounts !== undefined && { filterTestAccounts }),
    dateRange: dateRange ?? { date_from: '-30d' },
  };
  const names = namesOf(insightQuery);
  const [first = '$pageview', second = first] = names;
  switch (kind) {
    case 'TrendsQuery':
      return {
        ...shared,
        interval: interval ?? 'day',
        series: names.map((name) => ({ ...event(name), math: 'total' })),
      };
    case 'FunnelsQuery':
      return { ...shared, series: [event(first), event(second)], funnelsFilter: { funnelWindowInterval: 14 } };
    case 'LifecycleQuery':
      return { ...shared, interval: interval ?? 'day', series: [event(first)] };
    case 'RetentionQuery': {
      const entity = (id: string | null) => ({ id, type: 'events' });
      const { dateRange: _, ...others } = shared;
      return {
        ...others,
        retentionFilter: {
          period: 'Day',
          totalIntervals: 8,
          targetEntity: entity(first),
          returningEntity: entity(second),
        },
      };
    }
  }
}

function namesOf({ kind, series, retentionFilter }: InsightQuery): (string | null)[] {
  const nameOf = (value: unknown) => (typeof value === 'string' ? value : null);
  if (kind !== 'RetentionQuery') {
    const names = toFieldsList(series).map((one) => nameOf(one.event));
    return names.length > 0 ? names : ['$pageview'];
  }
  const { targetEntity, returningEntity } = toFields(retentionFilter);
  return [nameOf(toFields(targetEntity).id), nameOf(toFields(returningEntity).id)];
}

/** Returns a query's available chart types and the selected one, by API name. `table` exists only in the console. */
export function listChartTypes(insightQuery: InsightQuery): {
  chartTypes: Record<string, string> | null;
  chosen: string;
} {
  const { display } = toFields(insightQuery.trendsFilter);
  switch (insightQuery.kind) {
    case 'TrendsQuery':
      return { chartTypes: text.displays, chosen: typeof display === 'string' ? display : 'ActionsLineGraph' };
    case 'LifecycleQuery':
      return { chartTypes: { ActionsBar: text.displays.ActionsBar, table: text.displays.table }, chosen: 'ActionsBar' };
    case 'FunnelsQuery': {
      const { funnelVizType: type } = toFields(insightQuery.funnelsFilter);
      return { chartTypes: text.funnelViews, chosen: typeof type === 'string' ? type : 'steps' };
    }
    default:
      return { chartTypes: null, chosen: '' };
  }
}

/** Sets a query's chart type. Returns the query unchanged if the API does not have the chart type. */
export function setChartType(insightQuery: InsightQuery, chartType: string): InsightQuery {
  const { display } = toFields(insightQuery.trendsFilter);
  switch (insightQuery.kind) {
    case 'TrendsQuery': {
      // A table has a row for each interval, but a single-number query does not return intervals, so change it to a
      // line chart.
      const named = chartType !== 'table' ? chartType : display === 'BoldNumber' ? 'ActionsLineGraph' : display;
      return named === display
        ? insightQuery
        : { ...insightQuery, trendsFilter: { ...toFields(insightQuery.trendsFilter), display: named } };
    }
    case 'FunnelsQuery':
      return { ...insightQuery, funnelsFilter: { ...toFields(insightQuery.funnelsFilter), funnelVizType: chartType } };
    default:
      return insightQuery;
  }
}

export const propertyMaths = new Set(['sum', 'avg', 'median', 'p75', 'p90', 'p95', 'p99', 'min', 'max']);

/** Returns whether the query has all fields that it needs to run. */
export function isComplete({ kind, series, breakdownFilter, funnelsFilter, retentionFilter }: InsightQuery): boolean {
  const needsNumber = (value: unknown) => value !== undefined && !(Number(value) > 0);
  return (
    !(kind === 'TrendsQuery' && toFieldsList(series).some(lacksProperty)) &&
    toFields(breakdownFilter).breakdown !== '' &&
    !needsNumber(toFields(funnelsFilter).funnelWindowInterval) &&
    !needsNumber(toFields(retentionFilter).totalIntervals)
  );
}

export const lacksProperty = ({ math, math_property: property }: Fields) =>
  propertyMaths.has(String(math)) && (property === undefined || property === '');

export const toSeriesLetter = (at: number) => String.fromCharCode(65 + at);

/** Returns the query field that an API error is about. The error message begins with the field's path. */
export function findFormPart(detail: string): string {
  return /^([A-Za-z_]+)(\.[\w]+)*: /.exec(detail)?.[1] ?? '';
}

/** Replaces the source of the saved query. Preserves the other fields, such as display settings from other clients. */
export function wrapQuery(stored: { query: unknown } | null, insightQuery: InsightQuery): unknown {
  const around = stored?.query;
  const isWrapped = typeof around === 'object' && around !== null && 'source' in around;
  return isWrapped ? { ...around, source: insightQuery } : { kind: 'InsightVizNode', source: insightQuery };
}
