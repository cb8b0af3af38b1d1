// Plans an ActorsQuery, which lists the persons or groups that a number in an insight counts.

import { nullLabel, otherLabel } from '../breakdown-labels.ts';
import type { ActorsOrder, ActorsSource, ActorsStoreQuery, LifecycleStatus } from '../event-store/queries.ts';
import type { ActorType, Condition } from '../event-store/selection.ts';
import type { FunnelPoint } from '../event-store/walked-funnel.ts';
import type { ActorsQuery, FunnelsActorsQuery, InsightActorsQuery, TrendsQuery } from '../query.ts';
import { createQueryError } from '../query-parts.ts';
import { readFilters } from './conditions.ts';
import { type BreakdownPlan, combineConditions, type PlanContext } from './context.ts';
import { addIntervals, parseMoment } from './dates.ts';
import { createExpressionReader, type PlannedExpression } from './expressions.ts';
import { type FunnelPlan, planFunnel } from './funnel.ts';
import { planLifecycle } from './lifecycle.ts';
import { planRetention } from './retention.ts';
import { planTrends } from './trends.ts';

export interface ActorsColumn {
  text: string;
  /** The SQL expression to compute, or null for columns that Millrace provides. */
  expression: PlannedExpression | null;
}

export interface ActorsPlan {
  kind: 'ActorsQuery';
  columns: ActorsColumn[];
  actorType: ActorType;
  limit: number;
  offset: number;
  source:
    | { funnel: false; storeQuery: ActorsStoreQuery }
    | { funnel: true; plan: FunnelPlan; point: FunnelPoint; order: ActorsOrder[] };
}

const usualLimit = 100;

const personColumns = ['person', 'id', 'person.$delete', 'event_distinct_ids'];
const groupColumns = ['group', 'id'];
const knownColumns = new Set([
  'actor',
  'person',
  'group',
  'id',
  'person.$delete',
  'event_distinct_ids',
  'event_count',
  'matched_recordings',
  'created_at',
  'person_display_name',
]);

export function planActors(query: ActorsQuery, context: PlanContext): ActorsPlan {
  const { limit = usualLimit, offset = 0, source, select, orderBy = [] } = query;
  const where = personFilters(query, context);
  const { projectId } = context.settings;
  const funnel = source?.kind === 'FunnelsActorsQuery' ? planFunnelPoint(source, where, context) : null;
  const actorsSource: ActorsSource | null =
    source === undefined
      ? { kind: 'persons', query: { projectId, where } }
      : source.kind === 'FunnelsActorsQuery'
        ? null
        : planPoint(source, where, context);
  const actorType: ActorType =
    actorsSource === null ? (funnel?.plan.storeQuery.actorType ?? { of: 'person' }) : actorTypeOf(actorsSource);
  const usual =
    actorType.of === 'group'
      ? groupColumns
      : source?.source.kind === 'TrendsQuery'
        ? personColumns
        : personColumns.slice(0, 3);
  const columns = (select ?? usual).map((text, at) => columnOf(text, { path: `select.${at}`, actorType, context }));
  const has = (name: string) => columns.findIndex(({ text, expression }) => expression === null && text === name);
  if (source === undefined && has('event_count') >= 0)
    throw createQueryError(`select.${has('event_count')}`, '`event_count` requires a `source`.');
  const order = orderBy.map((text, at) => orderOf(text, columns, { path: `orderBy.${at}`, actorType, context }));
  const usualOrder: ActorsOrder = {
    by: has('created_at') >= 0 || source === undefined ? 'created_at' : 'events',
    isDescending: true,
  };
  const inOrder = order.length > 0 ? order : [usualOrder];
  const found = { kind: 'ActorsQuery', columns, actorType, limit, offset } as const;
  if (actorsSource !== null) {
    const page = { limit: limit + 1, offset };
    const expressions = columns.flatMap(({ expression }) => expression ?? []);
    const storeQuery = { source: actorsSource, actorType, projectId, columns: expressions, order: inOrder, ...page };
    return { ...found, source: { funnel: false, storeQuery } };
  }
  if (funnel === null) throw new Error('The plan of an actors query has neither a funnel nor another source.');
  const ofSql = columns.findIndex(({ expression }) => expression !== null);
  if (ofSql >= 0) throw createQueryError(`select.${ofSql}`, 'SQL expressions are not supported for funnel actors.');
  const ofRecords = order.findIndex(({ by }) => by !== 'events' && by !== 'id');
  if (ofRecords >= 0)
    throw createQueryError(`orderBy.${ofRecords}`, 'Funnel actors can only be ordered by id or event_count.');
  return { ...found, source: { funnel: true, ...funnel, order } };
}

const orderColumns: Record<string, Exclude<ActorsOrder['by'], object>> = {
  id: 'id',
  person: 'id',
  actor: 'id',
  group: 'id',
  event_count: 'events',
  created_at: 'created_at',
  person_display_name: 'name',
};

interface Placed {
  path: string;
  actorType: ActorType;
  context: PlanContext;
}

function columnOf(given: string, place: Placed): ActorsColumn {
  const name = given.replace(/\s+--.*$/, '').trim();
  if (knownColumns.has(name)) return { text: name, expression: null };
  return { text: given, expression: expressionOf(given, 'column', place) };
}

function orderOf(text: string, columns: readonly ActorsColumn[], place: Placed): ActorsOrder {
  const [, name = '', direction = 'ASC'] = /^([\s\S]*?)(?:\s+(ASC|DESC))?$/i.exec(text.trim()) ?? [];
  const alias = columns.find(({ expression }) => expression?.alias === name)?.expression;
  const known = Object.hasOwn(orderColumns, name) ? orderColumns[name] : undefined;
  const by = alias ?? known ?? expressionOf(name, 'order', place);
  return { by, isDescending: direction.toUpperCase() === 'DESC' };
}

/** Parses an SQL expression that is computed for each listed person. */
function expressionOf(text: string, use: 'column' | 'order', { path, actorType, context }: Placed): PlannedExpression {
  if (actorType.of === 'group') throw createQueryError(path, 'SQL expressions are not supported for groups.');
  return createExpressionReader(context, path)(text, use, path, 'persons');
}

function actorTypeOf(source: ActorsSource): ActorType {
  if (source.kind === 'persons') return { of: 'person' };
  return source.kind === 'series' ? source.actorType : source.query.actorType;
}

/** Plans a query for the persons whose events another query reads. @throws AppError if the source counts groups */
export function planPersons(source: InsightActorsQuery, context: PlanContext): ActorsSource {
  const actorsSource = planPoint(source, { all: [] }, context);
  if (actorTypeOf(actorsSource).of === 'group')
    throw createQueryError('source', 'The source must return persons, not groups.');
  return actorsSource;
}

/** Plans the person filters. They test the current person, so either all or none of a person's events match. */
function personFilters({ properties, fixedProperties, search }: ActorsQuery, context: PlanContext): Condition {
  const ofNow = { ...context, personsAsStored: false, isOfPersons: true };
  const own = combineConditions(
    readFilters(properties, 'properties', ofNow),
    readFilters(fixedProperties, 'fixedProperties', ofNow),
  );
  const text = search?.trim() ?? '';
  if (text === '') return own;
  const containing = { is: 'containing' as const, text };
  const found: Condition[] = [
    ...['email', 'name'].map((key) => ({ property: { of: 'person' as const, key }, test: containing })),
    { property: { of: 'column', key: 'person_id' }, test: containing },
    { anyDistinctId: containing },
  ];
  return combineConditions(own, { any: found });
}

function planPoint(query: InsightActorsQuery, where: Condition, context: PlanContext): ActorsSource {
  const { source } = query;
  switch (source.kind) {
    case 'TrendsQuery':
      return planTrendsPoint(query, source, { where, context });
    case 'RetentionQuery': {
      const { storeQuery } = planRetention(source, context);
      if (query.interval === undefined)
        throw createQueryError('source.interval', 'This field is required for a retention query.');
      if (query.interval >= storeQuery.rows)
        throw createQueryError('source.interval', `The retention query has no row ${query.interval}.`);
      const select = { ...storeQuery.select, where: combineConditions(storeQuery.select.where, where) };
      return { kind: 'retention', query: { ...storeQuery, select }, row: query.interval };
    }
    case 'LifecycleQuery': {
      const { storeQuery, period } = planLifecycle(source, context);
      if (query.status === undefined)
        throw createQueryError('source.status', 'This field is required for a lifecycle query.');
      const bucket = period.edges.indexOf(dayOf(query, context));
      if (bucket < 0) throw createQueryError('source.day', 'No interval of the query starts at this time.');
      const select = { ...storeQuery.select, where: combineConditions(storeQuery.select.where, where) };
      return {
        kind: 'lifecycle',
        query: { ...storeQuery, select },
        bucket: bucket + 1,
        status: query.status as LifecycleStatus,
      };
    }
    default:
      return source satisfies never;
  }
}

function dayOf({ day }: InsightActorsQuery, { clock }: PlanContext): number {
  if (day === undefined) throw createQueryError('source.day', 'This field is required.');
  const moment = typeof day === 'number' ? null : parseMoment(day, clock);
  if (moment === null || moment.unit !== null)
    throw createQueryError('source.day', 'Expected the start of an interval.');
  return moment.instant;
}

function planTrendsPoint(
  query: InsightActorsQuery,
  source: TrendsQuery,
  { where, context }: { where: Condition; context: PlanContext },
): ActorsSource {
  const { series: at = 0, compare } = query;
  const { formula: _, formulas: __, formulaNodes: ___, ...trendsFilter } = source.trendsFilter ?? {};
  const plan = planTrends({ ...source, trendsFilter }, context);
  const [current, previous] = plan.periods;
  const selected = compare === 'previous' ? previous : current;
  const storeQuery = selected?.storeQueries[at];
  if (selected === undefined || current === undefined)
    throw createQueryError('source.compare', 'The query has no previous period. Set `compareFilter.compare` to true.');
  if (storeQuery === undefined) throw createQueryError('source.series', `The query has no series ${at}.`);
  const { measure } = storeQuery;
  const actorType: ActorType =
    measure.of === 'actors' && measure.actorType.of === 'group' ? measure.actorType : { of: 'person' };
  const { from, to } = pointRange();
  const ofValue = breakdownCondition(query, plan.breakdown);
  const select = { ...storeQuery.select, from, to, where: combineConditions(storeQuery.select.where, ofValue, where) };
  const isFirst = measure.of === 'actors' && measure.first !== null;
  const counted = isFirst
    ? { ...measure, actorType, first: measure.first && { ...measure.first, to } }
    : { of: 'actors' as const, actorType, once: false, first: null };
  return {
    kind: 'series',
    actorType,
    query: { ...storeQuery, select, measure: counted, windows: null, edges: [], breakdowns: [] },
  };

  function pointRange(): { from: number; to: number } {
    if (plan.isTotal) {
      if (query.day !== undefined)
        throw createQueryError('source.day', 'Not supported for a query that returns a total value. Leave `day` out.');
      return { from: storeQuery?.select.from ?? 0, to: storeQuery?.select.to ?? 0 };
    }
    const { clock } = context;
    const {
      interval,
      from: rangeFrom,
      to: rangeTo,
    } = selected?.period ?? current?.period ?? { interval: 'day' as const, from: 0, to: 0 };
    let day = dayOf(query, context);
    if (selected !== current && current !== undefined && selected !== undefined) {
      const gap = clock.zone.toWallTime(current.period.from) - clock.zone.toWallTime(selected.period.from);
      day = clock.zone.toInstant(clock.zone.toWallTime(day) - gap);
    }
    const end = addIntervals(interval, day, 1, clock);
    const days = { weekly_active: 7, monthly_active: 30 }[String(source.series[at]?.math)];
    if (days !== undefined) return { from: addIntervals('day', day, 1 - days, clock), to: end };
    const isCut = source.dateRange?.explicitDate === true;
    return isCut ? { from: Math.max(day, rangeFrom), to: Math.min(end, rangeTo) } : { from: day, to: end };
  }
}

/** Restricts events to a breakdown value. Adds no restriction for the label that stands for all other values. */
function breakdownCondition({ breakdown }: InsightActorsQuery, plan: BreakdownPlan): Condition {
  if (breakdown === undefined) return { all: [] };
  const values = [breakdown].flat().map(String);
  if (values.length !== plan.breakdowns.length)
    throw createQueryError('source.breakdown', `Expected ${plan.breakdowns.length} values.`);
  return combineConditions(...values.map((value, at) => valueCondition(value, at)));

  function valueCondition(value: string, at: number): Condition {
    const one = plan.breakdowns[at];
    if (one === undefined || value === otherLabel) return { all: [] };
    if (plan.bins[at] !== null && value !== nullLabel) return binCondition(value, one.property);
    if (/^[[{]/.test(value)) return { property: one.property, test: { is: 'equal', values: [value] } };
    return { breakdown: one, value: value === nullLabel ? null : value };
  }
  function binCondition(value: string, property: NonNullable<(typeof plan.breakdowns)[number]>['property']): Condition {
    const bounds = parseList(value);
    const [low, high] = bounds ?? [];
    if (bounds?.length === 2 && low === '' && high === '') return { all: [] };
    if (bounds?.length !== 2 || typeof low !== 'number' || typeof high !== 'number') {
      throw createQueryError('source.breakdown', 'Expected the bounds of a bin, such as [0,20].');
    }
    return {
      all: [
        { property, test: { is: 'number', than: '>=', value: low } },
        { property, test: { is: 'number', than: '<', value: high } },
      ],
    };
  }
}

function parseList(text: string): unknown[] | null {
  try {
    const value: unknown = JSON.parse(text);
    return Array.isArray(value) ? value : null;
  } catch {
    return null;
  }
}

function planFunnelPoint(
  query: FunnelsActorsQuery,
  where: Condition,
  context: PlanContext,
): { plan: FunnelPlan; point: FunnelPoint } {
  const planned = planFunnel(query.source, context);
  const { storeQuery } = planned;
  const plan = {
    ...planned,
    storeQuery: {
      ...storeQuery,
      select: { ...storeQuery.select, where: combineConditions(storeQuery.select.where, where) },
    },
  };
  const { funnelStepBreakdown: breakdown } = query;
  const values = breakdown === undefined ? null : [breakdown].flat().map(String);
  const all = values?.some((value) => value === 'Other') ? null : values;
  if (plan.shows !== 'trends') return { plan, point: { reached: reachedOf(query), values: all, entrance: null } };
  const start = query.funnelTrendsEntrancePeriodStart;
  const moment = start === undefined ? null : parseMoment(start, context.clock);
  if (moment === null)
    throw createQueryError('source.funnelTrendsEntrancePeriodStart', 'Expected the start of an interval.');
  const bucket = plan.period.edges.indexOf(moment.instant);
  const isConverted = query.funnelTrendsDropOff !== true;
  return { plan, point: { reached: { furthest: [] }, values: all, entrance: { bucket, isConverted } } };
}

function reachedOf({ funnelStep: step, funnelCustomSteps: steps }: FunnelsActorsQuery): FunnelPoint['reached'] {
  if (steps !== undefined && steps.length > 0) return { furthest: steps };
  if (step === undefined) throw createQueryError('source.funnelStep', 'This field is required.');
  if (step === 0 || step === -1)
    throw createQueryError(
      'source.funnelStep',
      'Expected a step number of 1 or above, or of -2 or below for actors who dropped off.',
    );
  return step > 0 ? { step, butNot: null } : { step: -step - 1, butNot: -step };
}
