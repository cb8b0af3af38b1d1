import type { Sql } from '@millrace/db';

export interface AccessRuleRow {
  /** 1 member or 8 administrator; null: shut out. */
  level: number | null;
  /** Membership. */
  organization_member: string;
  /** UUID of a user; null for one who is gone. */
  created_by: string | null;
  created_at: Date;
  updated_at: Date;
}

const rule = `em.level, em.membership_id AS organization_member, u.uuid AS created_by, em.created_at,
  em.updated_at`;

/** Who was given access to an environment by name, the first one given in front. */
export async function listAccessRules(sql: Sql, environmentId: number): Promise<AccessRuleRow[]> {
  return sql.query<AccessRuleRow & Record<string, unknown>>(
    `SELECT ${rule} FROM environment_member em LEFT JOIN "user" u ON u.id = em.created_by_id
      WHERE em.environment_id = $1 ORDER BY em.created_at, em.membership_id`,
    [environmentId],
  );
}

/** Whether an environment is private, and what the rule for everybody gives otherwise. */
export interface DefaultAccess extends Record<string, unknown> {
  access_control: boolean;
  default_access_level: 'member' | 'admin' | null;
}

export async function findDefaultAccess(sql: Sql, environmentId: number): Promise<DefaultAccess | undefined> {
  const rows = await sql.query<DefaultAccess>(
    'SELECT access_control, default_access_level FROM environment WHERE id = $1',
    [environmentId],
  );
  return rows[0];
}
