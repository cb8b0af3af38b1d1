// From a RetentionQuery to the question that answers it.

import type { FirstTime, FunnelStep, RetentionQuestion } from '../event-store/port.ts';
import { type Interval, queryError, type RetentionQuery } from '../query.ts';
import {
  type BreakdownPlan,
  both,
  breakdownsOf,
  filtersOfNode,
  filtersOfQuery,
  type PlanContext,
  unitOfQuery,
} from './context.ts';
import { later, readMoment, startOf } from './dates.ts';

export interface RetentionPlan {
  kind: 'RetentionQuery';
  /** `Day`, as it is shown. */
  period: string;
  /** Number of values of each row. */
  columns: number;
  breakdown: BreakdownPlan;
  isCumulative: boolean;
  question: RetentionQuestion;
}

const usualIntervals = 7;
const mostRows = 1000;
const pageviews = { id: '$pageview' };

export function planRetention(query: RetentionQuery, context: PlanContext): RetentionPlan {
  const { retentionFilter: filter = {} } = query;
  const {
    period = 'Day',
    totalIntervals: columns = usualIntervals,
    targetEntity = pageviews,
    returningEntity = pageviews,
  } = filter;
  const interval = period.toLowerCase() as Interval;
  const { edges, to } = rowsOf(query, { interval, columns, context });
  const filters = filtersOfQuery(query, context);
  const step = (entity: NonNullable<typeof filter.targetEntity>, name: string): FunnelStep => ({
    event: entity.id ?? null,
    where: filtersOfNode(entity, `retentionFilter.${name}`, context),
    first: null,
  });
  const target = step(targetEntity, 'targetEntity');
  const returning = step(returningEntity, 'returningEntity');
  const breakdown = breakdownsOf(query.breakdownFilter, context);
  if (breakdown.bins.some((count) => count !== null))
    throw queryError('breakdownFilter', 'Retention has no buckets of numbers.');
  const { projectId } = context.settings;
  const events =
    target.event === null || returning.event === null ? null : [...new Set([target.event, returning.event])];
  return {
    kind: 'RetentionQuery',
    ...{ period, columns, breakdown },
    isCumulative: filter.cumulative ?? false,
    question: {
      select: { projectId, events, from: edges[0] ?? to, to, where: filters },
      unit: unitOfQuery(query),
      ...{ edges, target, returning },
      rows: edges.length,
      least: filter.minimumOccurrences ?? 1,
      first: firstOf(filter.retentionType, target, { projectId, to, where: filters }),
      breakdowns: breakdown.breakdowns,
      cumulative: filter.cumulative ?? false,
    },
  };
}

function firstOf(
  type: NonNullable<RetentionQuery['retentionFilter']>['retentionType'],
  { event, where }: FunnelStep,
  range: Omit<FirstTime, 'events'>,
): FirstTime | null {
  const named = { ...range, events: event === null ? null : [event] };
  if (type === 'retention_first_time') return { ...named, where: both(range.where, where) };
  return type === 'retention_first_ever_occurrence' ? { ...named, where: { all: [] } } : null;
}

/** The intervals of the range; those that end with the current one where none is asked for. */
function rowsOf(
  { dateRange = {} }: RetentionQuery,
  { interval, columns, context: { clock, earliest } }: { interval: Interval; columns: number; context: PlanContext },
): { edges: number[]; to: number } {
  const { zone } = clock;
  const moment = (text: string, name: string): number => {
    const read = text === 'all' ? { instant: earliest ?? clock.now } : readMoment(text, clock);
    if (read === null) throw queryError(`dateRange.${name}`, `"${text.slice(0, 100)}" is no time.`);
    return read.instant;
  };
  const beginning = (instant: number) => {
    const wall = zone.toWallTime(instant);
    const start = startOf(interval, wall, clock);
    return interval === 'hour' ? instant - (wall - start) : zone.toInstant(start);
  };
  const last = beginning(dateRange.date_to === undefined ? clock.now : moment(dateRange.date_to, 'date_to'));
  const to = later(interval, last, 1, clock);
  const first =
    dateRange.date_from === undefined
      ? later(interval, to, -columns, clock)
      : beginning(moment(dateRange.date_from, 'date_from'));
  const edges: number[] = [];
  for (let edge = first; edge < to; edge = later(interval, edge, 1, clock)) {
    if (edges.length === mostRows)
      throw queryError('dateRange', `There may be ${mostRows} intervals at most. Choose a longer period.`);
    edges.push(edge);
  }
  return { edges, to };
}
