import type { ProductFeature } from '@millrace/contracts';
import type { Sql, Transaction } from '@millrace/db';

export interface Organization extends Record<string, unknown> {
  id: string;
  name: string;
  slug: string;
  available_product_features: unknown;
  is_member_join_email_enabled: boolean;
  enforce_2fa: boolean | null;
  created_at: Date;
}

export interface NewOrganizationRow {
  id: string;
  name: string;
  slug: string;
  features: readonly ProductFeature[];
  isMemberJoinEmailEnabled: boolean;
  enforce2fa: boolean | null;
}

/** @returns undefined when the slug is taken, which does not end the transaction. */
export async function insertOrganization(tx: Transaction, row: NewOrganizationRow): Promise<Organization | undefined> {
  const rows = await tx.query<Organization>(
    `INSERT INTO organization
       (id, name, slug, available_product_features, is_member_join_email_enabled, enforce_2fa)
     VALUES ($1, $2, $3, $4::jsonb, $5, $6) ON CONFLICT DO NOTHING RETURNING *`,
    [row.id, row.name, row.slug, JSON.stringify(row.features), row.isMemberJoinEmailEnabled, row.enforce2fa],
  );
  return rows[0];
}

export async function findOrganization(sql: Sql, id: string): Promise<Organization | undefined> {
  const rows = await sql.query<Organization>('SELECT * FROM organization WHERE id = $1', [id]);
  return rows[0];
}

/** Oldest first; those a user is a member of, or with null all of them. */
export async function selectOrganizations(sql: Sql, userId: number | null): Promise<Organization[]> {
  return sql.query<Organization>(
    `SELECT * FROM organization
      WHERE $1::int IS NULL OR id IN (SELECT organization_id FROM membership WHERE user_id = $1)
      ORDER BY created_at, id`,
    [userId],
  );
}

export async function updateFeatures(
  tx: Transaction,
  id: string,
  features: readonly ProductFeature[],
): Promise<Organization | undefined> {
  const rows = await tx.query<Organization>(
    'UPDATE organization SET available_product_features = $2::jsonb, updated_at = now() WHERE id = $1 RETURNING *',
    [id, JSON.stringify(features)],
  );
  return rows[0];
}

export async function updateOrganization(
  tx: Transaction,
  id: string,
  settings: Pick<Organization, 'name' | 'is_member_join_email_enabled' | 'enforce_2fa'>,
): Promise<Organization> {
  const rows = await tx.query<Organization>(
    `UPDATE organization SET name = $2, is_member_join_email_enabled = $3, enforce_2fa = $4, updated_at = now()
      WHERE id = $1 RETURNING *`,
    [id, settings.name, settings.is_member_join_email_enabled, settings.enforce_2fa],
  );
  return rows[0] as Organization;
}

/** The project API keys of an organization. */
export async function listTokens(tx: Transaction, organizationId: string): Promise<string[]> {
  const rows = await tx.query<{ api_token: string }>(
    'SELECT e.api_token FROM environment e JOIN project p ON p.id = e.project_id WHERE p.organization_id = $1',
    [organizationId],
  );
  return rows.map(({ api_token }) => api_token);
}

/** Removes an organization and all that hangs on it; ingested data goes later (`environment_cleanup`). */
export async function deleteOrganization(tx: Transaction, id: string): Promise<void> {
  await tx.query('DELETE FROM organization WHERE id = $1', [id]);
}
