import type { Sql } from '@millrace/db';

export interface OrganizationRow {
  id: string;
  name: string;
  created_at: Date;
  updated_at: Date;
  projects: { id: number; organization_id: string; name: string }[];
  available_product_features: unknown[];
  member_count: number;
}

/** One page of these organizations in the order they were created. */
export async function listOrganizations(
  sql: Sql,
  organizationIds: string[],
  { limit, offset }: { limit: number; offset: number },
): Promise<OrganizationRow[]> {
  return sql.query<OrganizationRow & Record<string, unknown>>(
    `SELECT o.id, o.name, o.created_at, o.updated_at, o.available_product_features,
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
