import type { CompiledFlag } from '../compile/compiled.ts';
import { evaluateCondition } from './evaluate-condition.ts';
import type { Evaluation } from './evaluation.ts';
import type { FlagFailure } from './flag-result.ts';
import { missing, unavailable } from './property-values.ts';

/** Whether the person has chosen the feature, or refused it; null for somebody who has said nothing, or has nothing to choose. */
export function evaluateEnrollment(flag: CompiledFlag, evaluation: Evaluation): boolean | null | FlagFailure {
  const { enrollment } = flag;
  if (enrollment === null) return null;
  if (enrollment.kind === 'property') {
    const value = evaluation.values.person(enrollment.property);
    if (value === unavailable) return 'database_error';
    return value === missing ? null : value === true || value === 'true';
  }
  const values = enrollment.properties.map((property) => evaluation.values.person(property));
  if (values.includes(unavailable)) return 'database_error';
  if (values.every((value) => value === missing)) return null;
  const outcome = evaluateCondition(flag, enrollment.condition, evaluation);
  return outcome.kind === 'failed' ? outcome.failure : outcome.kind === 'match';
}
