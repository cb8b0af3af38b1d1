// Plans a TrendsQuery, which counts events or actors over time.

import type { Aggregation, FirstTime, Measure, SeriesQuery } from '../event-store/queries.ts';
import type { ActorType } from '../event-store/selection.ts';
import { type Aggregate, aggregates, displays, type EventsNode, type TrendsQuery } from '../query.ts';
import { createQueryError, type Interval } from '../query-parts.ts';
import {
  type BreakdownPlan,
  combineConditions,
  createSelection,
  type PlanContext,
  planBreakdowns,
  readNodeFilters,
  readQueryFilters,
  resolveQueryRange,
} from './context.ts';
import { addIntervals, type Period, resolvePreviousRange, splitIntoBuckets } from './dates.ts';
import { createExpressionReader } from './expressions.ts';
import { type Formula, parseFormula } from './formula.ts';

export interface TrendsPlan {
  kind: 'TrendsQuery';
  /** Whether each series has a single number, instead of one number per interval. */
  isTotal: boolean;
  isCumulative: boolean;
  smoothing: number;
  breakdown: BreakdownPlan;
  formulas: { text: string; label: string; of: Formula }[];
  series: EventsNode[];
  /** The queried period, followed by the previous period if the query compares periods. */
  periods: TrendsPeriod[];
}

export interface TrendsPeriod {
  label: 'current' | 'previous' | null;
  period: Period;
  storeQueries: SeriesQuery[];
}

/**
 * Maximum number of breakdown values that are read for each series of a formula. From these, the result keeps the
 * values with the largest totals over all series.
 */
const limitOfFormulas = 1000;
const limitOfWorldMap = 250;

export function planTrends(query: TrendsQuery, context: PlanContext): TrendsPlan {
  const { display = 'ActionsLineGraph', smoothingIntervals: smoothing = 1 } = query.trendsFilter ?? {};
  const isTotal = (displays.total as readonly string[]).includes(display);
  const interval = isTotal ? 'day' : (query.interval ?? 'day');
  const breakdown = planBreakdowns(
    query.breakdownFilter,
    context,
    display === 'WorldMap' ? { limit: limitOfWorldMap } : {},
  );
  const formulas = formulasOf(query);
  const isCumulative = display === 'ActionsLineGraphCumulative';
  const shape: Shape = {
    query,
    context,
    isTotal,
    isCumulative,
    breakdown: formulas.length > 0 ? { ...breakdown, limit: limitOfFormulas } : breakdown,
  };
  return {
    kind: 'TrendsQuery',
    isTotal,
    isCumulative,
    smoothing,
    breakdown,
    formulas,
    series: query.series,
    periods: planPeriods(query, { context, interval, isExact: display === 'BoldNumber' }).map(({ label, period }) => ({
      label,
      period,
      storeQueries: query.series.map((_, at) => planSeries(at, period, shape)),
    })),
  };
}

function formulasOf({ series, trendsFilter = {} }: TrendsQuery): TrendsPlan['formulas'] {
  const { formula, formulas, formulaNodes } = trendsFilter;
  const nodes =
    formulaNodes?.map((node, at) => ({ ...node, path: `trendsFilter.formulaNodes.${at}.formula` })) ??
    formulas?.map((text, at) => ({ formula: text, custom_name: undefined, path: `trendsFilter.formulas.${at}` })) ??
    (formula === undefined ? [] : [{ formula, custom_name: undefined, path: 'trendsFilter.formula' }]);
  return nodes
    .filter((node) => node.formula.trim() !== '')
    .map(({ formula: text, custom_name: name, path }) => ({
      text,
      label: name ?? `Formula (${text})`,
      of: parseFormula(text, series.length, path),
    }));
}

export function planPeriods(
  query: Pick<TrendsQuery, 'dateRange' | 'compareFilter'>,
  { context, interval, isExact }: { context: PlanContext; interval: Interval; isExact: boolean },
): Pick<TrendsPeriod, 'label' | 'period'>[] {
  const { clock, settings } = context;
  const range = resolveQueryRange(query, interval, context, isExact);
  const current = splitIntoBuckets(range, interval, clock);
  if (!query.compareFilter?.compare) return [{ label: null, period: current }];
  const dateTo = query.dateRange?.date_to;
  const previous = resolvePreviousRange(range, {
    interval,
    clock,
    compareTo: query.compareFilter.compare_to,
    hasRelativeEnd: dateTo !== undefined && !/^\d{4}-/.test(dateTo),
    inWeeks: settings.comparesInWeeks,
  });
  return [
    { label: 'current', period: current },
    { label: 'previous', period: splitIntoBuckets(previous, interval, clock) },
  ];
}

interface Shape {
  query: TrendsQuery;
  context: PlanContext;
  isTotal: boolean;
  isCumulative: boolean;
  breakdown: BreakdownPlan;
}

function planSeries(
  at: number,
  period: Period,
  { query, context, isTotal, isCumulative, breakdown }: Shape,
): SeriesQuery {
  const node = query.series[at];
  if (node === undefined) throw new Error(`There is no series ${at}.`);
  const path = `series.${at}`;
  const where = combineConditions(readQueryFilters(query, context), readNodeFilters(node, path, context));
  const select = createSelection(node, { where, range: period, context });
  const first = firstOf(node, { projectId: select.projectId, events: select.events, to: period.to, where });
  const measure = measureOf(node, path, { context, once: isCumulative && !isTotal, first });
  const storeQuery: SeriesQuery = {
    select,
    measure,
    breakdowns: breakdown.breakdowns,
    limit: breakdown.limit,
    edges: isTotal ? [] : period.edges,
    windows: null,
    nullsLast: !isTotal,
  };
  const days = { weekly_active: 7, monthly_active: 30 }[String(node.math)];
  return days === undefined ? storeQuery : withWindows(storeQuery, { days, path, isTotal, period, context });
}

function firstOf({ math }: EventsNode, named: FirstTime): FirstTime | null {
  if (math === 'first_time_for_user') return { ...named, where: { all: [] } };
  return math === 'first_matching_event_for_user' || math === 'first_time_for_user_with_filters' ? named : null;
}

interface MeasureContext {
  context: PlanContext;
  once: boolean;
  first: FirstTime | null;
}

/** Determines what a series measures. @throws AppError that names a missing field */
function measureOf(node: EventsNode, path: string, { context, once, first }: MeasureContext): Measure {
  const { math = 'total' } = node;
  const actors = (actorType: ActorType): Measure => ({ of: 'actors', actorType, once, first });
  switch (math) {
    case 'total':
      return { of: 'events' };
    case 'dau':
    case 'weekly_active':
    case 'monthly_active':
      return actors({ of: 'person' });
    case 'first_time_for_user':
    case 'first_matching_event_for_user':
    case 'first_time_for_user_with_filters':
      return { of: 'actors', actorType: { of: 'person' }, once: false, first };
    case 'unique_session':
      return { of: 'actors', actorType: { of: 'session' }, once: false, first: null };
    case 'unique_group':
      if (node.math_group_type_index === undefined)
        throw createQueryError(`${path}.math_group_type_index`, 'This field is required for unique_group.');
      return actors({ of: 'group', index: node.math_group_type_index });
    case 'hogql':
      return sqlMeasure(node, `${path}.math_hogql`, context);
    default: {
      const [, name] = /^(.*)_count_per_actor$/.exec(math) ?? [];
      if (name !== undefined)
        return { of: 'counts', actorType: { of: 'person' }, aggregate: aggregationOf(name as Aggregate) };
      return { ...propertyMeasure(node, path, context), aggregate: aggregationOf(math as Aggregate) };
    }
  }
}

function sqlMeasure({ math_hogql: text }: EventsNode, path: string, context: PlanContext): Measure {
  if (text === undefined) throw createQueryError(path, 'This field is required for hogql.');
  return { of: 'expression', expression: createExpressionReader(context, path)(text, 'number', path) };
}

function propertyMeasure(
  { math, math_property: key, math_property_type: type, math_multiplier: times = 1 }: EventsNode,
  path: string,
  context: PlanContext,
) {
  if (key === undefined || key === '')
    throw createQueryError(`${path}.math_property`, `This field is required for ${math}.`);
  if (key === '$session_duration') return { of: 'sessions', times } as const;
  if (type === 'session_properties')
    throw createQueryError(`${path}.math_property`, 'The only session property is $session_duration.');
  if (key === '$time') return { of: 'property', property: { of: 'column', key: 'timestamp' }, times } as const;
  const of = type === 'person_properties' ? (context.personsAsStored ? 'stored person' : 'person') : 'event';
  return { of: 'property', property: { of, key }, times } as const;
}

const shares: Partial<Record<Aggregate, number>> = { median: 0.5, p75: 0.75, p90: 0.9, p95: 0.95, p99: 0.99 };

function aggregationOf(name: Aggregate): Aggregation {
  const percentile = shares[name];
  if (percentile !== undefined) return { percentile };
  if (!aggregates.includes(name) || name === 'median' || name.startsWith('p'))
    throw new Error(`Unknown aggregation: ${name}.`);
  return name as 'sum' | 'avg' | 'min' | 'max';
}

interface LookBack {
  days: number;
  path: string;
  isTotal: boolean;
  period: Period;
  context: PlanContext;
}

/**
 * Makes the query count, for each interval, the actors that were active in the interval or in the days before it. The
 * window of days may start before the range.
 */
function withWindows(
  storeQuery: SeriesQuery,
  { days, path, isTotal, period, context: { clock } }: LookBack,
): SeriesQuery {
  const { interval, edges, end, to } = period;
  if (isTotal)
    return { ...storeQuery, select: { ...storeQuery.select, from: addIntervals('day', endOfDay(to), -days, clock) } };
  if (interval === 'month' || (interval === 'week' && days === 7)) return storeQuery;
  if (interval === 'minute')
    throw createQueryError(`${path}.math`, 'This aggregation does not support the interval `minute`.');
  const windows = edges.map((edge, at) => windowOf(edge, edges[at + 1] ?? end));
  const fine = [...new Set(windows.flatMap(({ from, until }) => [from, until]))].sort((a, b) => a - b);
  const places = new Map(fine.map((edge, at) => [edge, at]));
  return {
    ...storeQuery,
    select: { ...storeQuery.select, from: fine[0] ?? storeQuery.select.from },
    edges: fine,
    windows: windows.map(({ from, until }) => ({
      first: places.get(from) ?? 0,
      end: places.get(until) ?? fine.length,
    })),
  };

  function windowOf(edge: number, nextEdge: number): { from: number; until: number } {
    if (interval === 'hour') return { from: addIntervals('hour', edge, 1 - 24 * days, clock), until: nextEdge };
    // For monthly active users by week, the thirty days end with the first day of the week.
    const until = interval === 'week' ? addIntervals('day', edge, 1, clock) : nextEdge;
    return { from: addIntervals('day', edge, 1 - days, clock), until };
  }
  function endOfDay(moment: number): number {
    const wall = clock.zone.toWallTime(moment - 1);
    return clock.zone.toInstant(Math.floor(wall / 86_400_000) * 86_400_000 + 86_400_000);
  }
}
