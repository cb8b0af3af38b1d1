import type { CompiledCondition, CompiledFilter, CompiledFlag, CompiledFlags } from '../compile/compiled.ts';
import { bucketHash } from '../evaluate/bucket-hash.ts';
import { bucketingId, holdoutBucketingId, rolloutHash, variantHash } from '../evaluate/bucketing.ts';
import type { EvaluationContext } from '../evaluate/context.ts';
import { type ConditionOutcome, evaluateCondition } from '../evaluate/evaluate-condition.ts';
import type { EvaluatedFlags } from '../evaluate/evaluate-flags.ts';
import type { Evaluation, Outcome } from '../evaluate/evaluation.ts';
import { propertyValues } from '../evaluate/property-values.ts';
import { testCohort, testFilter } from '../evaluate/test-filter.ts';
import { groupSource, type PropertySource, personSource } from './property-source.ts';

/** How a flag came to be what it is for somebody. Holds no values of properties, only where they came from. */
export interface FlagExplanation {
  /** What was hashed for rollouts of the flag as a whole, not the id itself. */
  hashed: 'distinct_id' | 'device_id' | 'group';
  holdout: { percentage: number; hash: number | null; isHeldOut: boolean } | null;
  /** Early access: the properties that a choice was looked for in. */
  enrollment: PropertySource[] | null;
  /** All of them, also those behind the one that decided. */
  conditions: ConditionExplanation[];
  /** Null where the request does not say what to hash, and for flags without variants. */
  variantHash: number | null;
}

export interface ConditionExplanation {
  outcome: ConditionOutcome['kind'];
  filters: FilterExplanation[];
  /** The hash is null where nothing was said to hash. */
  rollout: { percentage: number; hash: number | null };
}

export type FilterExplanation = { outcome: Outcome } & (
  | ({ about: 'person' | 'group' } & PropertySource & { key: string })
  | { about: 'flag' | 'cohort'; id: number }
  | { about: 'nothing' }
);

/**
 * Explains one flag. Everything is looked at, so it costs more than the evaluation; pure like it.
 * @param evaluated results of an evaluation in the same context, with the flag and all it depends on.
 */
export function explainFlag(
  flags: CompiledFlags,
  flag: CompiledFlag,
  { context, results }: { context: EvaluationContext } & Pick<EvaluatedFlags, 'results'>,
): FlagExplanation {
  const evaluation: Evaluation = {
    flags,
    context,
    values: propertyValues(flags, context),
    results: new Map(results.map((result) => [result.id, result])),
    membership: new Map(),
    steps: 0,
  };
  const id = bucketingId(flag, flag.aggregation, evaluation);
  return {
    hashed: flag.aggregation !== null ? 'group' : flag.bucketsBy,
    holdout: explainHoldout(flag, evaluation),
    enrollment: explainEnrollment(flag, context),
    conditions: flag.conditions.map((condition) => explainCondition(flag, condition, evaluation)),
    variantHash: id === null || flag.variants.length === 0 ? null : variantHash(flag, id),
  };
}

function explainHoldout(flag: CompiledFlag, evaluation: Evaluation): FlagExplanation['holdout'] {
  const { holdout } = flag;
  if (holdout === null) return null;
  const id = holdoutBucketingId(flag, evaluation);
  const hash = id === null ? null : bucketHash('holdout-', id);
  const { percentage } = holdout;
  return { percentage, hash, isHeldOut: hash !== null && (percentage === 100 || hash <= percentage / 100) };
}

function explainEnrollment({ enrollment }: CompiledFlag, context: EvaluationContext): PropertySource[] | null {
  if (enrollment === null) return null;
  const properties = enrollment.kind === 'property' ? [enrollment.property] : enrollment.properties;
  return properties.map((property) => personSource(property, context));
}

function explainCondition(
  flag: CompiledFlag,
  condition: CompiledCondition,
  evaluation: Evaluation,
): ConditionExplanation {
  const id = bucketingId(flag, condition.aggregation, evaluation);
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
    rollout: { percentage: condition.rolloutPercentage, hash: id === null ? null : rolloutHash(flag, id) },
  };
}

function explainFilter(filter: CompiledFilter, evaluation: Evaluation): FilterExplanation {
  const outcome = testFilter(filter, evaluation);
  switch (filter.kind) {
    case 'property': {
      const { key, groupType } = filter;
      const { flags, context } = evaluation;
      if (groupType === null) return { about: 'person', key, ...personSource(key, context), outcome };
      const typeName = flags.groupTypes.get(groupType);
      return { about: 'group', key, ...groupSource(key, { groupType, typeName }, context), outcome };
    }
    case 'flag':
      return { about: 'flag', id: filter.flagId, outcome };
    case 'never':
      return { about: 'nothing', outcome };
  }
}
