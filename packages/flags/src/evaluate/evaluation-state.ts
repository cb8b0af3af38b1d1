// The state of one evaluation, and the limits on its cost.

import type { CompiledFlags } from '../compile/compiled.ts';
import type { EvaluationContext } from './context.ts';
import type { FlagFailure, FlagResult } from './flag-result.ts';
import { createPropertyValues, type PropertyValues } from './property-values.ts';

/** Whether a filter or cohort matches, or why this cannot be determined. */
export type Outcome = boolean | FlagFailure;

export interface Evaluation {
  flags: CompiledFlags;
  context: EvaluationContext;
  values: PropertyValues;
  results: Map<number, FlagResult>;
  membership: Map<number, Outcome>;
  /** Number of steps taken so far (see `spendSteps`). */
  steps: number;
  maxSteps: number;
}

export function createEvaluationState(
  flags: CompiledFlags,
  context: EvaluationContext,
  results: readonly FlagResult[] = [],
): Evaluation {
  return {
    flags,
    context,
    values: createPropertyValues(flags, context),
    results: new Map(results.map((result) => [result.id, result])),
    membership: new Map(),
    steps: 0,
    maxSteps: 0,
  };
}

/** Negates an outcome. Does not change an outcome that could not be determined. */
export function negateOutcome(outcome: Outcome): Outcome {
  return typeof outcome === 'boolean' ? !outcome : outcome;
}

/**
 * Limits on the cost of an evaluation. Any client may send a value of a megabyte, and a project may have hundreds of
 * thousands of filters. These must not block the process, even in combination. The cost is counted in steps and not
 * measured as time, so that the same request always has the same result. 80,000 steps take about a millisecond.
 */
export const stepLimits = {
  /** An evaluation with up to this many steps costs little more than receiving the request. */
  cheap: 80_000,
  /** The number of steps that each flag is always allowed: enough to evaluate a rollout. */
  least: 100,
  /** The limit for a single flag or cohort. This many steps take about 40 ms, after which other requests can run. */
  each: 3_200_000,
  /** The limit that all flags in a request share. This many steps take about 100 ms. */
  whole: 8_000_000,
};

/** Counts steps before they are taken. @returns false if the steps would exceed the limit and must not be taken */
export function spendSteps(evaluation: Evaluation, steps: number): boolean {
  const spent = evaluation.steps + steps;
  if (spent > evaluation.maxSteps) return false;
  evaluation.steps = spent;
  return true;
}
