import type { CompiledFlags } from '../compile/compiled.ts';
import type { EvaluationContext } from './context.ts';
import type { FlagFailure, FlagResult } from './flag-result.ts';
import type { PropertyValues } from './property-values.ts';

/** Whether something matches, or why nobody can say. */
export type Outcome = boolean | FlagFailure;

/** One evaluation of several flags: what they share. */
export interface Evaluation {
  flags: CompiledFlags;
  context: EvaluationContext;
  values: PropertyValues;
  /** Of the flags evaluated so far, by id. */
  results: Map<number, FlagResult>;
  /** Whether the person belongs to a cohort, as far as it was asked. */
  membership: Map<number, Outcome>;
  /** Steps that looking at long values took so far, see `spendSteps`. */
  steps: number;
}

/** `outcome` the other way round; what nobody can say stays so. */
export function negate(outcome: Outcome): Outcome {
  return typeof outcome === 'boolean' ? !outcome : outcome;
}
