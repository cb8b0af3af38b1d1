import { isAppError, type Metrics } from '@millrace/runtime';

export type SignInWay = 'password' | 'passkey' | 'link' | 'second_factor' | 'provider';

/** Counts how a try to sign in ended, whatever comes of it. */
export type SignInCount = <T>(way: SignInWay, work: () => Promise<T>) => Promise<T>;

export function createSignInCount(metrics: Metrics): SignInCount {
  const counter = metrics.counter('millrace_sign_ins_total', 'Tries to sign in, by the way and how they ended', [
    'way',
    'outcome',
  ]);
  return async (way, work) => {
    try {
      const result = await work();
      counter.inc({ way, outcome: 'signed_in' });
      return result;
    } catch (error) {
      counter.inc({ way, outcome: outcomeOf(error) });
      throw error;
    }
  };
}

function outcomeOf(error: unknown): string {
  if (!isAppError(error)) return 'failed';
  if (error.code === '2fa_required') return 'second_factor_wanted';
  if (error.kind === 'rate_limited' || error.code === 'too_many_failed_attempts') return 'throttled';
  return error.kind === 'invalid' ? 'refused' : 'failed';
}
