// How often somebody may try to sign in, and ask what leads to it (docs/api/README.md#rate-limits).

import { hashSecret } from '@millrace/accounts/access';
import { AppError } from '@millrace/runtime';
import type { KeyValue } from '@millrace/runtime/cache';
import { createRateLimit, networkOf, throttled } from './rate-limit.ts';

export interface SignInLimits {
  /**
   * Counts a try before the password is looked at, so that tries at the same moment count too.
   *
   * @param account the address that was typed, whether there is such an account or not.
   * @param device in which the account has signed in before: it counts for itself, so that nobody's failures shut out the owner.
   * @returns what takes it back, to be called when the password was right.
   * @throws AppError `forbidden` with code `too_many_failed_attempts`, or `rate_limited`.
   */
  countTry(address: string, account: string, device: string | null): Promise<() => Promise<void>>;
  /**
   * Counts a code of a second factor before it is looked at. A new sign-in does not begin anew.
   * @returns what takes it back, to be called when the code was right.
   * @throws AppError `rate_limited` with code `2fa_too_many_attempts`.
   */
  countCode(userId: number): Promise<() => Promise<void>>;
  /** Counts a question of somebody unknown. @throws AppError `rate_limited`. */
  countQuestion(address: string): Promise<void>;
  /** Counts a way to a sign-in provider, or back. @throws AppError `rate_limited`. */
  countProviderStep(address: string): Promise<void>;
  /** Counts a request for a password reset, whether there is such an account or not. @throws AppError `rate_limited`. */
  countReset(address: string, account: string): Promise<void>;
  /**
   * Counts a code for a new address, for the account that asks: counted for the new address, it would use up the password resets
   * of the owner of that address. @throws AppError `rate_limited`.
   */
  countAddressCode(address: string, userId: number): Promise<void>;
}

/** All 0 = no limit. */
export interface SignInLimitSettings {
  /** Failures from one address in ten minutes. */
  signInFailures: number;
  /** Failures for one account in a quarter of an hour, from wherever. */
  signInFailuresOfAccount: number;
  /** Wrong codes of a second factor of one account in twenty minutes. */
  secondFactorFailures: number;
  /** Questions of one address in a minute. */
  signInQuestionsPerMinute: number;
  /** Mails for a new password to one account in a day, and codes for new addresses that one account may ask for. */
  resetsPerDay: number;
}

const mailsPerAddressHour = 20;

export function createSignInLimits(keyValue: KeyValue, settings: SignInLimitSettings): SignInLimits {
  const limit = (name: string, seconds: number, most: number) =>
    createRateLimit({ keyValue, name, windows: [{ seconds, limit: most }] });
  const ofAddress = limit('signin', 600, settings.signInFailures);
  const ofAccount = limit('account', 900, settings.signInFailuresOfAccount);
  const codes = limit('code', 1200, settings.secondFactorFailures);
  const questions = limit('question', 60, settings.signInQuestionsPerMinute);
  // There and back.
  const providerSteps = limit('provider', 60, settings.signInQuestionsPerMinute * 2);
  const perHour = settings.resetsPerDay === 0 ? 0 : mailsPerAddressHour;
  const resets = limit('reset', 24 * 3600, settings.resetsPerDay);
  const resetsOfAddress = limit('resets', 3600, perHour);
  const addressCodes = limit('address-code', 24 * 3600, settings.resetsPerDay);
  const addressCodesOfAddress = limit('address-codes', 3600, perHour);
  return {
    async countTry(address, account, device) {
      const network = networkOf(address);
      const wait = await ofAddress.take(network);
      if (wait !== null) throw tooManyFailures(wait);
      const subject = device === null ? hashSecret(account) : `device:${hashSecret(device)}`;
      const slowed = await ofAccount.take(subject);
      if (slowed !== null) throw throttled(slowed, 'Too many wrong passwords were entered for this account.');
      return async () => {
        await Promise.all([ofAddress.giveBack(network), ofAccount.giveBack(subject)]);
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
      return () => codes.giveBack(subject);
    },
    async countQuestion(address) {
      const wait = await questions.take(networkOf(address));
      if (wait !== null) throw throttled(wait, 'Your IP address sent too many sign-in requests.');
    },
    async countProviderStep(address) {
      const wait = await providerSteps.take(networkOf(address));
      if (wait !== null) throw throttled(wait, 'Your IP address started too many sign-ins with an identity provider.');
    },
    async countReset(address, account) {
      const wait = (await resetsOfAddress.take(networkOf(address))) ?? (await resets.take(hashSecret(account)));
      if (wait !== null) throw throttled(wait, 'Too many password reset emails were requested.');
    },
    async countAddressCode(address, userId) {
      const subject = String(userId);
      const wait = (await addressCodesOfAddress.take(networkOf(address))) ?? (await addressCodes.take(subject));
      if (wait !== null) throw throttled(wait, 'You requested too many verification codes for a new email address.');
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
