import type { CohortFilter, CompiledFilter, FlagFilter } from '../compile/compiled.ts';
import { type Evaluation, negate, type Outcome } from './evaluation.ts';
import { flagValue } from './flag-result.ts';
import { isCohortMember } from './is-cohort-member.ts';
import { testProperty } from './test-property.ts';

export function testFilter(filter: CompiledFilter, evaluation: Evaluation): Outcome {
  switch (filter.kind) {
    case 'property':
      return testProperty(filter, evaluation);
    case 'flag':
      return testFlag(filter, evaluation);
    case 'never':
      return false;
  }
}

export function testCohort({ cohortId, isMember }: CohortFilter, evaluation: Evaluation): Outcome {
  const outcome = isCohortMember(cohortId, evaluation);
  return isMember ? outcome : negate(outcome);
}

/** A flag that is off, or not asked about here, is `false`; one that could not be evaluated is neither on nor off. */
function testFlag({ flagId, expected }: FlagFilter, { results }: Evaluation): Outcome {
  const result = results.get(flagId);
  if (result === undefined) return expected === false;
  if (result.failure !== null) return false;
  const value = flagValue(result);
  return typeof expected === 'boolean' ? (value !== false) === expected : value === expected;
}
