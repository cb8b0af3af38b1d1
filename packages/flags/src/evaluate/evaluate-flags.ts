import type { CompiledFlag, CompiledFlags } from '../compile/compiled.ts';
import { runSteps, type Steps } from '../steps.ts';
import type { EvaluationContext } from './context.ts';
import { evaluateFlag } from './evaluate-flag.ts';
import type { Evaluation } from './evaluation.ts';
import type { FlagResult } from './flag-result.ts';
import { propertyValues } from './property-values.ts';

export interface EvaluatedFlags {
  /** One for each flag that was selected. */
  results: FlagResult[];
  /** Whether one of them could not be evaluated: clients keep what they had of it. */
  hasErrors: boolean;
}

/**
 * What each flag is for somebody. Pure: the same definitions and context give the same results, and nothing is read or
 * written. Never throws for what definitions or requests hold.
 * @param selected of `selectFlags`: each behind what it depends on
 */
export function evaluateFlags(
  flags: CompiledFlags,
  selected: readonly CompiledFlag[],
  context: EvaluationContext,
): EvaluatedFlags {
  return runSteps(evaluateFlagsInSteps(flags, selected, context));
}

/** The same, a step for each flag, and for each pattern that is met for the first time. */
export function* evaluateFlagsInSteps(
  flags: CompiledFlags,
  selected: readonly CompiledFlag[],
  context: EvaluationContext,
): Steps<EvaluatedFlags> {
  const evaluation: Evaluation = {
    flags,
    context,
    values: propertyValues(flags, context),
    results: new Map(),
    membership: new Map(),
    steps: 0,
  };
  let hasErrors = false;
  for (const flag of selected) {
    yield* compilePatterns(flag);
    const result = evaluateFlag(flag, evaluation);
    evaluation.results.set(flag.id, result);
    hasErrors ||= result.failure !== null || flag.brokenDependency === 'cycle';
    yield;
  }
  return { results: [...evaluation.results.values()], hasErrors };
}

function* compilePatterns({ needs }: CompiledFlag): Steps<void> {
  for (const pattern of needs.patterns) {
    if (pattern.isCompiled) continue;
    pattern.compiled();
    yield;
  }
}
