// Feature flag evaluation: determines each flag's value for one person, in a limited number of steps.

import type { CompiledFlag, CompiledFlags } from '../compile/compiled.ts';
import { runSteps, type Steps } from '../steps.ts';
import { findHoldoutBucketingId, isHeldOut } from './bucketing.ts';
import { evaluateCondition, evaluateConditions } from './conditions.ts';
import type { EvaluationContext } from './context.ts';
import { createEvaluationState, type Evaluation, stepLimits } from './evaluation-state.ts';
import { createReason, type FlagFailure, type FlagReason, type FlagResult } from './flag-result.ts';
import { missing, unavailable } from './property-values.ts';

export interface EvaluatedFlags {
  results: FlagResult[];
  /** True if a flag could not be evaluated. Clients then keep the flag's previous value. */
  hasErrors: boolean;
}

/** An evaluation that can pause and resume. The limit in each call applies to all steps since the evaluation began. */
export interface FlagEvaluation {
  /** Evaluates flags until one needs more steps than allowed, and pauses before that flag. */
  upTo(maxSteps: number): Steps<EvaluatedFlags & { isComplete: boolean }>;
  /** Evaluates all remaining flags. Those that need more steps than allowed fail. */
  atMost(maxSteps: number): Steps<EvaluatedFlags>;
  steps(): number;
}

/**
 * Evaluates flags for a person. This is a pure function without any I/O: the same definitions and context give the same
 * results. It never throws, even for invalid definitions or requests.
 * @param selected the result of `selectFlags`, in which each flag follows its dependencies
 */
export function evaluateFlags(
  flags: CompiledFlags,
  selected: readonly CompiledFlag[],
  context: EvaluationContext,
): EvaluatedFlags {
  return runSteps(evaluateFlagsInSteps(flags, selected, context));
}

/** Like `evaluateFlags`, but yields after each flag, and after each pattern that it compiles. */
export function evaluateFlagsInSteps(
  flags: CompiledFlags,
  selected: readonly CompiledFlag[],
  context: EvaluationContext,
): Steps<EvaluatedFlags> {
  return startEvaluation(flags, selected, context).atMost(stepLimits.whole);
}

/** Like `evaluateFlags`, but the caller controls how many steps the evaluation may take. */
export function startEvaluation(
  flags: CompiledFlags,
  selected: readonly CompiledFlag[],
  context: EvaluationContext,
): FlagEvaluation {
  const evaluation = createEvaluationState(flags, context);
  const progress: Progress = { evaluation, selected, evaluated: 0, hasErrors: false };
  return {
    upTo: (maxSteps) => evaluateRest(progress, { maxSteps, isLast: false }),
    atMost: (maxSteps) => evaluateRest(progress, { maxSteps, isLast: true }),
    steps: () => evaluation.steps,
  };
}

interface Progress {
  evaluation: Evaluation;
  selected: readonly CompiledFlag[];
  evaluated: number;
  hasErrors: boolean;
}

/**
 * A generator function inside `startEvaluation` would be created again for each evaluation, which would make
 * evaluations 50 % slower.
 */
function* evaluateRest(
  progress: Progress,
  { maxSteps, isLast }: { maxSteps: number; isLast: boolean },
): Steps<EvaluatedFlags & { isComplete: boolean }> {
  const { evaluation, selected } = progress;
  const { results } = evaluation;
  for (let flag = selected[progress.evaluated]; flag !== undefined; flag = selected[progress.evaluated]) {
    if (flag.needs.patterns.length > 0) yield* compilePatterns(flag);
    const least = isLast ? evaluation.steps + stepLimits.least : 0;
    evaluation.maxSteps = Math.max(least, Math.min(maxSteps, evaluation.steps + stepLimits.each));
    const result = evaluateFlag(flag, evaluation);
    if (result.failure === 'timeout' && !isLast) {
      // The flag before which the evaluation paused is evaluated from the start, so discard partly evaluated cohorts.
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

/**
 * Evaluates one flag in this order: dependencies, early access, holdout, conditions. The first of these that determines
 * a value ends the evaluation.
 */
function evaluateFlag(flag: CompiledFlag, evaluation: Evaluation): FlagResult {
  if (flag.brokenDependency !== null) return off(flag, createReason('missing_dependency'));
  if (flag.needs.hashKeyOverride && evaluation.context.stored.hashKeyOverrides === 'unavailable') {
    return failed(flag, 'hash_key_override_error');
  }

  const enrolled = evaluateEnrollment(flag, evaluation);
  if (typeof enrolled === 'string') return failed(flag, enrolled);
  if (enrolled !== null) {
    const decided = enrolled ? on : off;
    return { ...decided(flag, createReason('super_condition_value', 0)), payload: flag.payloads.get('true') ?? null };
  }

  const { holdout } = flag;
  const holdoutId = holdout && findHoldoutBucketingId(flag, evaluation);
  if (holdout !== null && holdoutId !== null && isHeldOut(holdout.percentage, holdoutId)) {
    return on(flag, createReason('holdout_condition_value'), holdout.variant);
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
  return { ...off(flag, createReason(failure)), failure };
}

/**
 * Returns whether the person has opted in (true) or out (false). Returns null if the person has not chosen, or if the
 * flag is not an early access flag.
 */
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
