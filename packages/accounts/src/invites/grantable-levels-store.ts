import type { Sql } from '@millrace/db';
import { effectiveLevel, environmentsOfCaller } from '../access/effective-level.ts';

/** The inviter's own level on each environment of the organization that the inviter can see. */
export async function grantableLevels(
  sql: Sql,
  { userId, organizationId }: { userId: number; organizationId: string },
): Promise<Map<number, number>> {
  const rows = await sql.query<{ id: number; level: number | null }>(
    `SELECT e.id, ${effectiveLevel} AS level FROM ${environmentsOfCaller} WHERE o.id = $2`,
    [userId, organizationId],
  );
  return new Map(rows.flatMap(({ id, level }) => (level === null ? [] : [[id, level] as const])));
}
