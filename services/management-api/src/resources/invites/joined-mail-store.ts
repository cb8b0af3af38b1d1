import { membershipLevels } from '@millrace/contracts';
import type { Sql } from '@millrace/db';

/**
 * Who is told that somebody joined: active administrators and owners, the somebody aside. Nobody when the organization
 * does not wish it. The reference tells every member, which is a flood where there are thousands.
 */
export async function findJoinRecipients(sql: Sql, organizationId: string, joinedUserId: number): Promise<string[]> {
  const rows = await sql.query<{ email: string }>(
    `SELECT u.email
       FROM organization o
       JOIN membership m ON m.organization_id = o.id AND m.level >= ${membershipLevels.administrator} AND m.user_id <> $2
       JOIN "user" u ON u.id = m.user_id AND u.is_active
      WHERE o.id = $1 AND o.is_member_join_email_enabled
      ORDER BY m.joined_at
      LIMIT 100`,
    [organizationId, joinedUserId],
  );
  return rows.map(({ email }) => email);
}
