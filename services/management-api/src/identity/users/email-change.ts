// Changes an account's email address. The current address stays in use until the user has entered the code that was
// sent to the new address (docs/api/users.md).

import { randomInt } from 'node:crypto';
import {
  beginSignInStep,
  changeEmail,
  consumeSignInStep,
  countSignInStepAttempt,
  endUserSessions,
  findSignInStep,
  type InstalledProviders,
  lockUserKeys,
  parseEmailAddress,
  type SignInUser,
} from '@millrace/accounts';
import { hashSecret } from '@millrace/accounts/access';
import type { Database, Sql } from '@millrace/db';
import type { ApiRequest } from '@millrace/http';
import { AppError } from '@millrace/runtime';
import { type Caller, requireRecentSignIn, requireSession } from '../../access/caller.ts';
import type { SignInLimits } from '../../access/sign-in-limits.ts';
import type { AccountMailing } from '../sign-in/account-mailing.ts';
import { rejectEnforced } from '../sign-in/enforcement.ts';
import { requireUser } from '../sign-in/rules.ts';

export interface EmailChangeDeps extends Pick<Database, 'sql' | 'transaction'> {
  accountMailing: AccountMailing;
  signInLimits: SignInLimits;
  /** The installation's sign-in providers. */
  installedProviders: InstalledProviders;
}

const kind = 'email_change';
const maxAttempts = 5;
/**
 * Maximum age of the sign-in in milliseconds. It is shorter than for other changes, because an attacker in an open
 * session could take over the account with a new email address.
 */
const freshMs = 5 * 60_000;

const secretOf = (userId: number) => String(userId);

/** Returns the new email address that the user has not verified yet, or null if no change is pending. */
export async function findPendingEmail(sql: Sql, userId: number): Promise<string | null> {
  const step = await findSignInStep(sql, kind, secretOf(userId));
  return step === undefined ? null : String(step.data.email);
}

/**
 * Checks a new email address. The response does not reveal whether another account has the address. Only the address's
 * owner can find out.
 * @returns a function that emails the code to the new address and notifies the current one, or null if the address does
 *   not change
 * @throws AppError `forbidden` for keys and for a sign-in more than five minutes ago, `invalid` naming `email`, or
 *   `rate_limited`
 */
export async function prepareEmailChange(
  deps: EmailChangeDeps,
  { caller, email, request }: { caller: Caller; email: string; request: ApiRequest },
): Promise<(() => Promise<void>) | null> {
  const { sql, accountMailing, signInLimits } = deps;
  const user = await requireUser(sql, caller.userId);
  const newEmail = parseEmailAddress(email);
  // Clients may send the complete user, which includes the unchanged email address.
  if (newEmail === user.email) return null;
  requireSession(caller);
  requireRecentSignIn(caller, freshMs);
  if (newEmail === null) {
    throw new AppError('invalid', 'Enter a valid email address.', { code: 'invalid_input', attr: 'email' });
  }
  await rejectEnforced(deps, user.email, { code: 'sso_enforced_current_email', attr: 'email' });
  await rejectEnforced(deps, newEmail, { code: 'sso_enforced_new_email', attr: 'email' });
  if (!accountMailing.sends) {
    throw new AppError(
      'invalid',
      'This installation does not send email, so the new address cannot be verified. Contact the operator.',
      {
        code: 'email_not_available',
        attr: 'email',
      },
    );
  }
  await signInLimits.countAddressCode(request.address, user.id);
  return async () => {
    await mailCode({ sql, accountMailing }, user, newEmail);
    accountMailing.notifyUser(user, 'email_change_requested');
  };
}

/**
 * Emails a new code for the pending email address, and invalidates the previous code.
 * @throws AppError `invalid` if no address is pending, or `rate_limited`
 */
export async function requestEmailCode(
  { sql, accountMailing, signInLimits }: EmailChangeDeps,
  { caller, request }: { caller: Caller; request: ApiRequest },
): Promise<void> {
  requireSession(caller);
  const user = await requireUser(sql, caller.userId);
  const email = await findPendingEmail(sql, user.id);
  if (email === null) throw noPendingEmail();
  await signInLimits.countAddressCode(request.address, user.id);
  await mailCode({ sql, accountMailing }, user, email);
}

async function mailCode(
  { sql, accountMailing }: Pick<EmailChangeDeps, 'sql' | 'accountMailing'>,
  user: SignInUser,
  email: string,
): Promise<void> {
  const code = String(randomInt(1_000_000)).padStart(6, '0');
  const data = { email, code_hash: hashSecret(code), tries: 0 };
  await beginSignInStep(sql, { kind, userId: user.id, data, secret: secretOf(user.id) });
  accountMailing.sendCode(email, code);
}

/**
 * Changes the account's email address, ends its other sessions, and notifies both addresses.
 * @throws AppError `invalid` naming `code` (`invalid_code`, `too_many_attempts`) or `email` (`email_taken`)
 */
export async function verifyEmail(
  { sql, transaction, accountMailing }: EmailChangeDeps,
  { caller, code }: { caller: Caller; code: string },
): Promise<void> {
  const session = requireSession(caller);
  const user = await requireUser(sql, caller.userId);
  // Count every attempt, correct or not, before comparing the code.
  const step = await countSignInStepAttempt(sql, kind, secretOf(user.id));
  if (step === undefined) throw noPendingEmail();
  if (Number(step.data.tries) > maxAttempts) {
    throw new AppError('invalid', 'Too many wrong codes. Request a new one.', {
      code: 'too_many_attempts',
      attr: 'code',
    });
  }
  if (step.data.code_hash !== hashSecret(code.trim())) {
    throw new AppError('invalid', 'This code is wrong.', { code: 'invalid_code', attr: 'code' });
  }
  const email = String(step.data.email);
  await transaction(async (tx) => {
    await lockUserKeys(tx, user.id);
    const taken = await consumeSignInStep(tx, kind, secretOf(user.id));
    if (taken?.data.email !== email) throw noPendingEmail();
    await changeEmail(tx, user, email);
    await endUserSessions(tx, user.id, { except: session.id });
  });
  accountMailing.notifyUser(user, 'email_changed');
  accountMailing.notifyUser({ ...user, email }, 'email_changed');
}

export async function cancelEmailChange(sql: Sql, caller: Caller): Promise<void> {
  requireSession(caller);
  await consumeSignInStep(sql, kind, secretOf(caller.userId));
}

function noPendingEmail(): AppError {
  return new AppError('invalid', 'There is no pending email change to confirm. Request the change again.', {
    code: 'no_pending_email',
  });
}
