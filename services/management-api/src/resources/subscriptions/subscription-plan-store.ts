import type { Sql } from '@millrace/db';

/** The stored list of what the organization's plan includes. */
export async function findPlanFeatures(sql: Sql, organizationId: string): Promise<unknown> {
  const rows = await sql.query<{ features: unknown }>(
    'SELECT available_product_features AS features FROM organization WHERE id = $1',
    [organizationId],
  );
  return rows[0]?.features;
}

/** IANA name of the zone whose clocks an environment goes by. */
export async function findTimeZone(sql: Sql, environmentId: number): Promise<string> {
  const rows = await sql.query<{ timezone: string }>('SELECT timezone FROM environment WHERE id = $1', [environmentId]);
  return rows[0]?.timezone ?? 'UTC';
}
