import type { Sql } from '@millrace/db';

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

/** One page of the projects of these organizations by id, and how many there are. */
export async function listProjects(
  sql: Sql,
  organizationIds: string[],
  { limit, offset }: { limit: number; offset: number },
): Promise<{ count: number; results: ProjectSummaryRow[] }> {
  const from = `FROM project p
    JOIN LATERAL (SELECT * FROM environment WHERE project_id = p.id ORDER BY id LIMIT 1) e ON true
    WHERE p.organization_id = ANY ($1::uuid[])`;
  const [counted, results] = await Promise.all([
    sql.query<{ count: number }>(`SELECT count(*)::int AS count ${from}`, [organizationIds]),
    sql.query<ProjectSummaryRow & Record<string, unknown>>(
      `SELECT ${summaryColumns} ${from} ORDER BY p.id LIMIT $2 OFFSET $3`,
      [organizationIds, limit, offset],
    ),
  ]);
  return { count: counted[0]?.count ?? 0, results };
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
