/** Recognizes browsers that a user has signed in with before (docs/api/README.md#rate-limits). */

import type { Sql, Transaction } from '@millrace/db';
import { hashSecret, newSecret } from '../keys/secrets.ts';
import { deleteDevices, extendDevice, hasDevice, insertDevice } from './sign-in-store.ts';

/**
 * Number of days that a browser is recognized after its last sign-in. After a password change, none of the user's
 * browsers is recognized.
 */
export const deviceDays = 30;
/** Maximum number of known browsers per user. When the limit is exceeded, the oldest browser is deleted. */
const maxDevices = 50;

/** Stores a user's browser as a known device. @returns the cookie value. Only its hash is stored. */
export async function createKnownDevice(tx: Transaction, userId: number): Promise<string> {
  const secret = newSecret();
  await insertDevice(tx, { token_hash: hashSecret(secret), user_id: userId }, deviceDays);
  await deleteDevices(tx, userId, { but: maxDevices });
  return secret;
}

/** Restarts a known device's 30 days. Does not extend the period in which the device can skip the second factor. */
export async function renewKnownDevice(tx: Transaction, secret: string): Promise<void> {
  await extendDevice(tx, hashSecret(secret), deviceDays);
}

/** Returns whether a user has signed in from this browser before. @param email the user's address in lower case */
export async function isKnownDevice(sql: Sql, secret: string, email: string): Promise<boolean> {
  return hasDevice(sql, hashSecret(secret), email);
}
