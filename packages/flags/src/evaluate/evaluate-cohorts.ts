import type { CompiledFlags } from '../compile/compiled.ts';
import type { EvaluationContext } from './context.ts';
import type { Outcome } from './evaluation.ts';
import { isCohortMember } from './is-cohort-member.ts';
import { propertyValues } from './property-values.ts';

/**
 * Whether somebody belongs to each of some cohorts, or why nobody can say: the same answer that a flag's filter gets. Pure,
 * as `evaluateFlags` is.
 */
export function evaluateCohorts(
  flags: CompiledFlags,
  cohortIds: readonly number[],
  context: EvaluationContext,
): Outcome[] {
  const values = propertyValues(flags, context);
  const evaluation = { flags, context, values, results: new Map(), membership: new Map<number, Outcome>(), steps: 0 };
  return cohortIds.map((id) => isCohortMember(id, evaluation));
}
