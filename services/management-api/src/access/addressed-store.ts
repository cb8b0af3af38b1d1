import type { Sql } from '@millrace/db';

/** The environment whose data a path addresses. Environments and projects share one id space. */
export interface AddressedProject {
  environmentId: number;
  organizationId: string;
}

export async function organizationExists(sql: Sql, organizationId: string): Promise<boolean> {
  const rows = await sql.query('SELECT 1 FROM organization WHERE id = $1', [organizationId]);
  return rows.length > 0;
}

/** The environment with this id, if it belongs to one of these organizations. */
export async function findEnvironment(
  sql: Sql,
  environmentId: number,
  organizationIds: string[],
): Promise<AddressedProject | undefined> {
  const rows = await sql.query<AddressedProject & Record<string, unknown>>(
    `SELECT e.id AS "environmentId", p.organization_id AS "organizationId"
       FROM environment e
       JOIN project p ON p.id = e.project_id
      WHERE e.id = $1 AND p.organization_id = ANY ($2::uuid[])`,
    [environmentId, organizationIds],
  );
  return rows[0];
}

/**
 * The oldest environment of the first of these organizations that has one, or the preferred one, if it is among theirs.
 * @param only narrows it to some environments.
 */
export async function firstEnvironment(
  sql: Sql,
  organizationIds: string[],
  { only, preferred }: { only: number[] | null; preferred: number | null },
): Promise<AddressedProject | undefined> {
  const rows = await sql.query<AddressedProject & Record<string, unknown>>(
    `SELECT e.id AS "environmentId", p.organization_id AS "organizationId"
       FROM unnest($1::uuid[]) WITH ORDINALITY AS visible (organization_id, position)
       JOIN project p ON p.organization_id = visible.organization_id
       JOIN environment e ON e.project_id = p.id
      WHERE $2::int[] IS NULL OR e.id = ANY ($2::int[])
      ORDER BY e.id = $3 DESC NULLS LAST, visible.position, e.id
      LIMIT 1`,
    [organizationIds, only, preferred],
  );
  return rows[0];
}
