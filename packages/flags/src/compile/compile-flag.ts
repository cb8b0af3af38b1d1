// Prepares one feature flag for evaluation: its conditions, variants and payloads.

import { isObject, parseRecordId } from '@millrace/contracts';
import type { FlagDefinition } from '../definitions.ts';
import type { TestOptions } from '../filters/value-operators.ts';
import { toComparableText } from '../values.ts';
import { compileCohortFilter, compileFilter, parseGroupTypeIndex, selectObjects } from './compile-filter.ts';
import {
  type CohortFilter,
  type CompiledCondition,
  type CompiledFilter,
  type CompiledFlag,
  type Enrollment,
  shareIfEmpty,
} from './compiled.ts';
import { noNeeds } from './flag-needs.ts';

/**
 * Compiles everything in a flag that does not depend on other flags or cohorts. `compileFlags` sets `brokenDependency`
 * and `needs` in the same object, because copying the object would take twice as much memory.
 */
export function compileFlag(flag: FlagDefinition, options: TestOptions): CompiledFlag {
  const filters = isObject(flag.filters) ? flag.filters : {};
  const aggregation = parseGroupTypeIndex(filters.aggregation_group_type_index);
  const conditions = conditionsOf(filters, flag.rollout_percentage).map((condition) =>
    compileCondition(condition, { flagAggregation: aggregation, options }),
  );
  return {
    id: flag.id,
    key: flag.key,
    version: flag.version ?? 0,
    runtime: runtimeOf(flag.evaluation_runtime),
    contexts: shareIfEmpty(flag.evaluation_contexts ?? []),
    enrollment: enrollmentOf(flag.key, filters, options),
    holdout: holdoutOf(filters.holdout),
    conditions,
    variants: shareIfEmpty(variantsOf(filters.multivariate)),
    payloads: payloadsOf(filters.payloads),
    aggregation,
    bucketsBy: flag.bucketing_identifier === 'device_id' ? 'device_id' : 'distinct_id',
    keepsExperience: flag.ensure_experience_continuity === true,
    exitsEarly: filters.early_exit === true,
    dependencies: shareIfEmpty(dependenciesOf(conditions)),
    brokenDependency: null,
    needs: noNeeds,
  };
}

/** Older flags have a single list of filters, and a separate column for the rollout. */
function conditionsOf(filters: Record<string, unknown>, rollout: unknown): Record<string, unknown>[] {
  if (Object.hasOwn(filters, 'groups')) return selectObjects(filters.groups);
  return [{ properties: filters.properties ?? [], rollout_percentage: rollout }];
}

function enrollmentOf(key: string, filters: Record<string, unknown>, options: TestOptions): Enrollment | null {
  if (filters.feature_enrollment === true) return { kind: 'property', property: `$feature_enrollment/${key}` };
  const [first] = selectObjects(filters.super_groups);
  if (first === undefined) return null;
  // A super condition always applies to the person, even if the flag's aggregation is a group type.
  const condition = compileCondition(
    { ...first, aggregation_group_type_index: null },
    { flagAggregation: null, options },
  );
  const properties = condition.filters.flatMap((filter) => (filter.kind === 'property' ? [filter.key] : []));
  return properties.length === 0 ? null : { kind: 'super_condition', properties, condition };
}

function holdoutOf(holdout: unknown): CompiledFlag['holdout'] {
  if (!isObject(holdout)) return null;
  const id = parseRecordId(holdout.id);
  const percentage = holdout.exclusion_percentage;
  if (id === undefined || typeof percentage !== 'number') return null;
  return { variant: `holdout-${id}`, percentage: Math.min(Math.max(percentage, 0), 100) };
}

/** Adds the shares one by one, as the SDKs do, because rounding affects which variant an ID at a boundary gets. */
function variantsOf(multivariate: unknown): { key: string; upTo: number }[] {
  let upTo = 0;
  const variants = isObject(multivariate) ? selectObjects(multivariate.variants) : [];
  return variants.flatMap(({ key, rollout_percentage: share }) => {
    if (typeof key !== 'string') return [];
    upTo += (typeof share === 'number' ? share : 0) / 100;
    return [{ key, upTo }];
  });
}

/** All flags without payloads share this map, which saves memory because most flags have no payloads. */
const noPayloads: ReadonlyMap<string, string> = new Map();

function payloadsOf(payloads: unknown): ReadonlyMap<string, string> {
  const entries = isObject(payloads) ? Object.entries(payloads) : [];
  if (entries.length === 0) return noPayloads;
  return new Map(entries.flatMap(([key, payload]) => (payload === null ? [] : [[key, toComparableText(payload)]])));
}

function runtimeOf(runtime: string | null | undefined): CompiledFlag['runtime'] {
  const name = runtime?.toLowerCase();
  return name === 'client' || name === 'server' ? name : 'all';
}

function dependenciesOf(conditions: readonly CompiledCondition[]): number[] {
  const ids = conditions.flatMap(({ filters }) => filters).flatMap((f) => (f.kind === 'flag' ? [f.flagId] : []));
  return [...new Set(ids)];
}

/**
 * Compiles one condition set of a flag.
 * @param flagAggregation the flag's group type, for conditions that do not set one. A condition that sets null applies
 * to the person.
 */
function compileCondition(
  condition: Record<string, unknown>,
  { flagAggregation, options }: { flagAggregation: number | null; options: TestOptions },
): CompiledCondition {
  const aggregation = Object.hasOwn(condition, 'aggregation_group_type_index')
    ? parseGroupTypeIndex(condition.aggregation_group_type_index)
    : flagAggregation;
  const filters: CompiledFilter[] = [];
  const cohortFilters: CohortFilter[] = [];
  for (const filter of filtersOf(condition)) {
    if (filter.type !== 'cohort') filters.push(compileFilter(filter, aggregation, options));
    else addCohortFilter(filter);
  }
  return {
    aggregation,
    filters: shareIfEmpty(filters),
    cohortFilters: shareIfEmpty(cohortFilters),
    rolloutPercentage: percentageOf(condition.rollout_percentage),
    variant: typeof condition.variant === 'string' ? condition.variant : null,
  };

  function addCohortFilter(filter: Record<string, unknown>): void {
    const compiled = compileCohortFilter(filter);
    if (compiled === null) filters.push({ kind: 'never' });
    else cohortFilters.push(compiled);
  }
}

/** A malformed filter matches nothing. If it were ignored, the condition would match everyone. */
function filtersOf({ properties }: Record<string, unknown>): Record<string, unknown>[] {
  if (properties === undefined || properties === null) return [];
  const filters = selectObjects(properties);
  const isWhole = Array.isArray(properties) && filters.length === properties.length;
  return isWhole ? filters : [{ type: 'unreadable' }];
}

/** A missing percentage includes everyone. A percentage of the wrong type includes no one. */
function percentageOf(value: unknown): number {
  if (value === undefined || value === null) return 100;
  return typeof value === 'number' ? value : -1;
}
