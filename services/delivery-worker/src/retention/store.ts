// SQL that finds and deletes data that is older than its retention period.

import type { Sql, Transaction } from '@millrace/db';

/**
 * Returns an SQL expression for the retention period of environment `e` in days: the minimum of its own limit and
 * `limits`. Null stands for unlimited.
 */
const shortest = (...limits: string[]) => `LEAST(e.event_retention_days, ${limits.map((l) => `NULLIF(${l}::int, 0)`)})`;

/**
 * Returns the time before which all events have expired. Returns null if an environment keeps events without a limit,
 * or if no environment exists.
 * @param installationDays the retention period of the installation in days, or 0 for unlimited
 */
export async function findCommonRetentionEnd(sql: Sql, installationDays: number): Promise<Date | null> {
  const rows = await sql.query<{ ends_at: Date | null }>(
    `SELECT now() - make_interval(days => CASE WHEN bool_and(${shortest('$1')} IS NOT NULL)
                                               THEN max(${shortest('$1')}) END) AS ends_at
       FROM environment e`,
    [installationDays],
  );
  return rows[0]?.ends_at ?? null;
}

/** Returns environments with their own retention period, and the time before which each one's events have expired. */
export async function listOwnRetentionEnds(
  sql: Sql,
  installationDays: number,
): Promise<{ environment_id: number; ends_at: Date }[]> {
  return sql.query<{ environment_id: number; ends_at: Date }>(
    `SELECT e.id AS environment_id, now() - make_interval(days => ${shortest('$1')}) AS ends_at
       FROM environment e WHERE e.event_retention_days IS NOT NULL ORDER BY e.id`,
    [installationDays],
  );
}

/**
 * Deletes about `limit` of an environment's oldest events from before the given time. Selects events by time instead of
 * physical position, so that PostgreSQL can use the primary key, month by month.
 * @returns the number of deleted events
 */
export async function deleteOldEvents(
  sql: Sql,
  { environment_id, ends_at }: { environment_id: number; ends_at: Date },
  limit: number,
): Promise<number> {
  const [last] = await sql.query<{ timestamp: string }>(
    `SELECT timestamp::text FROM event WHERE project_id = $1::int AND timestamp < $2::timestamptz
      ORDER BY timestamp OFFSET $3 LIMIT 1`,
    [environment_id, ends_at, limit - 1],
  );
  // The time range's bounds are parameters, so that PostgreSQL skips the partitions of other months.
  const rows = await sql.query<{ count: number }>(
    `WITH gone AS (DELETE FROM event WHERE project_id = $1::int AND timestamp < $2::timestamptz
                      AND timestamp <= $3::timestamptz RETURNING 1)
     SELECT count(*)::int AS count FROM gone`,
    [environment_id, ends_at, last?.timestamp ?? 'infinity'],
  );
  return rows[0]?.count ?? 0;
}

/** Deletes some events from before 2015, whose partition is never dropped. @returns the number of deleted events */
export async function deleteAncientEvents(sql: Sql, limit: number): Promise<number> {
  const rows = await sql.query<{ count: number }>(
    `WITH gone AS (DELETE FROM event_before_2015
                    WHERE ctid = ANY (ARRAY(SELECT ctid FROM event_before_2015 LIMIT $1)) RETURNING 1)
     SELECT count(*)::int AS count FROM gone`,
    [limit],
  );
  return rows[0]?.count ?? 0;
}

export async function countIdentityPages(sql: Sql): Promise<number> {
  const rows = await sql.query<{ pages: number }>(
    `SELECT (pg_relation_size('event_identity') / current_setting('block_size')::int)::int AS pages`,
  );
  return rows[0]?.pages ?? 0;
}

/**
 * Deletes identities on some pages if their events expired more than `graceDays` ago. Scans the table, because an index
 * by time would slow down every insert.
 */
export async function deleteOldIdentities(
  sql: Sql,
  { installationDays, graceDays }: { installationDays: number; graceDays: number },
  { fromPage, pages }: { fromPage: number; pages: number },
): Promise<void> {
  await sql.query(
    `DELETE FROM event_identity i USING environment e
      WHERE i.ctid >= $3::text::tid AND i.ctid < $4::text::tid AND e.id = i.project_id
        AND i.timestamp < now() - make_interval(days => ${shortest('$1')} + $2::int)`,
    [installationDays, graceDays, `(${fromPage},0)`, `(${fromPage + pages},0)`],
  );
}

/**
 * Deletes some warnings that are older than `days` or than their environment's retention period.
 * @returns the number of deleted warnings
 */
export async function deleteOldWarnings(
  sql: Sql,
  { installationDays, days, limit }: { installationDays: number; days: number; limit: number },
): Promise<number> {
  const rows = await sql.query<{ count: number }>(
    `WITH old AS (
       SELECT w.project_id, w.id
         FROM environment e
        CROSS JOIN LATERAL (SELECT project_id, id FROM ingestion_warning
                             WHERE project_id = e.id
                               AND timestamp < now() - make_interval(days => ${shortest('$1', '$2')})
                             LIMIT $3) AS w
        LIMIT $3),
     gone AS (DELETE FROM ingestion_warning w USING old
               WHERE w.project_id = old.project_id AND w.id = old.id RETURNING 1)
     SELECT count(*)::int AS count FROM gone`,
    [installationDays, days, limit],
  );
  return rows[0]?.count ?? 0;
}

export async function deleteOldActivity(sql: Sql, { days, limit }: { days: number; limit: number }): Promise<number> {
  const rows = await sql.query<{ count: number }>(
    `WITH gone AS (DELETE FROM activity_log WHERE id IN (
                     SELECT id FROM activity_log WHERE created_at < now() - make_interval(days => $1::int) LIMIT $2)
                   RETURNING 1)
     SELECT count(*)::int AS count FROM gone`,
    [days, limit],
  );
  return rows[0]?.count ?? 0;
}

/** Returns the names of the monthly partitions (`event_2024_01`) that end at or before a time, oldest first. */
export async function listPartitionsBefore(sql: Sql, end: Date): Promise<string[]> {
  const rows = await sql.query<{ name: string }>(
    `SELECT name FROM (SELECT c.relname AS name FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid
                        WHERE i.inhparent = 'event'::regclass AND c.relname ~ '^event_\\d{4}_\\d{2}$') AS months
      WHERE (to_date(right(name, 7), 'YYYY_MM') + interval '1 month') AT TIME ZONE 'UTC' <= $1::timestamptz
      ORDER BY name`,
    [end],
  );
  return rows.map(({ name }) => name);
}

/** The consumer's `events/store.ts` takes the same advisory lock while it creates a month. */
const partitionLock = 620_150_101;

/**
 * Detaches a month and renames it, so that `dropDetachedPartitions` finds it. This changes only the catalog, but blocks
 * all access to events for a moment. Waits for at most 90 ms for each of two locks: on all events, and on the month.
 * All other transactions queue behind this wait. CONCURRENTLY would not block them, but an interruption would leave a
 * half-detached partition that cannot be written to and must be repaired.
 * @returns the new name
 * @throws PostgreSQL's `lock_not_available` if another transaction reads or writes for longer
 */
export async function detachPartition(tx: Transaction, name: string): Promise<string> {
  await tx.query("SET LOCAL lock_timeout = '90ms'");
  await tx.query('SELECT pg_advisory_xact_lock($1)', [partitionLock]);
  await tx.query(`ALTER TABLE event DETACH PARTITION "${name}"`);
  const expired = name.replace('event_', 'event_expired_');
  await tx.query(`ALTER TABLE "${name}" RENAME TO "${expired}"`);
  return expired;
}

/** Drops detached months, including those that a crashed worker has left. */
export async function dropDetachedPartitions(sql: Sql): Promise<void> {
  const rows = await sql.query<{ name: string }>(
    "SELECT relname AS name FROM pg_class WHERE relname ~ '^event_expired_\\d{4}_\\d{2}$' AND relkind = 'r'",
  );
  for (const { name } of rows) await sql.query(`DROP TABLE IF EXISTS "${name}"`);
}

export async function deleteOldOutcomes(sql: Sql, { days, limit }: { days: number; limit: number }): Promise<number> {
  const deliveries = await sql.query(
    `DELETE FROM subscription_delivery WHERE id IN (
       SELECT id FROM subscription_delivery
        WHERE status IN ('delivered', 'failed', 'cancelled') AND attempt_at < now() - make_interval(days => $1) LIMIT $2)
     RETURNING id`,
    [days, limit],
  );
  // Delete reports after their deliveries, which reference them.
  const reports = await sql.query(
    `DELETE FROM subscription_report WHERE id IN (
       SELECT r.id FROM subscription_report r
        WHERE r.created_at < now() - make_interval(days => $1)
          AND NOT EXISTS (SELECT FROM subscription_delivery d
                           WHERE d.subscription_id = r.subscription_id AND d.due_at = r.due_at) LIMIT $2)
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
  return deliveries.length + reports.length + runs.length;
}

export async function deleteFormerKeys(sql: Sql, { days, limit }: { days: number; limit: number }): Promise<number> {
  const keys = await sql.query(
    `DELETE FROM former_project_key WHERE token IN (
       SELECT token FROM former_project_key WHERE replaced_at < now() - make_interval(days => $1) LIMIT $2)
     RETURNING environment_id`,
    [days, limit],
  );
  return keys.length;
}
