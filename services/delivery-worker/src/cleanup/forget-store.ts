import type { Sql } from '@millrace/db';

/** Deletes some reports and runs that ended long ago. @returns how many. */
export async function deleteOldOutcomes(sql: Sql, { days, limit }: { days: number; limit: number }): Promise<number> {
  const deliveries = await sql.query(
    `DELETE FROM subscription_delivery WHERE id IN (
       SELECT id FROM subscription_delivery
        WHERE status IN ('delivered', 'failed', 'cancelled') AND attempt_at < now() - make_interval(days => $1) LIMIT $2)
     RETURNING id`,
    [days, limit],
  );
  const runs = await sql.query(
    `DELETE FROM batch_export_run WHERE id IN (
       SELECT id FROM batch_export_run
        WHERE status IN ('Completed', 'Failed', 'Cancelled') AND attempt_at < now() - make_interval(days => $1) LIMIT $2)
     RETURNING id`,
    [days, limit],
  );
  return deliveries.length + runs.length;
}

/** Deletes some project keys that were replaced long ago. @returns how many. */
export async function deleteFormerKeys(sql: Sql, { days, limit }: { days: number; limit: number }): Promise<number> {
  const keys = await sql.query(
    `DELETE FROM former_project_key WHERE token IN (
       SELECT token FROM former_project_key WHERE replaced_at < now() - make_interval(days => $1) LIMIT $2)
     RETURNING environment_id`,
    [days, limit],
  );
  return keys.length;
}
