import type { JsonObject } from '@millrace/contracts';
import { type EvaluatedFlags, type FlagResult, flagValue } from '@millrace/flags';
import { isAppError } from '@millrace/runtime';
import { type Refusal, toRefusal } from '../answer/send-answer.ts';
import type { AnswerShape } from './question.ts';

interface FlagAnswer extends EvaluatedFlags {
  requestId: string;
  evaluatedAt: number;
  /** The plan's requests of this month are used up. */
  isQuotaLimited: boolean;
  /** Flags that are left out because the request does not say where it comes from. */
  withheld: number;
}

/** The answer in the shape that was asked for. The order of the flags in it means nothing. */
export function flagAnswer(shape: AnswerShape, answer: FlagAnswer): JsonObject {
  const { requestId, evaluatedAt, isQuotaLimited, withheld } = answer;
  return {
    ...inShape(shape, answer),
    requestId,
    evaluatedAt,
    ...(isQuotaLimited ? { quotaLimited: ['feature_flags'] } : {}),
    ...(withheld > 0 ? { flagsWithheld: { count: withheld, reason: withheldReason } } : {}),
  };
}

/** For developers who look at the response: SDKs ignore the field. */
const withheldReason =
  'These flags are only for clients or only for servers, and the User-Agent header does not show whether a client or a server sent the request. Set `evaluation_runtime` to client, server or all.';

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
      // Not by assignment: a flag may be called `__proto__`.
      const flags = Object.fromEntries(results.map((result) => [result.key, detailsOf(result)]));
      return { flags, errorsWhileComputingFlags: hasErrors };
    }
    case 'typed': {
      const flags = Object.fromEntries(results.map((result) => [result.key, typedOf(result)]));
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

/**
 * A record of `/flags?v=4`: `value` and `failed` are always there, and a flag that failed has no value. The fields of earlier
 * versions stay for clients that read them.
 */
function typedOf(result: FlagResult): JsonObject {
  const { metadata, ...record } = detailsOf(result);
  const failed = result.failure !== null;
  return {
    ...record,
    value: failed ? null : flagValue(result),
    failed,
    metadata: { ...(metadata as JsonObject), config_version: 1, variant_key: result.variant },
  };
}

/**
 * What SDKs know of refusals on the paths of flags: other codes than those of capture, the same statuses.
 * @param allow the methods a path takes.
 */
export function toFlagRefusal(allow: string): (error: unknown) => Refusal {
  return (error) => {
    const refusal = inFlagWords(error);
    if (!isAppError(error, 'method_not_allowed')) return refusal;
    return { ...refusal, headers: { ...refusal.headers, allow } };
  };
}

function inFlagWords(error: unknown): Refusal {
  const refusal = toRefusal(error);
  const words = wordsOf(error);
  if (words === null) return refusal;
  const { detail } = JSON.parse(refusal.body) as { detail: string };
  const body = { type: words.type, code: words.code, detail: words.detail ?? detail, attr: null };
  return { ...refusal, code: words.code, body: JSON.stringify(body) };
}

function wordsOf(error: unknown): { type: string; code: string; detail?: string } | null {
  if (isAppError(error, 'unauthenticated')) {
    const isMissing = error.code === 'missing_api_key' || error.code === 'unauthenticated';
    return { type: 'authentication_error', code: isMissing ? 'not_authenticated' : 'authentication_failed' };
  }
  if (isAppError(error, 'rate_limited')) {
    return { type: 'validation_error', code: 'rate_limit_exceeded', detail: 'Rate limit exceeded' };
  }
  if (isAppError(error, 'payment_required')) return { type: 'quota_limited', code: 'payment_required' };
  return null;
}
