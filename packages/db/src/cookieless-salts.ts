import type { Sql } from './transaction.ts';

/**
 * The salt of a day, which ids of visitors without cookies are made with: the stored one, else the given one, which is
 * then stored. Undefined when somebody else is just storing another one; asking again finds it.
 */
export async function keepSalt(
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
 * After this nobody can tell from an id any more who it stood for.
 *
 * @returns how many.
 */
export async function deleteExpiredSalts(sql: Sql): Promise<number> {
  return (await sql.query('DELETE FROM cookieless_salt WHERE expires_at <= now() RETURNING day')).length;
}
