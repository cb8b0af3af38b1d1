import type { Sql, Transaction } from '@millrace/db';

export interface EnvironmentSummaryRow {
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

export interface OrganizationRow {
  id: string;
  name: string;
  slug: string;
  logo_media_id: string | null;
  created_at: Date;
  updated_at: Date;
  teams: EnvironmentSummaryRow[];
  projects: { id: number; organization_id: string; name: string }[];
  available_product_features: unknown[];
  is_member_join_email_enabled: boolean;
  enforce_2fa: boolean | null;
  member_count: number;
}

/** One page of these organizations in the order they were created. */
export async function listOrganizations(
  sql: Sql,
  organizationIds: string[],
  { limit, offset }: { limit: number; offset: number },
): Promise<OrganizationRow[]> {
  return sql.query<OrganizationRow & Record<string, unknown>>(
    `SELECT o.id, o.name, o.slug, o.logo_media_id, o.created_at, o.updated_at, o.available_product_features,
            o.is_member_join_email_enabled, o.enforce_2fa,
            coalesce((SELECT jsonb_agg(jsonb_build_object(
                               'id', e.id, 'uuid', e.uuid, 'organization', o.id, 'project_id', e.project_id,
                               'api_token', e.api_token, 'name', e.name,
                               'completed_snippet_onboarding', e.completed_snippet_onboarding,
                               'has_completed_onboarding_for', e.has_completed_onboarding_for,
                               'ingested_event', e.ingested_event, 'is_demo', e.is_demo, 'timezone', e.timezone,
                               'access_control', e.access_control) ORDER BY e.id)
                        FROM environment e JOIN project p ON p.id = e.project_id
                       WHERE p.organization_id = o.id), '[]') AS teams,
            coalesce((SELECT jsonb_agg(jsonb_build_object('id', p.id, 'organization_id', o.id, 'name', p.name)
                                       ORDER BY p.id)
                        FROM project p WHERE p.organization_id = o.id), '[]') AS projects,
            (SELECT count(*)::int FROM membership m JOIN "user" u ON u.id = m.user_id
              WHERE m.organization_id = o.id AND u.is_active) AS member_count
       FROM organization o
      WHERE o.id = ANY ($1::uuid[])
      ORDER BY o.created_at, o.id
      LIMIT $2 OFFSET $3`,
    [organizationIds, limit, offset],
  );
}

/** What the plan of an organization includes; an empty list for one that is gone. */
export async function findProductFeatures(sql: Sql, organizationId: string): Promise<unknown> {
  const rows = await sql.query<{ available_product_features: unknown }>(
    'SELECT available_product_features FROM organization WHERE id = $1',
    [organizationId],
  );
  return rows[0]?.available_product_features ?? [];
}

export interface OrganizationSettings {
  name: string;
  is_member_join_email_enabled: boolean;
  enforce_2fa: boolean | null;
}

/** An organization's settings, held until the transaction ends. */
export async function lockOrganizationSettings(tx: Transaction, id: string): Promise<OrganizationSettings | undefined> {
  const rows = await tx.query<OrganizationSettings & Record<string, unknown>>(
    'SELECT name, is_member_join_email_enabled, enforce_2fa FROM organization WHERE id = $1 FOR NO KEY UPDATE',
    [id],
  );
  return rows[0];
}

export async function updateOrganization(tx: Transaction, id: string, settings: OrganizationSettings): Promise<void> {
  await tx.query(
    `UPDATE organization SET name = $2, is_member_join_email_enabled = $3, enforce_2fa = $4, updated_at = now()
      WHERE id = $1`,
    [id, settings.name, settings.is_member_join_email_enabled, settings.enforce_2fa],
  );
}
