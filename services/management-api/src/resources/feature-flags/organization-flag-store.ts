import { effectiveLevel, environmentsOfCaller } from '@millrace/accounts/access';
import type { Sql } from '@millrace/db';

/** Ids of the environments of an organization that are not private to others, the oldest first. */
export async function findEnvironmentsOfOrganization(
  sql: Sql,
  { userId, organizationId }: { userId: number; organizationId: string },
): Promise<number[]> {
  const rows = await sql.query<{ id: number }>(
    `SELECT e.id FROM ${environmentsOfCaller}
      WHERE p.organization_id = $2 AND (${effectiveLevel}) IS NOT NULL ORDER BY e.id`,
    [userId, organizationId],
  );
  return rows.map(({ id }) => id);
}
