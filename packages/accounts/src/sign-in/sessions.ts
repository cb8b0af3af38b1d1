/** Starts sessions, and ends sessions that have not expired yet (docs/api/sign-in.md). */

import type { Sql, Transaction } from '@millrace/db';
import { v7 as uuidv7 } from 'uuid';
import { recordOwnActivity } from '../activity/record-activity.ts';
import { isUuid } from '../input.ts';
import { hashSecret, newSecret } from '../keys/secrets.ts';
import type { ProviderKind } from './provider-store.ts';
import { deleteSignInSteps } from './sign-in-steps.ts';
import { deleteOldSessions, deleteSessions, deleteUserSession, insertSession, renewSession } from './sign-in-store.ts';

/** Maximum session lifetime in days. Using the session does not extend it. */
export const sessionDays = 14;
/** Maximum number of sessions per user. When the limit is exceeded, the oldest session ends. */
const maxSessions = 50;
const maxBrowserLength = 400;

/**
 * How the second factor of a sign-in was satisfied. `device` means a trusted device, on which the second factor is
 * skipped. `link` means that an operator has confirmed the user's identity.
 */
export type SecondFactor = 'totp' | 'backup_code' | 'passkey' | 'device' | 'link';

export interface NewSession {
  userId: number;
  method: 'password' | 'passkey' | 'link' | 'invite' | ProviderKind;
  /** The second factor used at sign-in, or null if none was used. */
  secondFactor: SecondFactor | null;
  address: string;
  browser: string;
}

/** Starts a session. @returns the cookie value. Only its hash is stored. */
export async function beginSession(tx: Transaction, { browser, ...session }: NewSession): Promise<string> {
  const secret = newSecret();
  await insertSession(
    tx,
    {
      id: uuidv7(),
      token_hash: hashSecret(secret),
      user_id: session.userId,
      method: session.method,
      second_factor: session.secondFactor,
      address: session.address,
      browser: [...browser].slice(0, maxBrowserLength).join(''),
    },
    sessionDays,
  );
  await deleteOldSessions(tx, session.userId, maxSessions);
  return secret;
}

/**
 * Replaces the session's secret after the user has authenticated again. The old cookie becomes invalid.
 * @returns the new cookie value
 */
export async function renewSessionSecret(sql: Sql, sessionId: string): Promise<string> {
  const secret = newSecret();
  await renewSession(sql, sessionId, hashSecret(secret));
  return secret;
}

/** Records that a second factor was used in a session, for example because the user set it up in this session. */
export async function recordSecondFactor(
  tx: Transaction,
  sessionId: string,
  secondFactor: SecondFactor,
): Promise<void> {
  await tx.query('UPDATE session SET second_factor = $2 WHERE id = $1', [sessionId, secondFactor]);
}

/** Signs a user out. Does nothing if the session no longer exists. */
export async function signOut(tx: Transaction, secret: string): Promise<void> {
  const user = await deleteUserSession(tx, hashSecret(secret));
  if (user !== undefined) await recordOwnActivity(tx, user, { activity: 'logged_out', changes: [] });
}

export async function endSession(sql: Sql, secret: string): Promise<void> {
  await deleteSessions(sql, { tokenHash: hashSecret(secret) });
}

/** @returns whether the user had this session */
export async function endUserSession(sql: Sql, userId: number, id: string): Promise<boolean> {
  return isUuid(id) && (await deleteSessions(sql, { userId, id })) > 0;
}

/**
 * Ends a user's sessions. Also discards incomplete sign-ins, which could still start a session. If no session remains,
 * also discards unfinished changes that were started in a session, such as a new email address or an authenticator app.
 * @param except the ID of a session that does not end
 * @returns how many sessions ended
 */
export async function endUserSessions(sql: Sql, userId: number, { except }: { except?: string } = {}): Promise<number> {
  await deleteSignInSteps(sql, userId, except === undefined ? undefined : 'second_factor');
  return deleteSessions(sql, { userId, ...(except !== undefined && { except }) });
}
