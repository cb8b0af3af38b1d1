/** Recognizes browsers in which a user has signed in before (docs/api/README.md#rate-limits). */

import type { Sql, Transaction } from '@millrace/db';
import { hashSecret, newSecret } from '../keys/secrets.ts';
import { deleteDevices, extendDevice, hasDevice, insertDevice } from './sign-in-store.ts';

/** How long a browser is recognized after the last sign-in. A new password resets this for all browsers of the user. */
export const deviceDays = 30;
/** Maximum per user. Beyond it, the oldest is forgotten. */
const maxDevices = 50;

/**
 * Remembers the browser of a user.
 * @returns the value of the cookie, which is not stored
 */
export async function rememberDevice(tx: Transaction, userId: number): Promise<string> {
  const secret = newSecret();
  await insertDevice(tx, { token_hash: hashSecret(secret), user_id: userId }, deviceDays);
  await deleteDevices(tx, userId, { but: maxDevices });
  return secret;
}

/** Restarts the 30 days of a known device. Does not extend how long it is trusted with a second factor. */
export async function renewDevice(tx: Transaction, secret: string): Promise<void> {
  await extendDevice(tx, hashSecret(secret), deviceDays);
}

/**
 * Returns whether a user has signed in from this browser before.
 * @param email in lower case
 */
export async function isKnownDevice(sql: Sql, secret: string, email: string): Promise<boolean> {
  return hasDevice(sql, hashSecret(secret), email);
}
