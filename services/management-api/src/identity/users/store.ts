// SQL that reads the caller's own user and current environment.

import { hasProvider, hasSecondFactor } from '@millrace/accounts';
import type { Columns, Sql } from '@millrace/db';
import type { EmbeddedUserRow } from '../embedded-users/embedded-user.ts';

interface UserRow
  extends Omit<EmbeddedUserRow, 'hedgehog_config'>,
    Columns<'user', 'last_login' | 'created_at' | 'passkeys_enabled_for_2fa'> {
  has_password: boolean;
  is_2fa_enabled: boolean;
  has_social_auth: boolean;
  hedgehog_config: Record<string, unknown> | null;
}

export async function findUser(sql: Sql, userId: number): Promise<UserRow | undefined> {
  const rows = await sql.query<UserRow & Record<string, unknown>>(
    `SELECT id, uuid, distinct_id, first_name, last_name, email, is_email_verified, hedgehog_config,
            role_at_organization, last_login, created_at,
            EXISTS (SELECT FROM user_password WHERE user_id = $1) AS has_password, passkeys_enabled_for_2fa,
            ${hasSecondFactor} AS is_2fa_enabled, ${hasProvider} AS has_social_auth
       FROM "user" u WHERE id = $1`,
    [userId],
  );
  return rows[0];
}

export async function findCurrentEnvironment(
  sql: Sql,
  userId: number,
): Promise<{ organizationId: string | null; environmentId: number | null }> {
  const rows = await sql.query<{ organizationId: string | null; environmentId: number | null }>(
    `SELECT current_organization_id AS "organizationId", current_environment_id AS "environmentId"
       FROM "user" WHERE id = $1`,
    [userId],
  );
  return rows[0] ?? { organizationId: null, environmentId: null };
}
