import type { JsonObject } from '@millrace/contracts';
import { type EvaluatedFlags, type FlagResult, flagValue } from '@millrace/flags';
import type { AnswerShape } from './flag-query.ts';

export interface FlagAnswer extends EvaluatedFlags {
  requestId: string;
  evaluatedAt: number;
  /** The plan's requests of this month are used up. */
  isQuotaLimited: boolean;
}

/** The answer in the shape that was asked for. The order of the flags in it means nothing. */
export function flagAnswer(shape: AnswerShape, answer: FlagAnswer): JsonObject {
  const { requestId, evaluatedAt, isQuotaLimited } = answer;
  return {
    ...inShape(shape, answer),
    requestId,
    evaluatedAt,
    ...(isQuotaLimited ? { quotaLimited: ['feature_flags'] } : {}),
  };
}

function inShape(shape: AnswerShape, { results, hasErrors }: EvaluatedFlags): JsonObject {
  switch (shape) {
    case 'keys':
      return { featureFlags: results.filter(isOn).map(({ key }) => key) };
    case 'on':
      return { featureFlags: valuesOf(results.filter(isOn)) };
    case 'values':
      return {
        featureFlags: valuesOf(results),
        featureFlagPayloads: payloadsOf(results),
        errorsWhileComputingFlags: hasErrors,
      };
    case 'details': {
      const flags: JsonObject = {};
      for (const result of results) flags[result.key] = detailsOf(result);
      return { flags, errorsWhileComputingFlags: hasErrors };
    }
  }
}

function isOn({ enabled }: FlagResult): boolean {
  return enabled;
}

function valuesOf(results: readonly FlagResult[]): JsonObject {
  return Object.fromEntries(results.map((result) => [result.key, flagValue(result)]));
}

function payloadsOf(results: readonly FlagResult[]): JsonObject {
  return Object.fromEntries(
    results.flatMap(({ key, enabled, payload }) => (enabled && payload !== null ? [[key, payload]] : [])),
  );
}

function detailsOf({ key, id, version, enabled, variant, payload, reason, failure }: FlagResult): JsonObject {
  return {
    key,
    enabled,
    variant,
    ...(failure === null ? {} : { failed: true }),
    reason: { code: reason.code, condition_index: reason.conditionIndex, description: reason.description },
    metadata: { id, version, description: null, payload },
  };
}
