import { effectiveLevel, environmentsOfCaller } from '@millrace/accounts/access';
import type { Sql } from '@millrace/db';
import { upToPageBytes } from '../../sql/up-to-page-bytes.ts';
import { settingFields } from './setting-fields.ts';

const settingColumns = Object.keys(settingFields)
  .map((field) => `e.${field}`)
  .join(', ');

/** An environment with its project and what is computed for the caller. Settings are under their own names. */
export interface EnvironmentRow extends Record<string, unknown> {
  id: number;
  uuid: string;
  project_id: number;
  organization: string;
  name: string;
  api_token: string;
  ingested_event: boolean;
  created_at: Date;
  updated_at: Date;
  project_name: string;
  product_description: string | null;
  project_created_at: Date;
  project_updated_at: Date;
  effective_membership_level: number | null;
  has_group_types: boolean;
  product_intents: unknown[];
}

/** Everything an answer shows of one environment, for one caller: one statement. */
export async function findEnvironmentForCaller(
  sql: Sql,
  userId: number,
  environmentId: number,
): Promise<EnvironmentRow | undefined> {
  const rows = await sql.query<EnvironmentRow>(
    `SELECT e.id, e.uuid, e.project_id, p.organization_id AS organization, e.name, e.api_token, e.ingested_event,
            e.created_at, e.updated_at, p.name AS project_name, p.product_description,
            p.created_at AS project_created_at, p.updated_at AS project_updated_at,
            ${effectiveLevel} AS effective_membership_level, ${settingColumns},
            EXISTS (SELECT 1 FROM group_type_mapping g WHERE g.project_id = e.id) AS has_group_types,
            coalesce((SELECT jsonb_agg(jsonb_build_object('product_type', i.product_type, 'created_at', i.created_at,
                        'onboarding_completed_at', i.onboarding_completed_at, 'updated_at', i.updated_at)
                        ORDER BY i.created_at, i.product_type)
                        FROM product_intent i WHERE i.environment_id = e.id), '[]') AS product_intents
       FROM ${environmentsOfCaller} WHERE e.id = $2`,
    [userId, environmentId],
  );
  return rows[0];
}

/** Columns of a summary; `name` is the environment's own. */
const summaryColumns = `e.id, e.uuid, p.organization_id AS organization, e.project_id, e.api_token, e.name,
  e.completed_snippet_onboarding, e.has_completed_onboarding_for, e.ingested_event, e.is_demo, e.timezone,
  e.access_control`;

export interface EnvironmentSummaryRow extends Record<string, unknown> {
  id: number;
  uuid: string;
  organization: string;
  project_id: number;
  api_token: string;
  name: string;
  completed_snippet_onboarding: boolean;
  has_completed_onboarding_for: unknown;
  ingested_event: boolean;
  is_demo: boolean;
  timezone: string;
  access_control: boolean;
}

/**
 * One page of the environments the caller has access to, by id, and how many there are.
 * @param projectId narrows it to one project; `only` to some environments.
 */
export async function listEnvironments(
  sql: Sql,
  { userId, organizationIds }: { userId: number; organizationIds: string[] },
  page: { projectId: number | null; only: number[] | null; limit: number; offset: number },
): Promise<{ count: number; results: EnvironmentSummaryRow[] }> {
  const from = `FROM ${environmentsOfCaller}
    WHERE p.organization_id = ANY ($2::uuid[]) AND ($3::int IS NULL OR e.project_id = $3)
      AND ($4::int[] IS NULL OR e.id = ANY ($4::int[])) AND (${effectiveLevel}) IS NOT NULL`;
  const filter = [userId, organizationIds, page.projectId, page.only];
  const [counted, results] = await Promise.all([
    sql.query<{ count: number }>(`SELECT count(*)::int AS count ${from}`, filter),
    sql.query<EnvironmentSummaryRow>(
      upToPageBytes(`SELECT ${summaryColumns} ${from} ORDER BY e.id LIMIT $5 OFFSET $6`, [
        'has_completed_onboarding_for',
      ]),
      [...filter, page.limit, page.offset],
    ),
  ]);
  return { count: counted[0]?.count ?? 0, results };
}
