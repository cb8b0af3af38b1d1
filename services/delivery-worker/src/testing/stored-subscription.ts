import type { Sql } from '@millrace/db';

/** Stores a subscription, which is weekly and due by default. @returns the subscription's ID */
export async function storeSubscription(
  sql: Sql,
  environmentId: number,
  fields: Record<string, unknown> = {},
): Promise<number> {
  const row: Record<string, unknown> = {
    environment_id: environmentId,
    target_type: 'email',
    target_value: 'ada@example.com',
    frequency: 'weekly',
    start_date: '2026-11-02T09:00:00Z',
    next_delivery_date: '2026-11-09T09:00:00Z',
    ...fields,
  };
  const names = Object.keys(row);
  const rows = await sql.query<{ id: number }>(
    `INSERT INTO subscription (${names.map((name) => `"${name}"`).join(', ')})
     VALUES (${names.map((_, index) => `$${index + 1}`).join(', ')}) RETURNING id`,
    Object.values(row),
  );
  return rows[0]?.id ?? 0;
}
