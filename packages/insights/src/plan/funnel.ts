// Plans a FunnelsQuery: determines which events to read and how to walk through them.

import type { FunnelStep, FunnelStoreQuery } from '../event-store/queries.ts';
import type { Condition } from '../event-store/selection.ts';
import type { WalkedFunnel } from '../event-store/walked-funnel.ts';
import type { EventsNode, FunnelsQuery } from '../query.ts';
import { createQueryError } from '../query-parts.ts';
import {
  type BreakdownPlan,
  combineConditions,
  createSelection,
  type PlanContext,
  planBreakdowns,
  readActorType,
  readNodeFilters,
  readQueryFilters,
  rejectSqlMath,
  resolveQueryRange,
} from './context.ts';
import { dayMs, type Period, splitIntoBuckets } from './dates.ts';

export interface FunnelPlan extends WalkedFunnel {
  kind: 'FunnelsQuery';
  breakdown: BreakdownPlan;
  series: EventsNode[];
  period: Period;
}

type FunnelsFilter = NonNullable<FunnelsQuery['funnelsFilter']>;

const unitsMs = { second: 1000, minute: 60_000, hour: 3_600_000, day: dayMs, week: 7 * dayMs, month: 30 * dayMs };
const usualWindow = 14;

export function planFunnel(query: FunnelsQuery, context: PlanContext): FunnelPlan {
  const { series, funnelsFilter: filter = {}, interval = 'day' } = query;
  const { exclusions = [], funnelVizType: shows = 'steps', funnelOrderType: order = 'ordered' } = filter;
  refuse(filter, series);
  rejectSqlMath(series);
  const breakdown = planBreakdowns(query.breakdownFilter, context, { allowsNames: true });
  if (breakdown.bins.some((count) => count !== null))
    throw createQueryError('breakdownFilter', 'Funnels do not support bins for a numeric breakdown.');
  const count = filter.funnelWindowInterval ?? 0;
  return {
    kind: 'FunnelsQuery',
    shows,
    order,
    breakdown,
    series,
    windowMs: (count > 0 ? count : usualWindow) * unitsMs[filter.funnelWindowIntervalUnit ?? 'day'],
    fromStep: filter.funnelFromStep ?? 0,
    toStep: filter.funnelToStep ?? series.length - 1,
    binCount: filter.binCount ?? null,
    attribution: attributionOf(filter, series),
    exclusions: exclusions.map(({ funnelFromStep: from, funnelToStep: to }) => ({ from, to })),
    optional: series.flatMap(({ optionalInFunnel }, at) => (optionalInFunnel ? [at] : [])),
    ...planStoreQuery(query, { context, breakdown, isStrict: order === 'strict', interval }),
  };
}

function planStoreQuery(
  query: FunnelsQuery,
  {
    context,
    breakdown,
    isStrict,
    interval,
  }: { context: PlanContext; breakdown: BreakdownPlan; isStrict: boolean; interval: Period['interval'] },
): { period: Period; storeQuery: FunnelStoreQuery } {
  const period = splitIntoBuckets(resolveQueryRange(query, interval, context), interval, context.clock);
  const filters = readQueryFilters(query, context);
  const step = (node: EventsNode, path: string): FunnelStep => stepOf(node, { path, filters, to: period.to, context });
  const steps = query.series.map((node, at) => step(node, `series.${at}`));
  const exclusions = (query.funnelsFilter?.exclusions ?? []).map((node, at) =>
    step({ ...node, math: 'total' }, `funnelsFilter.exclusions.${at}`),
  );
  const all = [...steps, ...exclusions];
  // A strict funnel reads all events, because any event between two steps ends an attempt.
  const names =
    isStrict || all.some(({ event }) => event === null) ? null : [...new Set(all.map(({ event }) => event ?? ''))];
  const isAny: Condition = isStrict || all.every(isWithoutFilter) ? { all: [] } : { any: all.map(asCondition) };
  const where = combineConditions(filters, isAny);
  const select = { ...createSelection({}, { where, range: period, context }), events: names };
  return {
    period,
    storeQuery: {
      select,
      actorType: readActorType(query),
      steps,
      exclusions,
      breakdowns: breakdown.breakdowns,
      second: query.funnelsFilter?.funnelOrderType === 'unordered' ? null : secondOf(query.series),
    },
  };
}

/**
 * Returns the indexes of the steps that can come second: the optional steps that directly follow the first step, and
 * the next required step.
 */
function secondOf(series: EventsNode[]): number[] {
  const needed = series.findIndex(({ optionalInFunnel }, at) => at > 0 && optionalInFunnel !== true);
  const end = needed === -1 ? series.length : needed + 1;
  return series.map((_, at) => at).slice(1, end);
}

const isWithoutFilter = ({ where }: FunnelStep) => 'all' in where && where.all.length === 0;

function asCondition({ event, where }: FunnelStep): Condition {
  if (event === null) return where;
  return combineConditions({ property: { of: 'column', key: 'event' }, test: { is: 'equal', values: [event] } }, where);
}

interface StepContext {
  path: string;
  filters: Condition;
  to: number;
  context: PlanContext;
}

function stepOf(node: EventsNode, { path, filters, to, context }: StepContext): FunnelStep {
  const where = readNodeFilters(node, path, context);
  const event = node.event ?? null;
  const named = { projectId: context.settings.projectId, events: event === null ? null : [event], to };
  const everything: Condition = { all: [] };
  switch (node.math) {
    case 'first_time_for_user':
      return { event, where, first: { ...named, where: everything } };
    case 'first_matching_event_for_user':
    case 'first_time_for_user_with_filters':
      return { event, where, first: { ...named, where: combineConditions(filters, where) } };
    default:
      return { event, where, first: null };
  }
}

function attributionOf(
  { breakdownAttributionType: by = 'first_touch', breakdownAttributionValue: step = 0 }: FunnelsFilter,
  series: EventsNode[],
): FunnelPlan['attribution'] {
  if (by !== 'step') return { by };
  if (step < 0 || step >= series.length)
    throw createQueryError('funnelsFilter.breakdownAttributionValue', 'The funnel has no step with this index.');
  return { by, step };
}

/** Rejects invalid combinations, in the order that clients expect. */
function refuse(filter: FunnelsFilter, series: EventsNode[]): void {
  const { funnelFromStep: from, funnelToStep: to, exclusions = [], funnelOrderType: order } = filter;
  const last = series.length - 1;
  const no = (field: string, detail: string, code: string) => createQueryError(`funnelsFilter.${field}`, detail, code);
  const badRange = (field: string, detail: string) => no(field, detail, 'funnel_step_range_invalid');
  if (from !== undefined && (from < 0 || from > last - 1)) {
    throw badRange('funnelFromStep', `funnelFromStep is out of bounds. It must be between 0 and ${last - 1}.`);
  }
  if (to !== undefined && (to < 1 || to > last)) {
    throw badRange('funnelToStep', `funnelToStep is out of bounds. It must be between 1 and ${last}.`);
  }
  if (from !== undefined && to !== undefined && from >= to) {
    throw badRange('funnelToStep', 'Funnel step range is invalid. funnelToStep should be greater than funnelFromStep.');
  }
  exclusions.forEach((exclusion, at) => {
    const bad = (detail: string) => no(`exclusions.${at}`, detail, 'funnel_exclusions_invalid');
    const { funnelFromStep: start, funnelToStep: end } = exclusion;
    if (start >= end) throw bad('Exclusion event range is invalid. End of range should be greater than start.');
    if (start >= last || start < 0)
      throw bad('Exclusion event range is invalid. Start of range is greater than number of steps.');
    if (end > last) throw bad('Exclusion event range is invalid. End of range is greater than number of steps.');
    if (series.slice(start, end + 1).some((step) => holds(exclusion, step))) {
      throw bad("Exclusion steps cannot contain an event that's part of funnel steps.");
    }
    if (exclusion.optionalInFunnel)
      throw createQueryError(`funnelsFilter.exclusions.${at}.optionalInFunnel`, 'Exclusions cannot be optional.');
  });
  refuseOptional(filter, series);
  if (order !== 'unordered') return;
  const partial = exclusions.findIndex(({ funnelFromStep: start, funnelToStep: end }) => start > 0 || end < last);
  if (partial >= 0) {
    const detail = 'Partial Exclusions not allowed in unordered funnels';
    throw no(`exclusions.${partial}`, detail, 'funnel_exclusions_invalid');
  }
  if (filter.breakdownAttributionType === 'step' && (filter.breakdownAttributionValue ?? 0) !== 0) {
    throw no(
      'breakdownAttributionValue',
      'Only the first step can be used for breakdown attribution in unordered funnels',
      'invalid_input',
    );
  }
}

function refuseOptional(
  { funnelOrderType: order, funnelVizType: shows = 'steps' }: FunnelsFilter,
  series: EventsNode[],
) {
  series.forEach((step, at) => {
    if (!step.optionalInFunnel) return;
    const bad = (detail: string) =>
      createQueryError(`series.${at}.optionalInFunnel`, detail, 'funnel_optional_steps_invalid');
    if (order === 'unordered') throw bad('Optional steps are not supported in unordered funnels.');
    if (shows !== 'steps') throw bad(`Optional steps are only supported if funnelVizType is steps, not ${shows}.`);
    if (at === 0) throw bad('The first step of a funnel cannot be optional.');
    const next = series.slice(at + 1).find(({ optionalInFunnel }) => !optionalInFunnel);
    if (next !== undefined && nodeKey(next) === nodeKey(step))
      throw bad('An optional step cannot be the same as the next required step.');
  });
}

const nodeKey = ({ event, properties = [] }: EventsNode) => JSON.stringify([event, properties]);

/** Returns true if every event of the step also matches the exclusion. */
function holds(exclusion: EventsNode, step: EventsNode): boolean {
  if (exclusion.event !== undefined && exclusion.event !== step.event) return false;
  const filters = JSON.stringify(exclusion.properties ?? []);
  return filters === '[]' || filters === JSON.stringify(step.properties ?? []);
}
