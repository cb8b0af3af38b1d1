// Rate limits for sign-in and for unauthenticated requests (docs/api/README.md#rate-limits).

import { hashSecret } from '@millrace/accounts/access';
import { AppError } from '@millrace/runtime';
import type { KeyValueStore } from '@millrace/runtime/cache';
import { createRateLimit, createThrottledError, toNetwork } from './rate-limit.ts';

export interface SignInLimits {
  /**
   * Counts a sign-in attempt before the password is checked, so that concurrent attempts are counted too.
   * @param account the entered email address, whether or not it has an account
   * @param device a device on which the account has signed in before. The device has its own counter, so that other
   *   people's failed attempts cannot lock the owner out.
   * @returns a function that reverts the count. Must be called if the password was correct.
   * @throws AppError `forbidden` with code `too_many_failed_attempts`, or `rate_limited`
   */
  countAttempt(address: string, account: string, device: string | null): Promise<() => Promise<void>>;
  /**
   * Counts a second-factor code before it is checked. A new sign-in does not reset the count.
   * @returns a function that reverts the count. Call it if the code was correct.
   * @throws AppError `rate_limited` with code `2fa_too_many_attempts`
   */
  countCode(userId: number): Promise<() => Promise<void>>;
  countAnonymousRequest(address: string): Promise<void>;
  countProviderStep(address: string): Promise<void>;
  /** Counts a request for a password reset, whether or not the account exists. @throws AppError `rate_limited` */
  countReset(address: string, account: string): Promise<void>;
  /**
   * Counts a request for a code that verifies a new email address. The count is per requesting account, because a count
   * per email address would use up the password resets of the address's owner.
   * @throws AppError `rate_limited`
   */
  countAddressCode(address: string, userId: number): Promise<void>;
}

/** Limits on sign-in attempts and related requests. 0 means no limit. */
export interface SignInLimitSettings {
  /** Maximum number of failed sign-ins from one IP address in ten minutes. */
  signInFailures: number;
  /** Maximum number of failed sign-ins for one account in 15 minutes, from any IP address. */
  signInFailuresOfAccount: number;
  /** Maximum number of wrong second-factor codes for one account in 20 minutes. */
  secondFactorFailures: number;
  /** Maximum number of unauthenticated requests from one IP address per minute. */
  anonymousRequestsPerMinute: number;
  /**
   * Maximum number of password reset emails to one account per day. The same limit applies to codes for new email
   * addresses, per requesting account.
   */
  resetsPerDay: number;
}

const mailsPerAddressHour = 20;

export function createSignInLimits(keyValue: KeyValueStore, settings: SignInLimitSettings): SignInLimits {
  const limit = (name: string, seconds: number, most: number) =>
    createRateLimit({ keyValue, name, windows: [{ seconds, limit: most }] });
  const ofAddress = limit('signin', 600, settings.signInFailures);
  const ofAccount = limit('account', 900, settings.signInFailuresOfAccount);
  const codes = limit('code', 1200, settings.secondFactorFailures);
  const anonymousRequests = limit('question', 60, settings.anonymousRequestsPerMinute);
  // The limit is doubled, because each sign-in counts twice: once for the redirect to the provider, and once for the
  // redirect back.
  const providerSteps = limit('provider', 60, settings.anonymousRequestsPerMinute * 2);
  const perHour = settings.resetsPerDay === 0 ? 0 : mailsPerAddressHour;
  const resets = limit('reset', 24 * 3600, settings.resetsPerDay);
  const resetsOfAddress = limit('resets', 3600, perHour);
  const addressCodes = limit('address-code', 24 * 3600, settings.resetsPerDay);
  const addressCodesOfAddress = limit('address-codes', 3600, perHour);
  return {
    async countAttempt(address, account, device) {
      const network = toNetwork(address);
      const wait = await ofAddress.take(network);
      if (wait !== null) throw tooManyFailures(wait);
      const subject = device === null ? hashSecret(account) : `device:${hashSecret(device)}`;
      const slowed = await ofAccount.take(subject);
      if (slowed !== null)
        throw createThrottledError(slowed, 'Too many wrong passwords were entered for this account.');
      return async () => {
        await Promise.all([ofAddress.refund(network), ofAccount.refund(subject)]);
      };
    },
    async countCode(userId) {
      const subject = String(userId);
      const wait = await codes.take(subject);
      if (wait !== null) {
        throw new AppError(
          'rate_limited',
          `Too many wrong codes were entered for this account. Try again in ${inMinutes(wait)}.`,
          { code: '2fa_too_many_attempts', retryAfterSeconds: wait },
        );
      }
      return () => codes.refund(subject);
    },
    async countAnonymousRequest(address) {
      const wait = await anonymousRequests.take(toNetwork(address));
      if (wait !== null) throw createThrottledError(wait, 'Your IP address sent too many sign-in requests.');
    },
    async countProviderStep(address) {
      const wait = await providerSteps.take(toNetwork(address));
      if (wait !== null)
        throw createThrottledError(wait, 'Your IP address started too many sign-ins with an identity provider.');
    },
    async countReset(address, account) {
      const wait = (await resetsOfAddress.take(toNetwork(address))) ?? (await resets.take(hashSecret(account)));
      if (wait !== null) throw createThrottledError(wait, 'Too many password reset emails were requested.');
    },
    async countAddressCode(address, userId) {
      const subject = String(userId);
      const wait = (await addressCodesOfAddress.take(toNetwork(address))) ?? (await addressCodes.take(subject));
      if (wait !== null)
        throw createThrottledError(wait, 'You requested too many verification codes for a new email address.');
    },
  };
}

function tooManyFailures(seconds: number): AppError {
  return new AppError(
    'forbidden',
    `Too many sign-ins from your IP address failed. Try again in ${inMinutes(seconds)}.`,
    { code: 'too_many_failed_attempts', retryAfterSeconds: seconds },
  );
}

function inMinutes(seconds: number): string {
  const minutes = Math.ceil(seconds / 60);
  return `${minutes} minute${minutes === 1 ? '' : 's'}`;
}
