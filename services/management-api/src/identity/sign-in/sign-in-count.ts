// Maintains the metric `millrace_sign_ins_total`, which counts sign-in attempts by method and outcome.

import { isAppError, type Metrics } from '@millrace/runtime';

export type SignInMethod = 'password' | 'passkey' | 'link' | 'second_factor' | 'provider';

/**
 * Counts a sign-in attempt by its outcome.
 * @param outcomeOfResult returns the outcome if `work` succeeds. The default is `signed_in`. Null means that the
 *   sign-in continues and will be counted later.
 */
export type SignInCount = <T>(
  way: SignInMethod,
  work: () => Promise<T>,
  outcomeOfResult?: (result: T) => SignInOutcome | null,
) => Promise<T>;
export type SignInOutcome = 'signed_in' | 'second_factor_wanted';

export function createSignInCount(metrics: Metrics): SignInCount {
  const counter = metrics.counter('millrace_sign_ins_total', 'Sign-in attempts, by method and outcome', [
    'way',
    'outcome',
  ]);
  return async (way, work, outcomeOfResult = () => 'signed_in') => {
    const result = await work().catch((error: unknown) => {
      counter.inc({ way, outcome: outcomeOf(error) });
      throw error;
    });
    const outcome = outcomeOfResult(result);
    if (outcome !== null) counter.inc({ way, outcome });
    return result;
  };
}

function outcomeOf(error: unknown): string {
  if (!isAppError(error)) return 'failed';
  if (error.code === '2fa_required') return 'second_factor_wanted';
  if (error.kind === 'rate_limited' || error.code === 'too_many_failed_attempts') return 'throttled';
  return error.kind === 'invalid' ? 'refused' : 'failed';
}
