import { explainFlag, type FlagResult, flagValue } from '@millrace/flags';
import type { EvaluatedFor } from './evaluate-flags-for.ts';

/** Of the explanations in one answer together. */
const mostBytes = 2 * 1024 * 1024;

export interface EvaluationReason {
  value: boolean | string;
  evaluation: { reason: string; condition_index: number | null; description: string };
  explanation: Record<string, unknown> | null;
}

/** What every flag is and why, by its key. @param inactiveKeys flags that are turned off. */
export function evaluationReasons(
  evaluated: EvaluatedFor,
  inactiveKeys: readonly string[],
): Record<string, EvaluationReason> {
  let bytes = 0;
  const active = evaluated.results.map((result): [string, EvaluationReason] => {
    const explanation = bytes < mostBytes ? explained(result, evaluated) : null;
    bytes += JSON.stringify(explanation).length;
    const { code, conditionIndex, description } = result.reason;
    const evaluation = { reason: code, condition_index: conditionIndex, description };
    return [result.key, { value: flagValue(result), evaluation, explanation }];
  });
  const disabled = { reason: 'disabled', condition_index: null, description: 'Feature flag is disabled' };
  const inactive = inactiveKeys.map((key): [string, EvaluationReason] => [
    key,
    { value: false, evaluation: disabled, explanation: null },
  ]);
  return Object.fromEntries([...active, ...inactive]);
}

/** In the names of the API. */
function explained({ key }: FlagResult, evaluated: EvaluatedFor): Record<string, unknown> | null {
  const flag = evaluated.flags.byKey.get(key);
  if (flag === undefined) return null;
  const { variantHash, holdout, ...explanation } = explainFlag(evaluated.flags, flag, evaluated);
  return {
    ...explanation,
    holdout: holdout && { percentage: holdout.percentage, hash: holdout.hash, is_held_out: holdout.isHeldOut },
    variant_hash: variantHash,
  };
}
