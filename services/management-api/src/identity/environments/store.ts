// Reads environments and their access rules, and stores product intents.

import { settingFields } from '@millrace/accounts';
import { effectiveLevel, environmentsOfCaller } from '@millrace/accounts/access';
import type { Columns, Sql } from '@millrace/db';
import { AppError } from '@millrace/runtime';
import { limitPageBytes } from '../../sql/limit-page-bytes.ts';

const settingColumns = Object.keys(settingFields)
  .map((field) => `e.${field}`)
  .join(', ');

export interface EnvironmentRow
  extends Record<string, unknown>,
    Columns<
      'environment',
      | 'id'
      | 'uuid'
      | 'project_id'
      | 'name'
      | 'api_token'
      | 'ingested_event'
      | 'created_at'
      | 'updated_at'
      | 'slack_incoming_webhook'
    > {
  organization: string;
  project_name: string;
  product_description: string | null;
  project_created_at: Date;
  project_updated_at: Date;
  effective_membership_level: number | null;
  has_group_types: boolean;
  product_intents: unknown[];
}

/** Reads an environment for a response in a single SQL statement. */
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

/** Columns of an environment summary. `name` is the environment's name. */
const summaryColumns = `e.id, e.uuid, p.organization_id AS organization, e.project_id, e.api_token, e.name,
  e.completed_snippet_onboarding, e.has_completed_onboarding_for, e.ingested_event, e.is_demo, e.timezone,
  e.access_control`;

export interface EnvironmentSummaryRow
  extends Columns<
    'environment',
    | 'id'
    | 'uuid'
    | 'project_id'
    | 'api_token'
    | 'name'
    | 'completed_snippet_onboarding'
    | 'has_completed_onboarding_for'
    | 'ingested_event'
    | 'is_demo'
    | 'timezone'
    | 'access_control'
  > {
  organization: string;
}

/**
 * Returns one page of the environments that the caller can access, sorted by ID, and the total count. If `projectId` or
 * `only` is set, includes only environments of this project, or only those environments.
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
      limitPageBytes(`SELECT ${summaryColumns} ${from} ORDER BY e.id LIMIT $5 OFFSET $6`, [
        'has_completed_onboarding_for',
      ]),
      [...filter, page.limit, page.offset],
    ),
  ]);
  return { count: counted[0]?.count ?? 0, results };
}

/**
 * Finds a project in the caller's organizations, with the IDs of its environments. If `only` is set, the project must
 * have one of these environments.
 * @param id the project's ID. Null finds the current project: the one with the preferred environment or, if no
 *   environment is preferred, the first project of these organizations
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

/**
 * Records a user's interest in a product, or increases the count of an existing record
 * (docs/api/projects.md#product-intents).
 */
export async function upsertProductIntent(
  sql: Sql,
  environmentId: number,
  { productType, context }: { productType: string; context: string },
): Promise<void> {
  await sql.query(
    `INSERT INTO product_intent AS i (environment_id, product_type, contexts)
     VALUES ($1, $2, jsonb_build_object($3::text, 1))
     ON CONFLICT (environment_id, product_type) DO UPDATE
        SET contexts = i.contexts || jsonb_build_object($3::text, coalesce((i.contexts ->> $3::text)::int, 0) + 1),
            updated_at = clock_timestamp()`,
    [environmentId, productType, context],
  );
}

interface AccessRuleRow
  extends Columns<'access_rule', 'resource' | 'resource_id' | 'level' | 'created_at' | 'updated_at'> {
  organization_member: string | null;
  role: string | null;
  /** UUID of the user who created the rule. Null if that user was deleted. */
  created_by: string | null;
}

/**
 * Lists the access rules of an environment (`resource: 'project'`), of record kinds (null), or of one record. The
 * default rule comes first, followed by the others from oldest to newest.
 */
export async function listAccessRules(
  sql: Sql,
  environmentId: number,
  { resource, resourceId }: { resource: string | null; resourceId: string | null },
): Promise<AccessRuleRow[]> {
  return sql.query<AccessRuleRow & Record<string, unknown>>(
    `SELECT r.resource, r.resource_id, r.level, r.membership_id AS organization_member, r.role_id AS role,
            u.uuid AS created_by, r.created_at, r.updated_at
       FROM access_rule r LEFT JOIN "user" u ON u.id = r.created_by_id
      WHERE r.environment_id = $1 AND CASE WHEN $2::text IS NULL THEN r.resource <> 'project' ELSE r.resource = $2 END
        AND r.resource_id IS NOT DISTINCT FROM $3
      ORDER BY r.resource, (r.membership_id IS NULL AND r.role_id IS NULL) DESC, r.created_at, r.id`,
    [environmentId, resource, resourceId],
  );
}

/** Whether an environment is private. If it is not, also the access level of its default rule. */
interface DefaultAccess extends Record<string, unknown> {
  access_control: boolean;
  default_access_level: 'member' | 'admin' | null;
}

export async function findDefaultAccess(sql: Sql, environmentId: number): Promise<DefaultAccess | undefined> {
  const rows = await sql.query<DefaultAccess>(
    'SELECT access_control, default_access_level FROM environment WHERE id = $1',
    [environmentId],
  );
  return rows[0];
}

/** @throws AppError `not_found` if the environment has just been deleted */
export async function readEventRetention(
  sql: Sql,
  environmentId: number,
): Promise<{ event_retention_days: number | null }> {
  const [row] = await sql.query<{ event_retention_days: number | null }>(
    'SELECT event_retention_days FROM environment WHERE id = $1::int',
    [environmentId],
  );
  if (row === undefined) throw new AppError('not_found', 'Not found.');
  return row;
}

export async function hasDashboard(sql: Sql, environmentId: number, id: number): Promise<boolean> {
  const rows = await sql.query('SELECT 1 FROM dashboard WHERE project_id = $1 AND id = $2 AND NOT deleted', [
    environmentId,
    id,
  ]);
  return rows.length > 0;
}
