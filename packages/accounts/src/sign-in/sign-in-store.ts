/** Reads and writes passwords, sessions, known devices and one-time links. */

import type { Columns, Sql, Transaction } from '@millrace/db';
import { sessionIsLive } from '../access/live-session-store.ts';

/** A user with their password hash. The hash is null if the user has no password. */
export interface SignInUser
  extends Columns<'user', 'id' | 'uuid' | 'email' | 'first_name' | 'last_name' | 'is_active'> {
  password_hash: string | null;
}

export async function findSignInUser(
  sql: Sql,
  by: { email: string } | { id: number },
): Promise<SignInUser | undefined> {
  const [column, value] = 'email' in by ? ['email', by.email] : ['id', by.id];
  const rows = await sql.query<SignInUser & Record<string, unknown>>(
    `SELECT u.id, u.uuid, u.email, u.first_name, u.last_name, u.is_active, p.hash AS password_hash
       FROM "user" u LEFT JOIN user_password p ON p.user_id = u.id
      WHERE u.${column} = $1`,
    [value],
  );
  return rows[0];
}

export async function hasSignedIn(sql: Sql, userId: number): Promise<boolean> {
  const rows = await sql.query('SELECT FROM "user" WHERE id = $1 AND last_login IS NOT NULL', [userId]);
  return rows.length > 0;
}

export async function writePasswordHash(tx: Transaction, userId: number, hash: string): Promise<void> {
  await tx.query(
    `INSERT INTO user_password (user_id, hash) VALUES ($1, $2)
     ON CONFLICT (user_id) DO UPDATE SET hash = excluded.hash, changed_at = now()`,
    [userId, hash],
  );
}

/** Replaces a password hash that was computed at a different cost, unless the password has changed in the meantime. */
export async function replacePasswordHash(
  sql: Sql,
  userId: number,
  { from, to }: { from: string; to: string },
): Promise<void> {
  await sql.query('UPDATE user_password SET hash = $3 WHERE user_id = $1 AND hash = $2', [userId, from, to]);
}

export interface SessionRow
  extends Columns<
    'session',
    'id' | 'method' | 'address' | 'browser' | 'created_at' | 'signed_in_at' | 'last_seen_at' | 'expires_at'
  > {}

export async function insertSession(
  tx: Transaction,
  row: Columns<'session', 'id' | 'token_hash' | 'user_id' | 'method' | 'second_factor' | 'address' | 'browser'>,
  daysAtMost: number,
): Promise<void> {
  await tx.query(
    `INSERT INTO session (id, token_hash, user_id, method, second_factor, address, browser, expires_at)
     VALUES ($1, $2, $3, $4, $5, $6, $7, now() + make_interval(days => $8))`,
    [row.id, row.token_hash, row.user_id, row.method, row.second_factor, row.address, row.browser, daysAtMost],
  );
  await tx.query('UPDATE "user" SET last_login = now() WHERE id = $1', [row.user_id]);
}

/** Deletes a user's expired sessions. If more than `most` sessions remain, also deletes the oldest ones. */
export async function deleteOldSessions(tx: Transaction, userId: number, most: number): Promise<void> {
  await tx.query(
    `DELETE FROM session
      WHERE user_id = $1
        AND id NOT IN (SELECT s.id FROM session s JOIN "user" u ON u.id = s.user_id
                        WHERE s.user_id = $1 AND ${sessionIsLive} ORDER BY s.created_at DESC LIMIT $2)`,
    [userId, most],
  );
}

/** Lists a user's valid sessions, most recently used first. */
export async function selectSessions(sql: Sql, userId: number): Promise<SessionRow[]> {
  return sql.query<SessionRow & Record<string, unknown>>(
    `SELECT s.id, s.method, s.address, s.browser, s.created_at, s.signed_in_at, s.last_seen_at, s.expires_at
       FROM session s JOIN "user" u ON u.id = s.user_id
      WHERE s.user_id = $1 AND ${sessionIsLive}
      ORDER BY s.last_seen_at DESC, s.id`,
    [userId],
  );
}

/**
 * Deletes the session with this secret.
 * @returns the user of the session
 */
export async function deleteUserSession(
  tx: Transaction,
  tokenHash: string,
): Promise<Columns<'user', 'id' | 'uuid' | 'email'> | undefined> {
  const rows = await tx.query<Columns<'user', 'id' | 'uuid' | 'email'> & Record<string, unknown>>(
    `DELETE FROM session s USING "user" u WHERE s.token_hash = $1 AND u.id = s.user_id RETURNING u.id, u.uuid, u.email`,
    [tokenHash],
  );
  return rows[0];
}

/** Deletes all sessions of a user, or the session with this secret. @returns the number of deleted sessions */
export async function deleteSessions(
  sql: Sql,
  selection: { userId: number; id?: string; except?: string } | { tokenHash: string },
): Promise<number> {
  const rows =
    'tokenHash' in selection
      ? await sql.query('DELETE FROM session WHERE token_hash = $1 RETURNING id', [selection.tokenHash])
      : await sql.query(
          `DELETE FROM session
            WHERE user_id = $1 AND ($2::uuid IS NULL OR id = $2) AND ($3::uuid IS NULL OR id <> $3) RETURNING id`,
          [selection.userId, selection.id ?? null, selection.except ?? null],
        );
  return rows.length;
}

/** Gives a session a new secret, and sets its sign-in time to now. */
export async function renewSession(sql: Sql, id: string, tokenHash: string): Promise<void> {
  await sql.query('UPDATE session SET token_hash = $2, signed_in_at = now(), last_seen_at = now() WHERE id = $1', [
    id,
    tokenHash,
  ]);
}

export async function insertDevice(
  tx: Transaction,
  row: Columns<'known_device', 'token_hash' | 'user_id'>,
  days: number,
): Promise<void> {
  await tx.query(
    'INSERT INTO known_device (token_hash, user_id, expires_at) VALUES ($1, $2, now() + make_interval(days => $3))',
    [row.token_hash, row.user_id, days],
  );
}

export async function extendDevice(tx: Transaction, tokenHash: string, days: number): Promise<void> {
  await tx.query('UPDATE known_device SET expires_at = now() + make_interval(days => $2) WHERE token_hash = $1', [
    tokenHash,
    days,
  ]);
}

export async function hasDevice(sql: Sql, tokenHash: string, email: string): Promise<boolean> {
  const rows = await sql.query(
    `SELECT FROM known_device d JOIN "user" u ON u.id = d.user_id
      WHERE d.token_hash = $1 AND d.expires_at > now() AND u.email = $2`,
    [tokenHash, email],
  );
  return rows.length > 0;
}

/** Deletes a user's expired devices. If more than `but` devices remain, also deletes the oldest ones. */
export async function deleteDevices(tx: Transaction, userId: number, { but }: { but: number }): Promise<void> {
  await tx.query(
    `DELETE FROM known_device
      WHERE user_id = $1
        AND token_hash NOT IN (SELECT token_hash FROM known_device WHERE user_id = $1 AND expires_at > now()
                                ORDER BY expires_at DESC LIMIT $2)`,
    [userId, but],
  );
}

export type LinkKind = 'sign_in' | 'first_owner' | 'reset_password';

export interface LinkRow extends Columns<'one_time_link', 'user_id'> {
  kind: LinkKind;
}

/** Inserts a link, and deletes the user's other links of the same kind. */
export async function insertLink(
  tx: Transaction,
  row: { tokenHash: string; kind: LinkKind; userId: number | null },
  minutes: number,
): Promise<Date> {
  await tx.query('DELETE FROM one_time_link WHERE kind = $1 AND user_id IS NOT DISTINCT FROM $2::int', [
    row.kind,
    row.userId,
  ]);
  const rows = await tx.query<{ expires_at: Date }>(
    `INSERT INTO one_time_link (token_hash, kind, user_id, expires_at)
     VALUES ($1, $2, $3, now() + make_interval(mins => $4)) RETURNING expires_at`,
    [row.tokenHash, row.kind, row.userId, minutes],
  );
  return rows[0]?.expires_at as Date;
}

export async function deleteLinks(sql: Sql, userId: number): Promise<void> {
  await sql.query('DELETE FROM one_time_link WHERE user_id = $1', [userId]);
}

export async function findLink(sql: Sql, tokenHash: string): Promise<LinkRow | undefined> {
  const rows = await sql.query<LinkRow & Record<string, unknown>>(
    'SELECT kind, user_id FROM one_time_link WHERE token_hash = $1 AND expires_at > now()',
    [tokenHash],
  );
  return rows[0];
}

/**
 * Marks a link as used.
 * @returns undefined if the link was already used or has expired
 */
export async function consumeLink(tx: Transaction, tokenHash: string): Promise<LinkRow | undefined> {
  const rows = await tx.query<LinkRow & Record<string, unknown>>(
    'DELETE FROM one_time_link WHERE token_hash = $1 AND expires_at > now() RETURNING kind, user_id',
    [tokenHash],
  );
  return rows[0];
}
