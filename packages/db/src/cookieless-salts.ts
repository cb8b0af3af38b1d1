// SQL for the daily salts from which the distinct IDs of cookieless visitors are derived.

import type { Sql } from './transaction.ts';

/**
 * Returns the salt from which a day's cookieless IDs are derived. If no salt is stored for the day, stores the given
 * salt. Returns undefined if another process is storing a different salt at the same time. A second call then returns
 * that salt.
 */
export async function findOrInsertSalt(
  sql: Sql,
  { day, salt, expiresAtMs }: { day: string; salt: Buffer; expiresAtMs: number },
): Promise<Buffer | undefined> {
  const [row] = await sql.query<{ salt: Buffer }>(
    `WITH made AS (
       INSERT INTO cookieless_salt (day, salt, expires_at) VALUES ($1, $2, to_timestamp($3 / 1000.0))
       ON CONFLICT (day) DO NOTHING RETURNING salt)
     SELECT salt FROM made UNION ALL SELECT salt FROM cookieless_salt WHERE day = $1`,
    [day, salt, expiresAtMs],
  );
  return row?.salt;
}

/**
 * Deletes expired salts. Without its salt, a cookieless ID cannot be traced back to the visitor.
 * @returns the number of deleted salts
 */
export async function deleteExpiredSalts(sql: Sql): Promise<number> {
  return (await sql.query('DELETE FROM cookieless_salt WHERE expires_at <= now() RETURNING day')).length;
}
