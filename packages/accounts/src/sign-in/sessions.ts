/** Sessions: how one begins, and how it ends before its time (docs/api/sign-in.md). */

import type { Sql, Transaction } from '@millrace/db';
import { v7 as uuidv7 } from 'uuid';
import { recordOwnActivity } from '../activity/record-activity.ts';
import { isUuid } from '../input.ts';
import { hashSecret, newSecret } from '../keys/secrets.ts';
import type { ProviderKind } from './provider-store.ts';
import { deleteSignInSteps } from './sign-in-steps.ts';
import { deleteOldSessions, deleteSessionOf, deleteSessions, insertSession, renewSession } from './sign-in-store.ts';

/** A session ends so long after it began, however it is used. */
export const sessionDays = 14;
/** Of one user; the oldest ends when there are more. */
const mostSessions = 50;
const maxBrowserLength = 400;

/** `device`: what was shown in that browser before, and is not asked for again; `link`: an operator has vouched for the person. */
export type SecondFactor = 'totp' | 'backup_code' | 'passkey' | 'device' | 'link';

export interface NewSession {
  userId: number;
  method: 'password' | 'passkey' | 'link' | 'invite' | ProviderKind;
  /** What was shown beside the first proof; null for nothing. */
  secondFactor: SecondFactor | null;
  /** Where the request came from. */
  address: string;
  /** What the browser says of itself; cut where it is long. */
  browser: string;
}

/** @returns what the cookie carries, which is stored nowhere. */
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
  await deleteOldSessions(tx, session.userId, mostSessions);
  return secret;
}

/** After the person proved again who they are: what the cookie carried before is worth nothing. @returns what it carries now. */
export async function renewSessionSecret(sql: Sql, sessionId: string): Promise<string> {
  const secret = newSecret();
  await renewSession(sql, sessionId, hashSecret(secret));
  return secret;
}

/** A second factor that was set up in a session counts as shown there. */
export async function noteSecondFactor(tx: Transaction, sessionId: string, secondFactor: SecondFactor): Promise<void> {
  await tx.query('UPDATE session SET second_factor = $2 WHERE id = $1', [sessionId, secondFactor]);
}

/** Ends the session of a cookie because its person wants that, if it is one. */
export async function signOut(tx: Transaction, secret: string): Promise<void> {
  const user = await deleteSessionOf(tx, hashSecret(secret));
  if (user !== undefined) await recordOwnActivity(tx, user, { activity: 'logged_out', changes: [] });
}

/** Ends the session of a cookie, if it is one. */
export async function endSession(sql: Sql, secret: string): Promise<void> {
  await deleteSessions(sql, { tokenHash: hashSecret(secret) });
}

/** @returns whether the user had such a session. */
export async function endSessionOf(sql: Sql, userId: number, id: string): Promise<boolean> {
  return isUuid(id) && (await deleteSessions(sql, { userId, id })) > 0;
}

/**
 * Ends the sessions of a user and any half-finished sign-in, which would otherwise begin another one. When no session is left,
 * everything else that was begun in one (a new address, an authenticator app) is discarded too.
 *
 * @param except the id of a session to keep. @returns how many ended.
 */
export async function endSessionsOf(sql: Sql, userId: number, { except }: { except?: string } = {}): Promise<number> {
  await deleteSignInSteps(sql, userId, except === undefined ? undefined : 'second_factor');
  return deleteSessions(sql, { userId, ...(except !== undefined && { except }) });
}
