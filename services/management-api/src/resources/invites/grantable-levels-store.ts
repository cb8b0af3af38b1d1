import { effectiveLevel, environmentsOfCaller } from '@millrace/accounts/access';
import type { Sql } from '@millrace/db';

/** The inviter's own level on each environment of the organization that the inviter can see. */
export async function grantableLevels(
  sql: Sql,
  { userId, organization }: { userId: number; organization: { id: string } },
): Promise<Map<number, number>> {
  const rows = await sql.query<{ id: number; level: number | null }>(
    `SELECT e.id, ${effectiveLevel} AS level FROM ${environmentsOfCaller} WHERE o.id = $2`,
    [userId, organization.id],
  );
  return new Map(rows.flatMap(({ id, level }) => (level === null ? [] : [[id, level] as const])));
}
