// Explains a flag's value for a person, with the result of each condition and filter.

import { isObject } from '@millrace/contracts';
import type { CompiledCondition, CompiledFilter, CompiledFlag, CompiledFlags } from '../compile/compiled.ts';
import {
  computeBucketHash,
  computeRolloutHash,
  computeVariantHash,
  findBucketingId,
  findHoldoutBucketingId,
} from '../evaluate/bucketing.ts';
import { type ConditionOutcome, evaluateCondition, testCohort, testFilter } from '../evaluate/conditions.ts';
import type { EvaluationContext } from '../evaluate/context.ts';
import type { EvaluatedFlags } from '../evaluate/evaluate-flags.ts';
import { createEvaluationState, type Evaluation, type Outcome, stepLimits } from '../evaluate/evaluation-state.ts';
import { findCurrentProperty, readGroupKey } from '../evaluate/property-values.ts';

/** The explanation of a flag's value for a person. Contains the sources of property values, but not the values. */
export interface FlagExplanation {
  /** Which ID is hashed for rollouts. The explanation does not contain the ID itself. */
  hashed: 'distinct_id' | 'device_id' | 'group';
  holdout: { percentage: number; hash: number | null; isHeldOut: boolean } | null;
  /** The properties that may contain the person's choice about an early access flag, or null for any other flag. */
  enrollment: PropertySource[] | null;
  /** All conditions, including those after the condition that decided the result. */
  conditions: ConditionExplanation[];
  /** The hash that determines the variant, or null for a flag without variants or without an ID to hash. */
  variantHash: number | null;
}

export interface ConditionExplanation {
  outcome: ConditionOutcome['kind'];
  filters: FilterExplanation[];
  /** `hash` is null if the request does not contain an ID to hash. */
  rollout: { percentage: number; hash: number | null };
}

export type FilterExplanation = { outcome: Outcome } & (
  | ({ about: 'person' | 'group' } & PropertySource & { key: string })
  | { about: 'flag' | 'cohort'; id: number }
  | { about: 'nothing' }
);

/** Unlike an evaluation, an explanation tests all filters, so its limit is higher. */
const maxSteps = 4 * stepLimits.whole;

/**
 * Creates a pure function that explains one flag at a time. Filters beyond the step limit are reported as undetermined.
 * @param evaluated the results of the flags and all their dependencies, from an evaluation with the same context
 */
export function createExplainer(
  flags: CompiledFlags,
  { context, results }: { context: EvaluationContext } & Pick<EvaluatedFlags, 'results'>,
): (flag: CompiledFlag) => FlagExplanation {
  const evaluation = createEvaluationState(flags, context, results);
  return (flag) => {
    evaluation.maxSteps = Math.min(maxSteps, evaluation.steps + stepLimits.each);
    return explainFlag(flag, evaluation);
  };
}

function explainFlag(flag: CompiledFlag, evaluation: Evaluation): FlagExplanation {
  const { context } = evaluation;
  const id = findBucketingId(flag, flag.aggregation, evaluation);
  return {
    hashed: flag.aggregation !== null ? 'group' : flag.bucketsBy,
    holdout: explainHoldout(flag, evaluation),
    enrollment: explainEnrollment(flag, context),
    conditions: flag.conditions.map((condition) => explainCondition(flag, condition, evaluation)),
    variantHash: id === null || flag.variants.length === 0 ? null : computeVariantHash(flag, id),
  };
}

function explainHoldout(flag: CompiledFlag, evaluation: Evaluation): FlagExplanation['holdout'] {
  const { holdout } = flag;
  if (holdout === null) return null;
  const id = findHoldoutBucketingId(flag, evaluation);
  const hash = id === null ? null : computeBucketHash('holdout-', id);
  const { percentage } = holdout;
  return { percentage, hash, isHeldOut: hash !== null && (percentage === 100 || hash <= percentage / 100) };
}

function explainEnrollment({ enrollment }: CompiledFlag, context: EvaluationContext): PropertySource[] | null {
  if (enrollment === null) return null;
  const properties = enrollment.kind === 'property' ? [enrollment.property] : enrollment.properties;
  return properties.map((property) => findPersonPropertySource(property, context));
}

function explainCondition(
  flag: CompiledFlag,
  condition: CompiledCondition,
  evaluation: Evaluation,
): ConditionExplanation {
  const id = findBucketingId(flag, condition.aggregation, evaluation);
  return {
    outcome: evaluateCondition(flag, condition, evaluation).kind,
    filters: [
      ...condition.filters.map((filter) => explainFilter(filter, evaluation)),
      ...condition.cohortFilters.map((filter) => ({
        about: 'cohort' as const,
        id: filter.cohortId,
        outcome: testCohort(filter, evaluation),
      })),
    ],
    rollout: { percentage: condition.rolloutPercentage, hash: id === null ? null : computeRolloutHash(flag, id) },
  };
}

function explainFilter(filter: CompiledFilter, evaluation: Evaluation): FilterExplanation {
  const outcome = testFilter(filter, evaluation);
  switch (filter.kind) {
    case 'property': {
      const { key, groupType } = filter;
      const { flags, context } = evaluation;
      if (groupType === null) return { about: 'person', key, ...findPersonPropertySource(key, context), outcome };
      const typeName = flags.groupTypes.get(groupType);
      return { about: 'group', key, ...findGroupPropertySource(key, { groupType, typeName }, context), outcome };
    }
    case 'flag':
      return { about: 'flag', id: filter.flagId, outcome };
    case 'never':
      return { about: 'nothing', outcome };
  }
}

/** The source of a property's value. `PropertyValues` returns the value itself. */
interface PropertySource {
  source: 'request' | 'distinct_id' | 'group_key' | 'stored' | 'missing' | 'unavailable';
  /** The property that the filter names, or the current property that replaces a missing initial property. */
  property: string;
}

type Sources = Pick<EvaluationContext, 'personProperties' | 'groupProperties' | 'groups' | 'stored'>;

export function findPersonPropertySource(key: string, context: Sources): PropertySource {
  const own = ownPersonSource(key, context);
  if (own !== 'missing') return { source: own, property: key };
  const current = findCurrentProperty(key);
  const standsIn = current === undefined ? 'missing' : ownPersonSource(current, context);
  return current === undefined || standsIn === 'missing'
    ? { source: 'missing', property: key }
    : { source: standsIn, property: current };
}

function ownPersonSource(key: string, { personProperties, stored }: Sources): PropertySource['source'] {
  if (Object.hasOwn(personProperties, key)) return 'request';
  if (key === 'distinct_id') return 'distinct_id';
  return storedSource(stored.personProperties, key);
}

/**
 * Returns the source of a group property's value.
 * @param typeName the name of the group type, or undefined if the type does not exist
 */
export function findGroupPropertySource(
  key: string,
  { groupType, typeName }: { groupType: number; typeName: string | undefined },
  { groupProperties, groups, stored }: Sources,
): PropertySource {
  const ownKey = readGroupKey(groups, typeName);
  if (key === '$group_key' && ownKey !== null) return { source: 'group_key', property: key };
  const sent =
    typeName !== undefined && Object.hasOwn(groupProperties, typeName) ? groupProperties[typeName] : undefined;
  if (isObject(sent) && Object.hasOwn(sent, key)) return { source: 'request', property: key };
  if (ownKey === null) return { source: 'missing', property: key };
  const { groupProperties: all } = stored;
  return { source: storedSource(all === 'unavailable' ? all : (all.get(groupType) ?? {}), key), property: key };
}

function storedSource(properties: Record<string, unknown> | 'unavailable', key: string): PropertySource['source'] {
  if (properties === 'unavailable') return 'unavailable';
  return Object.hasOwn(properties, key) ? 'stored' : 'missing';
}
