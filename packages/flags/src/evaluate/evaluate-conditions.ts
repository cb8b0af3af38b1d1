import type { CompiledFlag } from '../compile/compiled.ts';
import { evaluateCondition } from './evaluate-condition.ts';
import type { Evaluation } from './evaluation.ts';
import { type FlagFailure, type FlagReason, reason } from './flag-result.ts';

export type ConditionsOutcome =
  | { kind: 'match'; variant: string | null; reason: FlagReason }
  | { kind: 'no_match'; reason: FlagReason }
  | { kind: 'failed'; failure: FlagFailure };

/** Of several reasons why nothing matched, the one nearest to a match is told; the later condition of two alike. */
const nearness = { no_group_type: 1, no_condition_match: 2, out_of_rollout_bound: 3 };

/** The condition sets in their order; the first that matches wins. */
export function evaluateConditions(flag: CompiledFlag, evaluation: Evaluation): ConditionsOutcome {
  let nearest: keyof typeof nearness = 'no_group_type';
  let nearestIndex: number | null = null;
  let groupsWereSkipped = false;
  for (const [index, condition] of flag.conditions.entries()) {
    const outcome = evaluateCondition(flag, condition, evaluation);
    switch (outcome.kind) {
      case 'failed':
        return outcome;
      case 'match':
        return { kind: 'match', variant: outcome.variant, reason: reason('condition_match', index) };
      case 'out_of_rollout_bound':
        if (flag.exitsEarly && outcome.isRolloutMiss) return { kind: 'no_match', reason: reason(outcome.kind, index) };
        break;
      case 'no_group_type':
        groupsWereSkipped = true;
        break;
      case 'no_condition_match':
        break;
    }
    if (nearness[outcome.kind] >= nearness[nearest]) {
      nearest = outcome.kind;
      nearestIndex = index;
    }
  }
  const isNoted = groupsWereSkipped && nearest === 'no_condition_match';
  return { kind: 'no_match', reason: reason(nearest, nearestIndex, { groupsWereSkipped: isNoted }) };
}
