import type { CompiledTest } from '../filters/value-test.ts';
import { textForm } from '../values/text-form.ts';
import type { Evaluation } from './evaluation.ts';

/** So much is 100 ms. */
const maxSteps = 8_000_000;
/** Short values cost less than counting is worth: only how many filters there are bounds them. */
const freeSteps = 1000;

/**
 * Whether a test may still look at a value. Anybody may ask with a value of a megabyte, and a project may have thousands of
 * filters: together they must not keep a process from everything else. Counted and not timed, so that the same question has
 * the same answer.
 */
export function spendSteps(value: unknown, test: CompiledTest, evaluation: Evaluation): boolean {
  const isLong = typeof value === 'string' || (typeof value === 'object' && value !== null);
  if (!isLong) return true;
  const steps = test.stepsFor(textForm(value).length);
  if (steps <= freeSteps) return true;
  evaluation.steps += steps;
  return evaluation.steps <= maxSteps;
}
