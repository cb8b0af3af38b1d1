/** Browsers in which a user has signed in before (docs/api/README.md#rate-limits). */

import type { Sql, Transaction } from '@millrace/db';
import { hashSecret, newSecret } from '../keys/secrets.ts';
import { deleteDevices, hasDevice, insertDevice } from './sign-in-store.ts';

/** A device is known for so long, until the user has a new password. */
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

/** @param email in lower case. */
export async function isKnownDevice(sql: Sql, secret: string, email: string): Promise<boolean> {
  return hasDevice(sql, hashSecret(secret), email);
}
