import type { Sql } from '@millrace/db';
import { effectiveLevel, explicitMemberJoin, mayHavePrivateEnvironments } from '../../access/effective-level.ts';
import { type Counted, countedPage } from '../../sql/counted-page.ts';
import { pageLimit } from '../../sql/page-limit.ts';

/** Columns of a project summary: the project's own name, everything else of its first environment. */
const summaryColumns = `p.id, e.uuid, p.organization_id AS organization, e.api_token, p.name,
  e.completed_snippet_onboarding, e.has_completed_onboarding_for, e.ingested_event, e.is_demo, e.timezone,
  e.access_control`;

export interface ProjectSummaryRow {
  id: number;
  uuid: string;
  organization: string;
  api_token: string;
  name: string;
  completed_snippet_onboarding: boolean;
  has_completed_onboarding_for: unknown;
  ingested_event: boolean;
  is_demo: boolean;
  timezone: string;
  access_control: boolean;
}

/** One page of the projects of these organizations the caller has access to, by id, and how many there are. */
export async function listProjects(
  sql: Sql,
  { userId, organizationIds }: { userId: number; organizationIds: string[] },
  window: { limit: number; offset: number },
): Promise<{ count: number; results: ProjectSummaryRow[] }> {
  // Only members can be shut out, so that for all others no environment is looked at but those shown.
  const projects = `FROM project p
    WHERE p.organization_id = o.id
      AND (m.level >= 8 OR (SELECT ${effectiveLevel}
             FROM (SELECT id, access_control FROM environment WHERE project_id = p.id ORDER BY id LIMIT 1) e
             ${explicitMemberJoin}) IS NOT NULL)`;
  const organizations = `membership m JOIN organization o ON o.id = m.organization_id`;
  const where = 'WHERE m.user_id = $1 AND m.organization_id = ANY ($2::uuid[])';
  const values: unknown[] = [userId, organizationIds];
  const limits = pageLimit(window, (value) => `$${values.push(value)}`);
  // One statement: the count and the page are of one moment, and a round trip costs more than either.
  const rows = await sql.query<Counted<ProjectSummaryRow>>(
    `SELECT total.count, page.*
       FROM (SELECT coalesce(sum(CASE WHEN m.level >= 8 OR NOT ${mayHavePrivateEnvironments} THEN coalesce(size.projects, 0)
                                      ELSE (SELECT count(*) ${projects}) END), 0)::int AS count
               FROM ${organizations} LEFT JOIN organization_size size ON size.organization_id = o.id ${where}) total
       LEFT JOIN LATERAL (
         SELECT ${summaryColumns}
           FROM (SELECT p.* FROM ${organizations}
                  CROSS JOIN LATERAL (SELECT p.* ${projects} ORDER BY p.id ${limits.reach}) p
                 ${where} ORDER BY p.id ${limits.page}) p
           JOIN LATERAL (SELECT * FROM environment WHERE project_id = p.id ORDER BY id LIMIT 1) e ON true) page ON true
      ORDER BY page.id`,
    values,
  );
  return countedPage(rows);
}

/**
 * A project of the caller's organizations with the ids of its environments.
 * @param id null for the current one: that of the preferred environment, else the first of these organizations.
 */
export async function findProjectOfCaller(
  sql: Sql,
  userId: number,
  { id, preferred, organizationIds }: { id: number | null; preferred: number | null; organizationIds: string[] | null },
): Promise<{ projectId: number; organizationId: string; environmentIds: number[] } | undefined> {
  const rows = await sql.query<{ projectId: number; organizationId: string; environmentIds: number[] }>(
    `SELECT p.id AS "projectId", p.organization_id AS "organizationId",
            array(SELECT e.id FROM environment e WHERE e.project_id = p.id ORDER BY e.id) AS "environmentIds"
       FROM project p JOIN membership m ON m.organization_id = p.organization_id AND m.user_id = $1
      WHERE ($2::int IS NULL OR p.id = $2) AND ($4::uuid[] IS NULL OR p.organization_id = ANY ($4::uuid[]))
      ORDER BY EXISTS (SELECT 1 FROM environment e WHERE e.project_id = p.id AND e.id = $3::int) DESC,
               array_position($4::uuid[], p.organization_id), p.id
      LIMIT 1`,
    [userId, id, preferred, organizationIds],
  );
  return rows[0];
}

/** Summary of one environment, in the fields of a project summary. */
export async function findEnvironmentSummary(sql: Sql, environmentId: number): Promise<ProjectSummaryRow | undefined> {
  const rows = await sql.query<ProjectSummaryRow & Record<string, unknown>>(
    `SELECT e.id, e.uuid, p.organization_id AS organization, e.api_token, e.name, e.completed_snippet_onboarding,
            e.has_completed_onboarding_for, e.ingested_event, e.is_demo, e.timezone, e.access_control
       FROM environment e JOIN project p ON p.id = e.project_id
      WHERE e.id = $1`,
    [environmentId],
  );
  return rows[0];
}
