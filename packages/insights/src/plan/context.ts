// What a plan depends on in addition to the query: project settings and the current time. Planning is a pure function
// of the query and this context.

import type { ActorType, Breakdown, Condition, Property, Selection } from '../event-store/selection.ts';
import type { BreakdownFilter, EventsNode, Query } from '../query.ts';
import { createQueryError, type Interval, type PersonsMode } from '../query-parts.ts';
import type { StoredVariable } from '../sql-variables.ts';
import { type Cohort, type FilterContext, readFilters, readProperty } from './conditions.ts';
import { createClock, type Range, type RequestedRange, resolveRange } from './dates.ts';
import { createExpressionReader } from './expressions.ts';

export interface ProjectSettings {
  projectId: number;
  /** IANA name of the project time zone. */
  timezone: string;
  weekStart: number | null;
  testAccountFilters: unknown[];
  /** The project's `personsOnEventsMode`, which a query may override. */
  personsMode: PersonsMode | null;
  /** Whether a month is four weeks and a year is 52 weeks in comparisons. */
  comparesInWeeks: boolean;
  cohorts: ReadonlyMap<number, Cohort>;
  variables: readonly StoredVariable[];
}

export interface PlanContext extends FilterContext {
  settings: ProjectSettings;
  /** The boolean properties among the query's breakdowns, as keys from `buildPropertyKey`. */
  booleans: ReadonlySet<string>;
  /** Time of the first selected event if the range starts with that event, or null for other ranges. */
  earliest: number | null;
}

/** A query's modifiers that change its result. */
export interface Modifiers {
  personsOnEventsMode?: PersonsMode;
}

/** The mode that uses current person properties. All other modes use only the current person's ID. */
const currentProperties = 'person_id_override_properties_joined';

/** Returns a query's modifiers. The modifiers of a list of actors take precedence over those of its source insight. */
export function readModifiers(query: Query): { modifiers: Modifiers } {
  const source = 'source' in query ? query.source : undefined;
  return { modifiers: { ...source?.source.modifiers, ...source?.modifiers, ...query.modifiers } };
}

export function createPlanContext(
  query: { modifiers?: Modifiers | undefined },
  { settings, now, ...found }: Pick<PlanContext, 'settings' | 'earliest' | 'booleans'> & { now: number },
): PlanContext {
  const mode = query.modifiers?.personsOnEventsMode ?? settings.personsMode ?? currentProperties;
  return {
    settings,
    ...found,
    clock: createClock(settings.timezone, settings.weekStart, now),
    personsAsStored: mode !== currentProperties && mode !== 'disabled',
    cohorts: settings.cohorts,
  };
}

interface CommonFields {
  dateRange?: RequestedRange;
  properties?: unknown;
  filterTestAccounts?: boolean;
}

export function resolveQueryRange(
  query: CommonFields,
  interval: Interval,
  context: PlanContext,
  isExact = false,
): Range {
  return resolveRange(query.dateRange ?? {}, { interval, clock: context.clock, earliest: context.earliest, isExact });
}

/** Translates the query's filters and, if requested, the filters for test accounts. */
export function readQueryFilters({ properties, filterTestAccounts }: CommonFields, context: PlanContext): Condition {
  const own = readFilters(properties, 'properties', context);
  if (!filterTestAccounts || context.settings.testAccountFilters.length === 0) return own;
  return combineConditions(own, readFilters(context.settings.testAccountFilters, 'test_account_filters', context));
}

export function combineConditions(...conditions: Condition[]): Condition {
  const parts = conditions.flatMap((one) => ('all' in one ? one.all : [one]));
  const [only] = parts;
  return parts.length === 1 && only !== undefined ? only : { all: parts };
}

export function readNodeFilters(
  { properties, fixedProperties }: { properties?: unknown; fixedProperties?: unknown },
  path: string,
  context: PlanContext,
): Condition {
  return combineConditions(
    readFilters(properties, `${path}.properties`, context),
    readFilters(fixedProperties, `${path}.fixedProperties`, context),
  );
}

export function createSelection(
  node: Pick<EventsNode, 'event'>,
  { where, range, context }: { where: Condition; range: { from: number; to: number }; context: PlanContext },
): Selection {
  return {
    projectId: context.settings.projectId,
    events: node.event === undefined ? null : [node.event],
    from: range.from,
    to: range.to,
    where,
  };
}

/** Rejects `math: hogql` in queries that can only count actors. */
export function rejectSqlMath(series: readonly Pick<EventsNode, 'math'>[]): void {
  const at = series.findIndex(({ math }) => math === 'hogql');
  if (at >= 0) throw createQueryError(`series.${at}.math`, '`hogql` is only supported in a TrendsQuery.');
}

/** Returns a query's actor type. All of its series must count the same type. */
export function readActorType({
  aggregation_group_type_index: index,
}: {
  aggregation_group_type_index?: number;
}): ActorType {
  return index === undefined ? { of: 'person' } : { of: 'group', index };
}

type BreakdownProperty = NonNullable<BreakdownFilter['breakdowns']>[number];

/**
 * Returns a unique key for a property.
 * @param index the index of the group type, or -1 if it is not a group property
 */
export const buildPropertyKey = (type: string, index: number, name: string) => `${type} ${index} ${name}`;

export interface BreakdownPlan {
  breakdowns: Breakdown[];
  /** The number of numeric bins for each breakdown, or null for a breakdown without bins. */
  bins: (number | null)[];
  /** Whether the values in the result are lists. */
  isList: boolean;
  limit: number;
  hidesOther: boolean;
}

const usualLimit = 25;

/**
 * Plans a query's breakdowns.
 * @param allowsNames whether `breakdown` may be a list of names
 */
export function planBreakdowns(
  filter: BreakdownFilter | undefined,
  context: PlanContext,
  { allowsNames = false, limit = usualLimit }: { allowsNames?: boolean; limit?: number } = {},
): BreakdownPlan {
  const plan: BreakdownPlan = {
    breakdowns: [],
    bins: [],
    isList: false,
    limit: filter?.breakdown_limit ?? limit,
    hidesOther: filter?.breakdown_hide_other_aggregation ?? false,
  };
  const listed = filter?.breakdowns ?? [];
  const add = (one: BreakdownProperty, path: string, pathOfText: string) => {
    const { property, type = 'event', group_type_index: index } = one;
    plan.breakdowns.push({
      property:
        type === 'hogql'
          ? expressionProperty(property, pathOfText, context)
          : readProperty({ type, key: property, index }, { path, reading: context }),
      isUrl: one.normalize_url ?? false,
      isBoolean: context.booleans.has(buildPropertyKey(type, index ?? -1, property)),
      bins: null,
    });
    plan.bins.push(one.histogram_bin_count ?? null);
  };
  if (listed.length > 0) {
    for (const [at, one] of listed.entries())
      add(one, `breakdownFilter.breakdowns.${at}`, `breakdownFilter.breakdowns.${at}.property`);
    return { ...plan, isList: true };
  }
  if (filter?.breakdown === undefined) return plan;
  if (Array.isArray(filter.breakdown) && !allowsNames)
    throw createQueryError('breakdownFilter.breakdown', 'Expected the name of a single property.');
  for (const [at, property] of [filter.breakdown].flat().entries()) {
    const path = Array.isArray(filter.breakdown) ? `breakdownFilter.breakdown.${at}` : 'breakdownFilter.breakdown';
    const { breakdown_type: type, breakdown_group_type_index: index } = filter;
    const breakdownProperty = {
      property,
      ...(type && { type }),
      ...(index !== undefined && { group_type_index: index }),
    };
    const url = filter.breakdown_normalize_url === undefined ? {} : { normalize_url: filter.breakdown_normalize_url };
    const count = filter.breakdown_histogram_bin_count;
    add(
      { ...breakdownProperty, ...url, ...(count !== undefined && { histogram_bin_count: count }) },
      'breakdownFilter',
      path,
    );
  }
  return plan;
}

function expressionProperty(text: string, path: string, context: PlanContext): Property {
  return { of: 'column', key: 'expression', expression: createExpressionReader(context, path)(text, 'value', path) };
}
