// SQL that reads organizations with their projects and environments.

import { effectiveLevel } from '@millrace/accounts/access';
import type { Columns, Sql } from '@millrace/db';
import { limitPageBytes } from '../../sql/limit-page-bytes.ts';
import type { EnvironmentSummaryRow } from '../environments/store.ts';
import { activeMemberCount } from '../members/store.ts';

export interface OrganizationRow
  extends Columns<
    'organization',
    | 'id'
    | 'name'
    | 'slug'
    | 'logo_media_id'
    | 'created_at'
    | 'updated_at'
    | 'is_member_join_email_enabled'
    | 'enforce_2fa'
    | 'members_can_invite'
    | 'members_can_use_personal_api_keys'
    | 'allow_publicly_shared_resources'
    | 'default_anonymize_ips'
  > {
  teams: EnvironmentSummaryRow[];
  projects: Columns<'project', 'id' | 'organization_id' | 'name'>[];
  available_product_features: unknown[];
  member_count: number;
}

/**
 * Returns one page of these organizations in the order of their creation, with the projects and environments that this
 * user can see. If `only` is set, includes only these environments, and projects that have one of them.
 * @param isCut whether the page ends when its size in bytes reaches a limit. False for organizations embedded in other
 *   responses, which have no next page.
 */
export async function listOrganizations(
  sql: Sql,
  { userId, organizationIds, only }: { userId: number; organizationIds: string[]; only: number[] | null },
  { limit, offset, isCut = false }: { limit: number; offset: number; isCut?: boolean },
): Promise<OrganizationRow[]> {
  const text = `SELECT o.id, o.name, o.slug, o.logo_media_id, o.created_at, o.updated_at, o.available_product_features,
            o.is_member_join_email_enabled, o.enforce_2fa, o.members_can_invite, o.members_can_use_personal_api_keys,
            o.allow_publicly_shared_resources, o.default_anonymize_ips,
            coalesce((SELECT jsonb_agg(jsonb_build_object(
                               'id', e.id, 'uuid', e.uuid, 'organization', o.id, 'project_id', e.project_id,
                               'api_token', e.api_token, 'name', e.name,
                               'completed_snippet_onboarding', e.completed_snippet_onboarding,
                               'has_completed_onboarding_for', e.has_completed_onboarding_for,
                               'ingested_event', e.ingested_event, 'is_demo', e.is_demo, 'timezone', e.timezone,
                               'access_control', e.access_control) ORDER BY e.id)
                        FROM environment e JOIN project p ON p.id = e.project_id
                       WHERE p.organization_id = o.id AND ${effectiveLevel} IS NOT NULL
                         AND ($5::int[] IS NULL OR e.id = ANY ($5::int[]))), '[]') AS teams,
            coalesce((SELECT jsonb_agg(jsonb_build_object('id', p.id, 'organization_id', o.id, 'name', p.name)
                                       ORDER BY p.id)
                        FROM project p
                       WHERE p.organization_id = o.id
                         AND EXISTS (SELECT 1 FROM environment e
                                      WHERE e.project_id = p.id AND ${effectiveLevel} IS NOT NULL
                                        AND ($5::int[] IS NULL OR e.id = ANY ($5::int[])))), '[]') AS projects,
            ${activeMemberCount('o.id')} AS member_count
       FROM organization o
       JOIN membership m ON m.organization_id = o.id AND m.user_id = $1
      WHERE o.id = ANY ($2::uuid[])
      ORDER BY o.created_at, o.id
      LIMIT $3 OFFSET $4`;
  const cut = isCut ? limitPageBytes(text, ['teams', 'projects', 'available_product_features']) : text;
  return sql.query<OrganizationRow & Record<string, unknown>>(cut, [userId, organizationIds, limit, offset, only]);
}
