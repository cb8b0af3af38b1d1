import type { CompiledFlag, CompiledFlags } from '../compile/compiled.ts';
import { runSteps, type Steps } from '../steps.ts';
import { holdoutBucketingId, isHeldOut } from './bucketing.ts';
import { evaluateCondition, evaluateConditions } from './conditions.ts';
import type { EvaluationContext } from './context.ts';
import { createEvaluation, type Evaluation, stepLimits } from './evaluation.ts';
import { type FlagFailure, type FlagReason, type FlagResult, reason } from './flag-result.ts';
import { missing, unavailable } from './property-values.ts';

export interface EvaluatedFlags {
  /** One for each flag that was selected. */
  results: FlagResult[];
  /** Whether one of them could not be evaluated: clients keep what they had of it. */
  hasErrors: boolean;
}

/** An evaluation that continues where it was left, each time up to as many steps as it is given, counted from its beginning. */
export interface FlagEvaluation {
  /** It is left at the flag that the steps do not suffice for. */
  upTo(mostSteps: number): Steps<EvaluatedFlags & { isComplete: boolean }>;
  /** The flags that the steps do not suffice for have failed. */
  atMost(mostSteps: number): Steps<EvaluatedFlags>;
  /** Taken so far. */
  steps(): number;
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
export function evaluateFlagsInSteps(
  flags: CompiledFlags,
  selected: readonly CompiledFlag[],
  context: EvaluationContext,
): Steps<EvaluatedFlags> {
  return startEvaluation(flags, selected, context).atMost(stepLimits.whole);
}

/** The same for a caller who gives it its steps one after the other. */
export function startEvaluation(
  flags: CompiledFlags,
  selected: readonly CompiledFlag[],
  context: EvaluationContext,
): FlagEvaluation {
  const evaluation = createEvaluation(flags, context);
  const progress: Progress = { evaluation, selected, evaluated: 0, hasErrors: false };
  return {
    upTo: (mostSteps) => goOn(progress, { mostSteps, isLast: false }),
    atMost: (mostSteps) => goOn(progress, { mostSteps, isLast: true }),
    steps: () => evaluation.steps,
  };
}

interface Progress {
  evaluation: Evaluation;
  selected: readonly CompiledFlag[];
  /** How many of them are done. */
  evaluated: number;
  hasErrors: boolean;
}

/** Not a closure: a generator function that is made for each evaluation costs half of it again. */
function* goOn(
  progress: Progress,
  { mostSteps, isLast }: { mostSteps: number; isLast: boolean },
): Steps<EvaluatedFlags & { isComplete: boolean }> {
  const { evaluation, selected } = progress;
  const { results } = evaluation;
  for (let flag = selected[progress.evaluated]; flag !== undefined; flag = selected[progress.evaluated]) {
    if (flag.needs.patterns.length > 0) yield* compilePatterns(flag);
    const least = isLast ? evaluation.steps + stepLimits.least : 0;
    evaluation.mostSteps = Math.max(least, Math.min(mostSteps, evaluation.steps + stepLimits.each));
    const result = evaluateFlag(flag, evaluation);
    if (result.failure === 'timeout' && !isLast) {
      // Cohorts that were not done: the flag is evaluated from its beginning.
      evaluation.membership.clear();
      break;
    }
    results.set(flag.id, result);
    progress.hasErrors ||= result.failure !== null || flag.brokenDependency === 'cycle';
    progress.evaluated += 1;
    yield;
  }
  const isComplete = progress.evaluated === selected.length;
  return { results: [...results.values()], hasErrors: progress.hasErrors, isComplete };
}

function* compilePatterns({ needs }: CompiledFlag): Steps<void> {
  for (const pattern of needs.patterns) {
    if (pattern.isCompiled) continue;
    pattern.compiled();
    yield;
  }
}

/** One flag, step by step: what it depends on, early access, holdout, conditions. The first that decides ends it. */
function evaluateFlag(flag: CompiledFlag, evaluation: Evaluation): FlagResult {
  if (flag.brokenDependency !== null) return off(flag, reason('missing_dependency'));
  if (flag.needs.hashKeyOverride && evaluation.context.stored.hashKeyOverrides === 'unavailable') {
    return failed(flag, 'hash_key_override_error');
  }

  const enrolled = evaluateEnrollment(flag, evaluation);
  if (typeof enrolled === 'string') return failed(flag, enrolled);
  if (enrolled !== null) {
    const decided = enrolled ? on : off;
    return { ...decided(flag, reason('super_condition_value', 0)), payload: flag.payloads.get('true') ?? null };
  }

  const { holdout } = flag;
  const holdoutId = holdout && holdoutBucketingId(flag, evaluation);
  if (holdout !== null && holdoutId !== null && isHeldOut(holdout.percentage, holdoutId)) {
    return on(flag, reason('holdout_condition_value'), holdout.variant);
  }

  const outcome = evaluateConditions(flag, evaluation);
  switch (outcome.kind) {
    case 'failed':
      return failed(flag, outcome.failure);
    case 'match':
      return on(flag, outcome.reason, outcome.variant);
    case 'no_match':
      return off(flag, outcome.reason);
  }
}

function on({ id, key, version, payloads }: CompiledFlag, why: FlagReason, variant: string | null = null): FlagResult {
  const payload = payloads.get(variant ?? 'true') ?? null;
  return { id, key, version, enabled: true, variant, payload, reason: why, failure: null };
}

function off({ id, key, version }: CompiledFlag, why: FlagReason): FlagResult {
  return { id, key, version, enabled: false, variant: null, payload: null, reason: why, failure: null };
}

function failed(flag: CompiledFlag, failure: FlagFailure): FlagResult {
  return { ...off(flag, reason(failure)), failure };
}

/** Whether the person has chosen the feature, or refused it; null for somebody who has said nothing, or has nothing to choose. */
function evaluateEnrollment(flag: CompiledFlag, evaluation: Evaluation): boolean | null | FlagFailure {
  const { enrollment } = flag;
  if (enrollment === null) return null;
  if (enrollment.kind === 'property') {
    const value = evaluation.values.person(enrollment.property);
    if (value === unavailable) return 'database_error';
    return value === missing ? null : value.value === true || value.value === 'true';
  }
  const values = enrollment.properties.map((property) => evaluation.values.person(property));
  if (values.includes(unavailable)) return 'database_error';
  if (values.every((value) => value === missing)) return null;
  const outcome = evaluateCondition(flag, enrollment.condition, evaluation);
  return outcome.kind === 'failed' ? outcome.failure : outcome.kind === 'match';
}
