import type { Sql } from '@millrace/db';

/** Days after which something ends for an environment `e`: the shortest of its own limit and these; null: never. */
const shortest = (...limits: string[]) => `LEAST(e.event_retention_days, ${limits.map((l) => `NULLIF(${l}::int, 0)`)})`;

/**
 * The time before which no environment keeps an event any more; null while one keeps them for ever, or there is none.
 * @param installationDays 0: no limit.
 */
export async function findCommonEnd(sql: Sql, installationDays: number): Promise<Date | null> {
  const rows = await sql.query<{ ends_at: Date | null }>(
    `SELECT now() - make_interval(days => CASE WHEN bool_and(${shortest('$1')} IS NOT NULL)
                                               THEN max(${shortest('$1')}) END) AS ends_at
       FROM environment e`,
    [installationDays],
  );
  return rows[0]?.ends_at ?? null;
}

/** Environments that have limits of their own, each with the time before which it keeps no event. */
export async function listOwnEnds(
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
 * Deletes the oldest events of an environment from before a time, about `limit` of them. By time and not by place: the
 * primary key leads to them month by month. @returns how many.
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
  // The bounds are written out, so that months that have nothing of it are not even looked at.
  const rows = await sql.query<{ count: number }>(
    `WITH gone AS (DELETE FROM event WHERE project_id = $1::int AND timestamp < $2::timestamptz
                      AND timestamp <= $3::timestamptz RETURNING 1)
     SELECT count(*)::int AS count FROM gone`,
    [environment_id, ends_at, last?.timestamp ?? 'infinity'],
  );
  return rows[0]?.count ?? 0;
}

/** Deletes some events of the one partition that is never dropped. @returns how many. */
export async function deleteAncientEvents(sql: Sql, limit: number): Promise<number> {
  const rows = await sql.query<{ count: number }>(
    `WITH gone AS (DELETE FROM event_before_2015
                    WHERE ctid = ANY (ARRAY(SELECT ctid FROM event_before_2015 LIMIT $1)) RETURNING 1)
     SELECT count(*)::int AS count FROM gone`,
    [limit],
  );
  return rows[0]?.count ?? 0;
}

/** How many pages the table of identities has. */
export async function countIdentityPages(sql: Sql): Promise<number> {
  const rows = await sql.query<{ pages: number }>(
    `SELECT (pg_relation_size('event_identity') / current_setting('block_size')::int)::int AS pages`,
  );
  return rows[0]?.pages ?? 0;
}

/**
 * Deletes the identities on some pages whose events are not kept any more, `graceDays` later than the events. The table is
 * read from end to end because an index by time would make every insert dearer.
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

/** Deletes some warnings that are older than `days`, or than their environment keeps events. @returns how many. */
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

/** Deletes some activity records that are older than `days`. @returns how many. */
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
