import type { Sql } from '@millrace/db';

/**
 * A project of the caller's organizations with the ids of its environments.
 * @param id null for the current one: that of the preferred environment, else the first of these organizations.
 * @param only narrows it to projects that have one of these environments.
 */
export async function findProjectOfCaller(
  sql: Sql,
  userId: number,
  {
    id,
    preferred,
    organizationIds,
    only,
  }: { id: number | null; preferred: number | null; organizationIds: string[] | null; only: number[] | null },
): Promise<{ projectId: number; organizationId: string; environmentIds: number[] } | undefined> {
  const rows = await sql.query<{ projectId: number; organizationId: string; environmentIds: number[] }>(
    `SELECT p.id AS "projectId", p.organization_id AS "organizationId",
            array(SELECT e.id FROM environment e WHERE e.project_id = p.id ORDER BY e.id) AS "environmentIds"
       FROM project p JOIN membership m ON m.organization_id = p.organization_id AND m.user_id = $1
      WHERE ($2::int IS NULL OR p.id = $2) AND ($4::uuid[] IS NULL OR p.organization_id = ANY ($4::uuid[]))
        AND ($5::int[] IS NULL OR EXISTS (SELECT 1 FROM environment e WHERE e.project_id = p.id AND e.id = ANY ($5::int[])))
      ORDER BY EXISTS (SELECT 1 FROM environment e WHERE e.project_id = p.id AND e.id = $3::int) DESC,
               array_position($4::uuid[], p.organization_id), p.id
      LIMIT 1`,
    [userId, id, preferred, organizationIds, only],
  );
  return rows[0];
}
