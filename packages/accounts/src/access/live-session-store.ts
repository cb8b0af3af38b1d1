/** Looks up sessions: whether a session is valid, and its user. */

import type { Sql } from '@millrace/db/sql';
import { type Membership, membershipsOfUser } from './live-key-store.ts';

/** Hours of inactivity after which a session expires. */
const idleHours = 72;
const noteEveryMinutes = 5;

/** SQL condition that is true if session `s` of user `u` is valid. */
export const sessionIsLive = `u.is_active AND s.expires_at > now()
  AND s.last_seen_at > now() - interval '${idleHours} hours'`;

/** SQL condition that is true if user `u` has a second factor. */
export const hasSecondFactor = `(EXISTS (SELECT FROM user_totp t WHERE t.user_id = u.id)
  OR u.passkeys_enabled_for_2fa AND EXISTS (SELECT FROM passkey k WHERE k.user_id = u.id))`;

/** SQL condition that is true if user `u` has signed in through an identity provider. */
export const hasProvider = 'EXISTS (SELECT FROM provider_identity i WHERE i.user_id = u.id)';

/** SQL condition that is true if an organization of user `u` requires a second factor (`enforce_2fa`). */
export const isSecondFactorDemanded = `EXISTS (SELECT FROM membership m JOIN organization o ON o.id = m.organization_id
                                                WHERE m.user_id = u.id AND o.enforce_2fa)`;

/**
 * SQL condition that is true if session `s` was created through an identity provider. The provider is then responsible
 * for the second factor, and Millrace does not require one.
 */
const isOfProvider = `s.method IN ('google-oauth2', 'github', 'gitlab', 'saml', 'oidc')`;

interface SessionRow {
  id: string;
  user_id: number;
  method: string;
  signed_in_at: Date;
  expires_at: Date;
  is_last_seen_stale: boolean;
  memberships: Membership[];
  current_environment_id: number | null;
  /** The sign-in step that the user must still complete, or null if sign-in is complete. */
  wants: 'second factor' | 'second factor set up' | null;
}

/**
 * Finds a valid session of an active user, together with the user's memberships. Every request with a session needs
 * this, so it takes a single indexed query.
 */
export async function findLiveSession(sql: Sql, tokenHash: string): Promise<SessionRow | undefined> {
  const rows = await sql.query<SessionRow & Record<string, unknown>>(
    `SELECT s.id, s.user_id, s.method, s.signed_in_at, s.expires_at,
            s.last_seen_at < now() - interval '${noteEveryMinutes} minutes' AS is_last_seen_stale,
            ${membershipsOfUser} AS memberships, u.current_environment_id,
            CASE WHEN s.second_factor IS NULL AND NOT ${isOfProvider} AND ${isSecondFactorDemanded}
                 THEN CASE WHEN ${hasSecondFactor} THEN 'second factor' ELSE 'second factor set up' END END AS wants
       FROM session s
       JOIN "user" u ON u.id = s.user_id
      WHERE s.token_hash = $1 AND ${sessionIsLive}`,
    [tokenHash],
  );
  return rows[0];
}

/**
 * Finds the user of a valid session by the session ID, without the session secret. Does not extend the session. Streams
 * use this function to check access again.
 */
export async function findSessionInUse(sql: Sql, sessionId: string): Promise<{ user_id: number } | undefined> {
  const rows = await sql.query<{ user_id: number }>(
    `SELECT s.user_id FROM session s JOIN "user" u ON u.id = s.user_id WHERE s.id = $1 AND ${sessionIsLive}`,
    [sessionId],
  );
  return rows[0];
}

/** Records that a session was used. Writes at most once every few minutes, even for concurrent requests. */
export async function recordSessionUse(sql: Sql, sessionId: string): Promise<void> {
  await sql.query(
    `UPDATE session SET last_seen_at = now()
      WHERE id = $1 AND last_seen_at < now() - interval '${noteEveryMinutes} minutes'`,
    [sessionId],
  );
}
