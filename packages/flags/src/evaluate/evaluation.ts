import type { CompiledFlags } from '../compile/compiled.ts';
import type { EvaluationContext } from './context.ts';
import type { FlagFailure, FlagResult } from './flag-result.ts';
import { type PropertyValues, propertyValues } from './property-values.ts';

/** Whether something matches, or why nobody can say. */
export type Outcome = boolean | FlagFailure;

/** One evaluation of several flags: what they share. */
export interface Evaluation {
  flags: CompiledFlags;
  context: EvaluationContext;
  values: PropertyValues;
  /** Results of the flags evaluated so far, by id. */
  results: Map<number, FlagResult>;
  /** Whether the person belongs to a cohort, as far as it was asked. */
  membership: Map<number, Outcome>;
  /** Steps taken so far, see `spendSteps`. */
  steps: number;
  /** At which the flag or cohort that is evaluated ends. */
  mostSteps: number;
}

export function createEvaluation(
  flags: CompiledFlags,
  context: EvaluationContext,
  results: readonly FlagResult[] = [],
): Evaluation {
  return {
    flags,
    context,
    values: propertyValues(flags, context),
    results: new Map(results.map((result) => [result.id, result])),
    membership: new Map(),
    steps: 0,
    mostSteps: 0,
  };
}

/** `outcome` the other way round; what nobody can say stays so. */
export function negate(outcome: Outcome): Outcome {
  return typeof outcome === 'boolean' ? !outcome : outcome;
}

/**
 * What an evaluation may cost. Anybody may ask with a value of a megabyte, and a project may have hundreds of thousands of
 * filters: together they must not keep a process from everything else. Counted and not timed, so that the same question has
 * the same answer; 80,000 steps are about a millisecond.
 */
export const stepLimits = {
  /** A request up to this costs little more than receiving it. */
  cheap: 80_000,
  /** Of one flag, whatever the others took: a rollout is always told. */
  least: 100,
  /** Of one flag or cohort: 40 ms, after which others are served. */
  each: 3_200_000,
  /** For all flags of a request: 100 ms. */
  whole: 8_000_000,
};

/** Counts steps that are about to be taken. @returns false where they would be too many: then they may not be taken. */
export function spendSteps(evaluation: Evaluation, steps: number): boolean {
  const spent = evaluation.steps + steps;
  if (spent > evaluation.mostSteps) return false;
  evaluation.steps = spent;
  return true;
}
