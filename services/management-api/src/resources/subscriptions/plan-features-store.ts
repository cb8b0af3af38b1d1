import type { Sql } from '@millrace/db';

/** The stored list of what the organization's plan includes. */
export async function findPlanFeatures(sql: Sql, organizationId: string): Promise<unknown> {
  const rows = await sql.query<{ features: unknown }>(
    'SELECT available_product_features AS features FROM organization WHERE id = $1',
    [organizationId],
  );
  return rows[0]?.features;
}
