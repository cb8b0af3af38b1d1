import type { PropertyFilter } from '../compile/compiled.ts';
import type { Evaluation, Outcome } from './evaluation.ts';
import { missing, unavailable } from './property-values.ts';
import { spendSteps } from './spend-steps.ts';

/** Of a value that would take too long to look at nothing is said, neither that it is so nor that it is not. */
export function testProperty({ key, groupType, test }: PropertyFilter, evaluation: Evaluation): Outcome {
  const { values, context } = evaluation;
  const value = groupType === null ? values.person(key) : values.group(groupType, key);
  if (value === unavailable) return 'database_error';
  if (value === missing) return test.whenMissing;
  return spendSteps(value, test, evaluation) && test.matches(value, context.now);
}
