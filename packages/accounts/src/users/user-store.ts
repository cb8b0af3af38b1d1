import type { Sql, Transaction } from '@millrace/db';

export interface User extends Record<string, unknown> {
  id: number;
  uuid: string;
  distinct_id: string;
  email: string;
  first_name: string;
  last_name: string;
  is_active: boolean;
  is_email_verified: boolean;
  hedgehog_config: Record<string, unknown> | null;
  role_at_organization: string;
  current_organization_id: string | null;
  current_environment_id: number | null;
  created_at: Date;
}

export async function insertUser(
  sql: Sql,
  row: Pick<
    User,
    'uuid' | 'distinct_id' | 'email' | 'first_name' | 'last_name' | 'role_at_organization' | 'is_email_verified'
  >,
): Promise<User> {
  const rows = await sql.query<User>(
    `INSERT INTO "user" (uuid, distinct_id, email, first_name, last_name, role_at_organization, is_email_verified)
     VALUES ($1, $2, $3, $4, $5, $6, $7) RETURNING *`,
    [
      row.uuid,
      row.distinct_id,
      row.email,
      row.first_name,
      row.last_name,
      row.role_at_organization,
      row.is_email_verified,
    ],
  );
  return rows[0] as User;
}

/** Lists the users of an organization or all users (null), sorted by ID. */
export async function selectUsers(sql: Sql, organizationId: string | null): Promise<User[]> {
  return sql.query<User>(
    `SELECT * FROM "user"
      WHERE $1::uuid IS NULL OR id IN (SELECT user_id FROM membership WHERE organization_id = $1) ORDER BY id`,
    [organizationId],
  );
}

/** Lists the IDs of the user's organizations, sorted. */
export async function selectUserOrganizations(sql: Sql, userId: number): Promise<string[]> {
  const rows = await sql.query<{ id: string }>(
    'SELECT organization_id AS id FROM membership WHERE user_id = $1 ORDER BY organization_id',
    [userId],
  );
  return rows.map(({ id }) => id);
}

export async function findUser(sql: Sql, by: { id: number } | { email: string }): Promise<User | undefined> {
  const [column, value] = 'email' in by ? ['email', by.email] : ['id', by.id];
  const rows = await sql.query<User>(`SELECT * FROM "user" WHERE ${column} = $1`, [value]);
  return rows[0];
}

export async function updateUserActive(sql: Sql, id: number, isActive: boolean): Promise<User | undefined> {
  const rows = await sql.query<User>('UPDATE "user" SET is_active = $2 WHERE id = $1 RETURNING *', [id, isActive]);
  return rows[0];
}

export async function setCurrentEnvironment(
  sql: Sql,
  userId: number,
  place: { organizationId: string; environmentId: number | null },
): Promise<void> {
  await sql.query('UPDATE "user" SET current_organization_id = $2, current_environment_id = $3 WHERE id = $1', [
    userId,
    place.organizationId,
    place.environmentId,
  ]);
}

export interface UserFields {
  first_name?: string;
  last_name?: string;
  hedgehog_config?: Record<string, unknown> | null;
  role_at_organization?: string;
}

export async function updateEmail(tx: Transaction, userId: number, email: string): Promise<void> {
  await tx.query('UPDATE "user" SET email = $2, is_email_verified = true WHERE id = $1', [userId, email]);
}

export async function deleteUser(tx: Transaction, userId: number): Promise<void> {
  await tx.query('DELETE FROM "user" WHERE id = $1', [userId]);
}

export async function confirmEmail(tx: Transaction, userId: number): Promise<void> {
  await tx.query('UPDATE "user" SET is_email_verified = true WHERE id = $1', [userId]);
}

/** Updates only the given fields, so that concurrent changes to other fields are kept. */
export async function updateUser(tx: Transaction, userId: number, fields: UserFields): Promise<void> {
  await tx.query(
    `UPDATE "user"
        SET first_name = coalesce($2, first_name), last_name = coalesce($3, last_name),
            role_at_organization = coalesce($4, role_at_organization),
            hedgehog_config = CASE WHEN $5 THEN $6::jsonb ELSE hedgehog_config END
      WHERE id = $1`,
    [
      userId,
      fields.first_name ?? null,
      fields.last_name ?? null,
      fields.role_at_organization ?? null,
      fields.hedgehog_config !== undefined,
      fields.hedgehog_config == null ? null : JSON.stringify(fields.hedgehog_config),
    ],
  );
}
