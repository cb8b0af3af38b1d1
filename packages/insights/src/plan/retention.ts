// Plans a RetentionQuery, which counts how many actors that started in an interval returned later.

import type { FirstTime, FunnelStep, RetentionStoreQuery } from '../event-store/queries.ts';
import type { Property } from '../event-store/selection.ts';
import type { RetentionQuery } from '../query.ts';
import { createQueryError, type Interval } from '../query-parts.ts';
import { readProperty } from './conditions.ts';
import {
  type BreakdownPlan,
  combineConditions,
  type PlanContext,
  planBreakdowns,
  readActorType,
  readNodeFilters,
  readQueryFilters,
} from './context.ts';
import { addIntervals, dayMs, findIntervalStart, parseMoment } from './dates.ts';

export interface RetentionPlan {
  kind: 'RetentionQuery';
  /** The unit of the intervals as users see it, for example `Day`. */
  period: string;
  columns: string[];
  /** The content of the cells: the number of actors, or the sum or average of a property. */
  shows: 'count' | 'sum' | 'avg';
  breakdown: BreakdownPlan;
  isCumulative: boolean;
  storeQuery: RetentionStoreQuery;
}

type RetentionFilter = NonNullable<RetentionQuery['retentionFilter']>;

const usualIntervals = 7;
/** A window of one month has 30 days, as in funnels. */
const windowsMs = { Hour: dayMs / 24, Day: dayMs, Week: 7 * dayMs, Month: 30 * dayMs };
const maxRows = 1000;
const pageviews = { id: '$pageview' };

export function planRetention(query: RetentionQuery, context: PlanContext): RetentionPlan {
  const { retentionFilter: filter = {} } = query;
  const {
    period = 'Day',
    retentionCustomBrackets: brackets,
    targetEntity = pageviews,
    returningEntity = pageviews,
  } = filter;
  refuse(filter);
  const interval = period.toLowerCase() as Interval;
  const ends = brackets?.map((_, at) => brackets.slice(0, at + 1).reduce((sum, one) => sum + one, 0));
  const intervals = filter.totalIntervals ?? (ends?.at(-1) === undefined ? usualIntervals : Number(ends.at(-1)) + 1);
  const { edges, to } = rowsOf(query, { interval, columns: intervals, context });
  const columns = columnsOf(period, ends ?? Array.from({ length: intervals - 1 }, (_, at) => at + 1));
  const shows = filter.aggregationType ?? 'count';
  const filters = readQueryFilters(query, context);
  const step = (entity: NonNullable<typeof filter.targetEntity>, name: string): FunnelStep => ({
    event: entity.id ?? null,
    where: readNodeFilters(entity, `retentionFilter.${name}`, context),
    first: null,
  });
  const target = step(targetEntity, 'targetEntity');
  const returning = step(returningEntity, 'returningEntity');
  const breakdown = planBreakdowns(query.breakdownFilter, context);
  if (breakdown.bins.some((count) => count !== null))
    throw createQueryError('breakdownFilter', 'Retention does not support bins for a numeric breakdown.');
  const { projectId } = context.settings;
  const events =
    target.event === null || returning.event === null ? null : [...new Set([target.event, returning.event])];
  return {
    kind: 'RetentionQuery',
    period,
    columns,
    shows,
    breakdown,
    isCumulative: filter.cumulative ?? false,
    storeQuery: {
      select: { projectId, events, from: edges[0] ?? to, to, where: filters },
      actorType: readActorType(query),
      edges,
      target,
      returning,
      rows: edges.length,
      minReturns: filter.minimumOccurrences ?? 1,
      first: firstOf(filter.retentionType, target, { projectId, to, where: filters }),
      breakdowns: breakdown.breakdowns,
      cumulative: filter.cumulative ?? false,
      columns: columns.length,
      windowMs: filter.timeWindowMode === '24_hour_windows' ? windowsMs[period] : null,
      brackets: brackets ?? null,
      aggregated: shows === 'count' ? null : aggregatedOf(filter, context),
    },
  };
}

/**
 * Returns column names such as `Day 0`, `Day 1` and `Day 2-4`.
 * @param ends for each column after the first, the index of its last interval
 */
function columnsOf(period: string, ends: number[]): string[] {
  const later = ends.map((end, at) => {
    const begin = (ends[at - 1] ?? 0) + 1;
    return begin === end ? `${period} ${end}` : `${period} ${begin}-${end}`;
  });
  return [`${period} 0`, ...later];
}

/** Rejects a retention filter whose fields conflict or are incomplete. @throws AppError that names the field */
function refuse({ cumulative, timeWindowMode, aggregationType = 'count', aggregationProperty }: RetentionFilter): void {
  const no = (field: string, detail: string) => createQueryError(`retentionFilter.${field}`, detail);
  if (timeWindowMode === '24_hour_windows' && cumulative)
    throw no('cumulative', '24-hour windows cannot be cumulative.');
  if (aggregationType === 'count') return;
  if (cumulative) throw no('cumulative', 'Cumulative retention is only supported if aggregationType is count.');
  if (aggregationProperty === undefined || aggregationProperty === '')
    throw no('aggregationProperty', `This field is required for ${aggregationType}.`);
}

function aggregatedOf(
  { aggregationProperty: key = '', aggregationPropertyType: type = 'event' }: RetentionFilter,
  context: PlanContext,
): Property {
  return readProperty({ type, key }, { path: 'retentionFilter.aggregationProperty', reading: context });
}

function firstOf(
  type: RetentionFilter['retentionType'],
  { event, where }: FunnelStep,
  range: Omit<FirstTime, 'events'>,
): FirstTime | null {
  const named = { ...range, events: event === null ? null : [event] };
  if (type === 'retention_first_time') return { ...named, where: combineConditions(range.where, where) };
  return type === 'retention_first_ever_occurrence' ? { ...named, where: { all: [] } } : null;
}

/** Returns the intervals of the range. By default, the range ends with the current interval. */
function rowsOf(
  { dateRange = {} }: RetentionQuery,
  { interval, columns, context: { clock, earliest } }: { interval: Interval; columns: number; context: PlanContext },
): { edges: number[]; to: number } {
  const { zone } = clock;
  const moment = (text: string, name: string): number => {
    const read = text === 'all' ? { instant: earliest ?? clock.now } : parseMoment(text, clock);
    if (read === null)
      throw createQueryError(
        `dateRange.${name}`,
        `"${text.slice(0, 100)}" is not a valid time. Use an ISO 8601 time between 1970 and 2199, or a relative time such as -7d.`,
      );
    return read.instant;
  };
  const beginning = (instant: number) => {
    const wall = zone.toWallTime(instant);
    const start = findIntervalStart(interval, wall, clock);
    return interval === 'hour' ? instant - (wall - start) : zone.toInstant(start);
  };
  const last = beginning(dateRange.date_to === undefined ? clock.now : moment(dateRange.date_to, 'date_to'));
  const to = addIntervals(interval, last, 1, clock);
  const first =
    dateRange.date_from === undefined
      ? addIntervals(interval, to, -columns, clock)
      : beginning(moment(dateRange.date_from, 'date_from'));
  const edges: number[] = [];
  for (let edge = first; edge < to; edge = addIntervals(interval, edge, 1, clock)) {
    if (edges.length === maxRows)
      throw createQueryError(
        'dateRange',
        `A date range can have at most ${maxRows} intervals. Choose a longer period or a shorter date range.`,
      );
    edges.push(edge);
  }
  return { edges, to };
}
