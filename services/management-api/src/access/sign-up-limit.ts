import type { KeyValue } from '@millrace/cache';
import { networkOf } from './guess-limit.ts';
import { createRateLimit, throttled } from './rate-limit.ts';

/** How often invites are asked for without a key, where nothing else holds a stranger back. */
export interface SignUpLimit {
  /** Counts a request, right or wrong. @throws AppError `rate_limited` for too many from there. */
  countRequest(address: string): Promise<void>;
  /**
   * Counts a request for an invite that did not have its secret, from wherever. Who has the secret is not counted, so
   * that nobody can shut out the one who was invited.
   * @throws AppError `rate_limited`.
   */
  countWrong(inviteId: string): Promise<void>;
}

/** @param perMinute requests of one address, and wrong ones for one invite; 0 = no limit. */
export function createSignUpLimit({ keyValue, perMinute }: { keyValue: KeyValue; perMinute: number }): SignUpLimit {
  const windows = [{ seconds: 60, limit: perMinute }];
  const ofAddress = createRateLimit({ keyValue, name: 'signup', windows });
  const ofInvite = createRateLimit({ keyValue, name: 'invite', windows });
  return {
    async countRequest(address) {
      refuse(await ofAddress.take(networkOf(address)));
    },
    async countWrong(inviteId) {
      refuse(await ofInvite.take(inviteId.toLowerCase()));
    },
  };
}

function refuse(wait: number | null): void {
  if (wait !== null) throw throttled(wait);
}
