import type { Sql } from '@millrace/db';

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
