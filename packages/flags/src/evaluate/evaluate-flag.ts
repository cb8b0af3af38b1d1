import type { CompiledFlag } from '../compile/compiled.ts';
import { holdoutBucketingId, isHeldOut } from './bucketing.ts';
import { evaluateConditions } from './evaluate-conditions.ts';
import { evaluateEnrollment } from './evaluate-enrollment.ts';
import type { Evaluation } from './evaluation.ts';
import { type FlagFailure, type FlagReason, type FlagResult, reason } from './flag-result.ts';

/** One flag, step by step: what it depends on, early access, holdout, conditions. The first that decides ends it. */
export function evaluateFlag(flag: CompiledFlag, evaluation: Evaluation): FlagResult {
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
