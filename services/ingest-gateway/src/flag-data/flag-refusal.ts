import { isAppError } from '@millrace/errors';
import { type Refusal, toRefusal } from '../answer/send-answer.ts';

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
