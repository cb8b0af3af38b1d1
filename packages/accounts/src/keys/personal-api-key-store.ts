// SQL that reads and writes users' personal API keys.

import type { Sql } from '@millrace/db';

export interface PersonalApiKey extends Record<string, unknown> {
  id: string;
  user_id: number;
  label: string;
  secure_value: string;
  mask_value: string;
  scopes: string[];
  scoped_teams: number[];
  scoped_organizations: string[];
  created_at: Date;
  last_used_at: Date | null;
  last_rolled_at: Date | null;
  expires_at: Date | null;
}

/** Identifies a key. If `userId` is set, the key must belong to that user. */
export interface PersonalApiKeyChoice {
  id: string;
  userId?: number;
}

/**
 * Locks all keys of a user until the transaction ends. Concurrent requests then cannot exceed the maximum number of
 * keys, and the restrictions that were checked cannot change before the write.
 */
export async function lockUserKeys(sql: Sql, userId: number): Promise<void> {
  await sql.query('SELECT 1 FROM "user" WHERE id = $1 FOR NO KEY UPDATE', [userId]);
}

export async function countKeys(sql: Sql, userId: number): Promise<number> {
  return count(sql, 'SELECT count(*)::int AS count FROM personal_api_key WHERE user_id = $1', [userId]);
}

const newColumns = [
  ...(['id', 'user_id', 'label', 'secure_value', 'mask_value', 'scopes'] as const),
  ...(['scoped_teams', 'scoped_organizations', 'expires_at'] as const),
];

export async function insertKey(
  sql: Sql,
  row: Pick<PersonalApiKey, (typeof newColumns)[number]>,
): Promise<PersonalApiKey> {
  const rows = await sql.query<PersonalApiKey>(
    `INSERT INTO personal_api_key (${newColumns.join(', ')})
     VALUES (${newColumns.map((_, index) => `$${index + 1}`).join(', ')}) RETURNING *`,
    newColumns.map((column) => row[column]),
  );
  return rows[0] as PersonalApiKey;
}

/** Lists the keys of one user or of all users (null), newest first. */
export async function selectKeys(sql: Sql, userId: number | null): Promise<PersonalApiKey[]> {
  return sql.query<PersonalApiKey>(
    'SELECT * FROM personal_api_key WHERE $1::int IS NULL OR user_id = $1 ORDER BY created_at DESC, id DESC',
    [userId],
  );
}

const chosen = 'id = $1 AND ($2::int IS NULL OR user_id = $2)';

export async function findKey(sql: Sql, { id, userId }: PersonalApiKeyChoice) {
  const rows = await sql.query<PersonalApiKey>(`SELECT * FROM personal_api_key WHERE ${chosen}`, [id, userId ?? null]);
  return rows[0];
}

export interface KeyColumns {
  label?: string;
  secure_value?: string;
  mask_value?: string;
  scopes?: string[];
  scoped_teams?: number[];
  scoped_organizations?: string[];
  expires_at?: Date | null;
  last_rolled_at?: Date;
}

export async function updateKey(sql: Sql, choice: PersonalApiKeyChoice, columns: KeyColumns) {
  const entries = Object.entries(columns);
  if (entries.length === 0) return findKey(sql, choice);
  const rows = await sql.query<PersonalApiKey>(
    `UPDATE personal_api_key SET ${entries.map(([column], index) => `${column} = $${index + 3}`).join(', ')}
      WHERE ${chosen} RETURNING *`,
    [choice.id, choice.userId ?? null, ...entries.map(([, value]) => value)],
  );
  return rows[0];
}

/**
 * Limits the unrestricted keys of a user to the user's current organizations. Deletes the keys of a user who has no
 * organizations.
 */
export async function limitUnrestrictedKeys(
  sql: Sql,
  userId: number,
  { except = null }: { except?: string | null },
): Promise<void> {
  const unlimited = `user_id = $1 AND id IS DISTINCT FROM $2
    AND cardinality(scoped_organizations) = 0 AND cardinality(scoped_teams) = 0`;
  const own = 'SELECT organization_id::text FROM membership WHERE user_id = $1';
  await sql.query(`DELETE FROM personal_api_key WHERE ${unlimited} AND NOT EXISTS (${own})`, [userId, except]);
  await sql.query(`UPDATE personal_api_key SET scoped_organizations = ARRAY(${own}) WHERE ${unlimited}`, [
    userId,
    except,
  ]);
}

export async function deleteKey(sql: Sql, { id, userId }: PersonalApiKeyChoice) {
  const rows = await sql.query<PersonalApiKey>(`DELETE FROM personal_api_key WHERE ${chosen} RETURNING *`, [
    id,
    userId ?? null,
  ]);
  return rows[0];
}

/**
 * Counts how many of the environments are in the user's organizations.
 * @param organizations if not empty, only environments in these organizations are counted
 */
export async function countAccessibleEnvironments(
  sql: Sql,
  userId: number,
  { ids, organizations }: { ids: number[]; organizations: string[] },
): Promise<number> {
  return count(
    sql,
    `SELECT count(*)::int AS count
       FROM environment e
       JOIN project p ON p.id = e.project_id
       JOIN membership m ON m.organization_id = p.organization_id AND m.user_id = $1
      WHERE e.id = ANY ($2::int[]) AND (cardinality($3::uuid[]) = 0 OR p.organization_id = ANY ($3::uuid[]))`,
    [userId, ids, organizations],
  );
}

export async function countMemberships(sql: Sql, userId: number, organizationIds: string[]): Promise<number> {
  return count(
    sql,
    'SELECT count(*)::int AS count FROM membership WHERE user_id = $1 AND organization_id = ANY ($2::uuid[])',
    [userId, organizationIds],
  );
}

async function count(sql: Sql, text: string, values: unknown[]): Promise<number> {
  const rows = await sql.query<{ count: number }>(text, values);
  return rows[0]?.count ?? 0;
}
