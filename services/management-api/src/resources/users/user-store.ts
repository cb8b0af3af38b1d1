import type { Sql } from '@millrace/db';

export interface UserRow {
  uuid: string;
  distinct_id: string;
  first_name: string;
  last_name: string;
  email: string;
  is_email_verified: boolean;
  hedgehog_config: unknown;
  role_at_organization: string;
  created_at: Date;
}

export async function findUser(sql: Sql, userId: number): Promise<UserRow | undefined> {
  const rows = await sql.query<UserRow & Record<string, unknown>>(
    `SELECT uuid, distinct_id, first_name, last_name, email, is_email_verified, hedgehog_config, role_at_organization,
            created_at
       FROM "user" WHERE id = $1`,
    [userId],
  );
  return rows[0];
}
