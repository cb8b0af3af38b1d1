/** Browsers in which a user has signed in before (docs/api/README.md#rate-limits). */

import type { Sql, Transaction } from '@millrace/db';
import { hashSecret, newSecret } from '../keys/secrets.ts';
import { deleteDevices, extendDevice, hasDevice, insertDevice } from './sign-in-store.ts';

/** How long a browser is recognized after the last sign-in in it. A new password ends that for all browsers of the user. */
export const deviceDays = 30;
/** Of one user; the oldest is forgotten when there are more. */
const mostDevices = 50;

/** @returns what the cookie carries, which is stored nowhere. */
export async function rememberDevice(tx: Transaction, userId: number): Promise<string> {
  const secret = newSecret();
  await insertDevice(tx, { token_hash: hashSecret(secret), user_id: userId }, deviceDays);
  await deleteDevices(tx, userId, { but: mostDevices });
  return secret;
}

/** Starts the 30 days of a known device again. The time for which it is trusted with a second factor does not change. */
export async function renewDevice(tx: Transaction, secret: string): Promise<void> {
  await extendDevice(tx, hashSecret(secret), deviceDays);
}

/** @param email in lower case. */
export async function isKnownDevice(sql: Sql, secret: string, email: string): Promise<boolean> {
  return hasDevice(sql, hashSecret(secret), email);
}
