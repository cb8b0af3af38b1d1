import type { JsonObject } from '@millrace/contracts';
import { type EvaluatedFlags, type FlagResult, toFlagValue } from '@millrace/flags';
import { isAppError } from '@millrace/runtime';
import { type Refusal, toRefusal } from '../response/send-response.ts';
import type { ResponseShape } from './flag-request.ts';

interface FlagEvaluation extends EvaluatedFlags {
  requestId: string;
  evaluatedAt: number;
  isQuotaLimited: boolean;
  /**
   * The number of flags that were omitted because the request does not show whether the client is a browser or a
   * server.
   */
  withheld: number;
}

export function toFlagResponse(shape: ResponseShape, evaluation: FlagEvaluation): JsonObject {
  const { requestId, evaluatedAt, isQuotaLimited, withheld } = evaluation;
  return {
    ...inShape(shape, evaluation),
    requestId,
    evaluatedAt,
    ...(isQuotaLimited ? { quotaLimited: ['feature_flags'] } : {}),
    ...(withheld > 0 ? { flagsWithheld: { count: withheld, reason: withheldReason } } : {}),
  };
}

/** A hint for developers whose flags are missing. SDKs ignore this field. */
const withheldReason =
  'These flags are only for clients or only for servers, and the User-Agent header does not show whether a client or a server sent the request. Set `evaluation_runtime` to client, server or all.';

function inShape(shape: ResponseShape, { results, hasErrors }: EvaluatedFlags): JsonObject {
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
      // A flag may be named `__proto__`, so do not assign the fields individually.
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
  return Object.fromEntries(results.map((result) => [result.key, toFlagValue(result)]));
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
 * Returns a flag for the response of `/flags?v=4`. `value` and `failed` are always present, and a failed flag's value
 * is null. The fields of earlier versions are included for older clients.
 */
function typedOf(result: FlagResult): JsonObject {
  const { metadata, ...record } = detailsOf(result);
  const failed = result.failure !== null;
  return {
    ...record,
    value: failed ? null : toFlagValue(result),
    failed,
    metadata: { ...(metadata as JsonObject), config_version: 1, variant_key: result.variant },
  };
}

/**
 * Creates error responses for the flag paths, which use the same status codes as event paths but different error codes.
 * @param allow the methods that the path supports
 */
export function toFlagRefusal(allow: string): (error: unknown) => Refusal {
  return (error) => {
    const refusal = withFlagCodes(error);
    if (!isAppError(error, 'method_not_allowed')) return refusal;
    return { ...refusal, headers: { ...refusal.headers, allow } };
  };
}

function withFlagCodes(error: unknown): Refusal {
  const refusal = toRefusal(error);
  const known = flagErrorOf(error);
  if (known === null) return refusal;
  const { detail } = JSON.parse(refusal.body) as { detail: string };
  const body = { type: known.type, code: known.code, detail: known.detail ?? detail, attr: null };
  return { ...refusal, code: known.code, body: JSON.stringify(body) };
}

function flagErrorOf(error: unknown): { type: string; code: string; detail?: string } | null {
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
