// Sets up and disables authenticator apps and backup codes, and checks their codes (docs/api/second-factors.md).

import {
  beginSignInStep,
  consumeBackupCode,
  consumeSignInStep,
  consumeTotpStep,
  endUserSessions,
  findSecondFactors,
  findTotpSecret,
  type InstalledProviders,
  isTrustedDevice,
  lockUserKeys,
  type NewSession,
  recordOwnActivity,
  recordSecondFactor,
  removeBackupCodes,
  removeTotp,
  renewBackupCodes,
  requiresSecondFactor,
  revokeTrustedDevices,
  type SecondFactor,
  type SignInUser,
  storeTotpSecret,
  totpEncryptionContext,
} from '@millrace/accounts';
import type { Database, Sql, Transaction } from '@millrace/db';
import type { ApiRequest } from '@millrace/http';
import { AppError } from '@millrace/runtime';
import { Secret, TOTP } from 'otpauth';
import type { SessionCredential } from '../../access/caller.ts';
import { setStepCookie } from '../../access/session-cookie.ts';
import type { SignInLimits } from '../../access/sign-in-limits.ts';
import type { AccountMailing } from './account-mailing.ts';
import type { SecretEncryption } from './secret-encryption.ts';

export interface SecondFactorDeps extends Pick<Database, 'sql' | 'transaction'> {
  signInLimits: SignInLimits;
  accountMailing: AccountMailing;
  secretEncryption: SecretEncryption;
  /** The installation's sign-in providers. */
  installedProviders: InstalledProviders;
}

const issuer = 'Millrace';
const secretBytes = 20;
const stepSeconds = 30;

/**
 * Creates an authenticator for a secret, with the parameters of RFC 6238 that all apps support: SHA-1, six digits,
 * thirty seconds.
 */
function appOf(secret: string, account: string): TOTP {
  return new TOTP({ issuer, label: account, secret: Secret.fromBase32(secret), period: stepSeconds });
}

/**
 * Returns the time step of a code. Accepts the previous, current and next step, and returns null for all other codes.
 */
function stepOfCode(secret: string, code: string): number | null {
  const now = Math.floor(Date.now() / 1000 / stepSeconds);
  const delta = appOf(secret, '').validate({ token: code, window: 1 });
  return delta === null ? null : now + delta;
}

/**
 * Starts connecting an authenticator app. The secret is stored for ten minutes, and takes effect once the user has
 * entered a valid code.
 * @returns the secret in Base32, and the URL that apps read from a QR code
 */
export async function beginTotpSetup(
  { sql, secretEncryption }: Pick<SecondFactorDeps, 'sql' | 'secretEncryption'>,
  { session, user }: { session: SessionCredential; user: Pick<SignInUser, 'id' | 'email'> },
): Promise<{ secret: string; uri: string }> {
  const secret = new Secret({ size: secretBytes }).base32;
  const data = { secret: secretEncryption.seal(secret, totpEncryptionContext(user.id)) };
  await beginSignInStep(sql, { kind: 'totp_setup', userId: user.id, data, secret: session.id });
  return { secret, uri: appOf(secret, user.email).toString() };
}

/**
 * Enables the app's codes, and ends the user's other sessions. Trusted browsers need a second factor again.
 * @returns ten backup codes, to be shown only once
 * @throws AppError `invalid` with `setup_expired`, or with `token_invalid` naming `token`, or `rate_limited`
 */
export async function finishTotpSetup(
  { transaction, signInLimits, accountMailing, secretEncryption }: SecondFactorDeps,
  { session, user, code }: { session: SessionCredential; user: SignInUser; code: string },
): Promise<string[]> {
  const refundAttempt = await signInLimits.countCode(user.id);
  const codes = await transaction(async (tx) => {
    await lockUserKeys(tx, user.id);
    const begun = await consumeSignInStep(tx, 'totp_setup', session.id);
    if (begun === undefined) {
      throw new AppError('invalid', 'The setup took longer than ten minutes. Start again.', {
        code: 'setup_expired',
      });
    }
    const sealed = String(begun.data.secret);
    const step = stepOfCode(secretEncryption.open(sealed, totpEncryptionContext(user.id)), code);
    // The error rolls the transaction back, so the setup is not consumed and the user can enter another code.
    if (step === null) throw wrongCode('token_invalid');
    await storeTotpSecret(tx, user.id, { secret: sealed, lastStep: step });
    await revokeTrustedDevices(tx, user.id);
    await endUserSessions(tx, user.id, { except: session.id });
    await recordSecondFactor(tx, session.id, 'totp');
    await recordFactor(tx, user, true);
    return renewBackupCodes(tx, user.id);
  });
  await refundAttempt();
  accountMailing.notifyUser(user, 'second_factor_on');
  return codes;
}

/** Replaces a user's backup codes. @throws AppError `invalid` with code `2fa_not_enabled` */
export async function createBackupCodes(
  { transaction, accountMailing }: SecondFactorDeps,
  user: SignInUser,
): Promise<string[]> {
  const codes = await transaction(async (tx) => {
    await lockUserKeys(tx, user.id);
    if (!requiresSecondFactor(await findSecondFactors(tx, user.id))) throw notEnabled();
    const renewed = { type: 'User', action: 'changed', field: 'backup_codes', before: null, after: null } as const;
    await recordOwnActivity(tx, user, { activity: 'updated', changes: [renewed] });
    return renewBackupCodes(tx, user.id);
  });
  accountMailing.notifyUser(user, 'backup_codes_renewed');
  return codes;
}

/**
 * Disables the app's codes, but not passkeys. Deletes the backup codes if no second factor remains.
 * @throws AppError `invalid` with `2fa_not_enabled`, or with `2fa_demanded` if an organization requires a factor and
 *   this is the last one
 */
export async function disableTotp({ transaction, accountMailing }: SecondFactorDeps, user: SignInUser): Promise<void> {
  await transaction(async (tx) => {
    await lockUserKeys(tx, user.id);
    const factors = await findSecondFactors(tx, user.id);
    if (!factors.hasTotp) throw notEnabled();
    requireRemainingFactor({ ...factors, hasTotp: false });
    await removeTotp(tx, user.id);
    if (!requiresSecondFactor({ ...factors, hasTotp: false })) await removeBackupCodes(tx, user.id);
    await recordFactor(tx, user, false);
  });
  accountMailing.notifyUser(user, 'second_factor_off');
}

/**
 * Checks that a user keeps a required second factor.
 * @param remaining the factors that remain after a change
 * @throws AppError `invalid` with code `2fa_demanded` if an organization requires a factor and none would remain
 */
export function requireRemainingFactor(
  remaining: Parameters<typeof requiresSecondFactor>[0] & { isDemanded: boolean },
): void {
  if (!remaining.isDemanded || requiresSecondFactor(remaining)) return;
  throw new AppError(
    'invalid',
    'One of your organizations requires a second factor, and this is your last one. Set up another one first.',
    { code: '2fa_demanded' },
  );
}

function notEnabled(): AppError {
  return new AppError('invalid', 'You do not have a second factor. Set one up first.', { code: '2fa_not_enabled' });
}

/**
 * Checks a code from an authenticator app, or a backup code.
 * @throws AppError `invalid` with code `2fa_invalid`, or `rate_limited`
 */
export async function checkFactorCode(
  { sql, signInLimits, accountMailing, secretEncryption }: SecondFactorDeps,
  user: SignInUser,
  code: string,
): Promise<SecondFactor> {
  const refundAttempt = await signInLimits.countCode(user.id);
  const shown = code.replaceAll(/[\s-]/g, '');
  if (/^\d{6}$/.test(shown)) {
    const stored = await findTotpSecret(sql, user.id);
    const step =
      stored === undefined ? null : stepOfCode(secretEncryption.open(stored, totpEncryptionContext(user.id)), shown);
    if (step === null || !(await consumeTotpStep(sql, user.id, step))) throw await refuseCode(sql, user);
    await refundAttempt();
    return 'totp';
  }
  if (!(await consumeBackupCode(sql, user.id, code))) throw await refuseCode(sql, user);
  await refundAttempt();
  accountMailing.notifyUser(user, 'backup_code_used');
  return 'backup_code';
}

/**
 * Records a failed second factor in the account's activity log, because a person other than the user may know the
 * password.
 */
async function refuseCode(sql: Sql, user: SignInUser): Promise<AppError> {
  await recordOwnActivity(sql, user, { activity: 'second_factor_refused', changes: [] });
  return wrongCode('2fa_invalid');
}

function wrongCode(code: 'token_invalid' | '2fa_invalid'): AppError {
  return new AppError('invalid', 'This code is wrong or was already used. Enter the next code.', {
    code,
    attr: 'token',
  });
}

/**
 * Determines the result of a sign-in with the correct password: a session, or an unfinished sign-in that needs the
 * second factor.
 * @param device a known browser, which may be allowed to skip the second factor
 * @returns in `shown`, the factor for the session, or null if no factor is required. Otherwise in `step`, the secret of
 *   the unfinished sign-in.
 */
export async function findSecondFactor(
  tx: Transaction,
  user: Pick<SignInUser, 'id'>,
  { device, method }: { device: string | null; method: NewSession['method'] },
): Promise<{ shown: 'device' | null } | { step: string }> {
  if (!requiresSecondFactor(await findSecondFactors(tx, user.id))) return { shown: null };
  if (device !== null && (await isTrustedDevice(tx, device, user.id))) return { shown: 'device' };
  return { step: await beginSignInStep(tx, { kind: 'second_factor', userId: user.id, data: { method } }) };
}

/**
 * Creates the response to a correct password if a second factor is required. The client continues with `POST
 * /api/login/token`.
 */
export function createSecondFactorError(request: ApiRequest, step: string): AppError {
  return new AppError('unauthenticated', 'A second factor is required. Enter a code or use a passkey.', {
    code: '2fa_required',
    headers: setStepCookie(request, step),
  });
}

async function recordFactor(tx: Transaction, user: SignInUser, isOn: boolean): Promise<void> {
  const change = { before: { two_factor: !isOn }, after: { two_factor: isOn } };
  await recordOwnActivity(tx, user, { activity: 'updated', change });
}
