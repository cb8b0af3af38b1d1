import type { CompiledCondition, CompiledFlag } from '../compile/compiled.ts';
import { bucketingId, isWithinRollout, variantByHash } from './bucketing.ts';
import type { Evaluation, Outcome } from './evaluation.ts';
import type { FlagFailure } from './flag-result.ts';
import { testCohort, testFilter } from './test-filter.ts';

export type ConditionOutcome =
  | { kind: 'match'; variant: string | null }
  /** `isRolloutMiss`: the filters matched and the rollout did not; false where there was no device id to hash. */
  | { kind: 'out_of_rollout_bound'; isRolloutMiss: boolean }
  | { kind: 'no_condition_match' }
  | { kind: 'no_group_type' }
  | { kind: 'failed'; failure: FlagFailure };

/** One condition set: who is hashed, then the filters, then the rollout, then the variant. */
export function evaluateCondition(
  flag: CompiledFlag,
  condition: CompiledCondition,
  evaluation: Evaluation,
): ConditionOutcome {
  const id = bucketingId(flag, condition.aggregation, evaluation);
  if (id === null) {
    return condition.aggregation === null
      ? { kind: 'out_of_rollout_bound', isRolloutMiss: false }
      : { kind: 'no_group_type' };
  }
  const matched = testFilters(condition, evaluation);
  if (matched === false) return { kind: 'no_condition_match' };
  if (matched !== true) return { kind: 'failed', failure: matched };
  if (!isWithinRollout(flag, condition.rolloutPercentage, id)) {
    return { kind: 'out_of_rollout_bound', isRolloutMiss: true };
  }
  return { kind: 'match', variant: variantOf(flag, condition, id) };
}

/** All of them; the first that does not match, or that nobody can answer, ends it. */
function testFilters({ filters, cohortFilters }: CompiledCondition, evaluation: Evaluation): Outcome {
  for (const filter of filters) {
    const outcome = testFilter(filter, evaluation);
    if (outcome !== true) return outcome;
  }
  for (const filter of cohortFilters) {
    const outcome = testCohort(filter, evaluation);
    if (outcome !== true) return outcome;
  }
  return true;
}

/** A variant that the flag does not have is as none. */
function variantOf(flag: CompiledFlag, { variant }: CompiledCondition, id: string): string | null {
  const isDeclared = variant !== null && flag.variants.some(({ key }) => key === variant);
  return isDeclared ? variant : variantByHash(flag, id);
}
