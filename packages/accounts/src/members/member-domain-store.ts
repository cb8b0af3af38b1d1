import type { Sql } from '@millrace/db';

/** E-mail domains of the active members of an organization, that of the first member in front. */
export async function findMemberDomains(sql: Sql, organizationId: string): Promise<string[]> {
  const rows = await sql.query<{ domain: string }>(
    `SELECT lower(split_part(u.email, '@', 2)) AS domain
       FROM membership m JOIN "user" u ON u.id = m.user_id
      WHERE m.organization_id = $1::uuid AND u.is_active ORDER BY m.joined_at, m.id LIMIT 100`,
    [organizationId],
  );
  return rows.map(({ domain }) => domain);
}
