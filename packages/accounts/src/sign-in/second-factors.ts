/** Manages second factors: authenticator apps, backup codes and passkeys (docs/api/second-factors.md). */

import { randomInt, scrypt } from 'node:crypto';
import type { Sql, Transaction } from '@millrace/db';
import { isSecondFactorDemanded } from '../access/live-session-store.ts';
import { hashSecret } from '../keys/secrets.ts';
import { deviceDays } from './known-devices.ts';
import { deleteSignInSteps } from './sign-in-steps.ts';

export interface SecondFactors {
  hasTotp: boolean;
  passkeys: number;
  /** Whether passkeys are required after a password. */
  passkeysCount: boolean;
  backupCodes: number;
  /** Whether one of the user's organizations requires a second factor (`enforce_2fa`). */
  isDemanded: boolean;
}

export function requiresSecondFactor({ hasTotp, passkeys, passkeysCount }: SecondFactors): boolean {
  return hasTotp || (passkeysCount && passkeys > 0);
}

export async function findSecondFactors(sql: Sql, userId: number): Promise<SecondFactors> {
  const rows = await sql.query<SecondFactors & Record<string, unknown>>(
    `SELECT EXISTS (SELECT FROM user_totp WHERE user_id = u.id) AS "hasTotp",
            (SELECT count(*)::int FROM passkey WHERE user_id = u.id) AS passkeys,
            u.passkeys_enabled_for_2fa AS "passkeysCount",
            (SELECT count(*)::int FROM user_backup_code WHERE user_id = u.id) AS "backupCodes",
            ${isSecondFactorDemanded} AS "isDemanded"
       FROM "user" u WHERE u.id = $1`,
    [userId],
  );
  return rows[0] ?? { hasTotp: false, passkeys: 0, passkeysCount: false, backupCodes: 0, isDemanded: false };
}

/**
 * Encryption context of an authenticator secret. The secret is stored as `{text: <secret>}`. It cannot be decrypted if
 * it was copied to another user.
 */
export const totpEncryptionContext = (userId: number) => `totp:${userId}`;

/** Returns the encrypted secret of a user's authenticator app. */
export async function findTotpSecret(sql: Sql, userId: number): Promise<string | undefined> {
  const rows = await sql.query<{ secret: string }>('SELECT secret FROM user_totp WHERE user_id = $1', [userId]);
  return rows[0]?.secret;
}

/**
 * Stores the secret of an authenticator app.
 * @param lastStep the time step of the code that the user entered to confirm the app
 */
export async function storeTotpSecret(
  tx: Transaction,
  userId: number,
  { secret, lastStep }: { secret: string; lastStep: number },
): Promise<void> {
  await tx.query(
    `INSERT INTO user_totp (user_id, secret, last_step) VALUES ($1, $2, $3)
     ON CONFLICT (user_id) DO UPDATE SET secret = excluded.secret, last_step = excluded.last_step, created_at = now()`,
    [userId, secret, lastStep],
  );
}

/**
 * Marks the code of a time step as used. Only one of several concurrent requests succeeds.
 * @returns false if the code was already used
 */
export async function consumeTotpStep(sql: Sql, userId: number, step: number): Promise<boolean> {
  const rows = await sql.query(
    'UPDATE user_totp SET last_step = $2 WHERE user_id = $1 AND last_step < $2 RETURNING user_id',
    [userId, step],
  );
  return rows.length > 0;
}

/** Removes the authenticator app. Trusted devices then require a second factor again. */
export async function removeTotp(tx: Transaction, userId: number): Promise<void> {
  await tx.query('DELETE FROM user_totp WHERE user_id = $1', [userId]);
  await revokeTrustedDevices(tx, userId);
}

const codeCount = 10;
const codeSigns = 'abcdefghjkmnpqrstuvwxyz23456789';

/**
 * Replaces all backup codes.
 * @returns the new codes, such as `k3f9q-x7mp2`. Only their hashes are stored.
 */
export async function renewBackupCodes(tx: Transaction, userId: number): Promise<string[]> {
  const sign = () => codeSigns[randomInt(codeSigns.length)];
  const half = () => Array.from({ length: 5 }, sign).join('');
  const codes = Array.from({ length: codeCount }, () => `${half()}-${half()}`);
  await removeBackupCodes(tx, userId);
  await tx.query('INSERT INTO user_backup_code (user_id, code_hash) SELECT $1, unnest($2::text[])', [
    userId,
    await Promise.all(codes.map((code) => hashOf(userId, code))),
  ]);
  return codes;
}

/** Deletes all backup codes. Trusted devices then require a second factor again. */
export async function removeBackupCodes(tx: Transaction, userId: number): Promise<void> {
  await tx.query('DELETE FROM user_backup_code WHERE user_id = $1', [userId]);
  await revokeTrustedDevices(tx, userId);
}

/** Marks a backup code as used, ignoring case and punctuation. @returns whether the code was valid */
export async function consumeBackupCode(sql: Sql, userId: number, code: string): Promise<boolean> {
  const rows = await sql.query('DELETE FROM user_backup_code WHERE user_id = $1 AND code_hash = $2 RETURNING user_id', [
    userId,
    await hashOf(userId, code),
  ]);
  return rows.length > 0;
}

/**
 * Hashes a backup code. The codes are so short that they could be guessed if the hash were fast. With this hash, each
 * guess takes 16 MiB and about 30 ms, and applies to one user only.
 */
function hashOf(userId: number, code: string): Promise<string> {
  const written = code.toLowerCase().replaceAll(/[^a-z0-9]/g, '');
  return new Promise((resolve, reject) => {
    scrypt(written, `backup code of ${userId}`, 32, { N: 2 ** 14, r: 8, p: 1 }, (error, key) =>
      error ? reject(error) : resolve(key.toString('hex')),
    );
  });
}

/**
 * Returns whether the user entered a second factor on this device in the last 30 days, and chose to skip it later.
 */
export async function isTrustedDevice(sql: Sql, secret: string, userId: number): Promise<boolean> {
  const rows = await sql.query(
    `SELECT FROM known_device
      WHERE token_hash = $1 AND user_id = $2 AND second_factor_at > now() - make_interval(days => $3)`,
    [hashSecret(secret), userId, deviceDays],
  );
  return rows.length > 0;
}

export async function trustDevice(tx: Transaction, secret: string): Promise<void> {
  await tx.query('UPDATE known_device SET second_factor_at = now() WHERE token_hash = $1', [hashSecret(secret)]);
}

/**
 * Makes all devices of a user require a second factor again, and discards incomplete sign-ins. Called after a second
 * factor was removed or replaced.
 */
export async function revokeTrustedDevices(tx: Transaction, userId: number): Promise<void> {
  await deleteSignInSteps(tx, userId, 'second_factor');
  await tx.query('UPDATE known_device SET second_factor_at = NULL WHERE user_id = $1', [userId]);
}
