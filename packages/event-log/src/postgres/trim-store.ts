import type { Sql, Transaction } from '@millrace/db/sql';

export interface PassedOffset {
  topic: string;
  partition: number;
  /** Every group known for the topic has stored an offset at least this high; the end when no group is known. */
  offset: bigint;
  /** True when a group is known. */
  isRead: boolean;
}

/**
 * A group is known once it has stored one offset of the topic in this log. Where it has stored none yet it has passed
 * nothing. A group that only stored an offset without the log's identity (former versions) is known, and has passed
 * nothing.
 *
 * @param retiredGroups read no more: nothing is kept for them.
 */
export async function readPassedOffsets(sql: Sql, retiredGroups: readonly string[]): Promise<PassedOffset[]> {
  const rows = await sql.query<{ topic: string; partition: number; passed: string; is_read: boolean }>(
    `WITH known AS (
       SELECT o.topic, o."group" FROM consumer_position o
       JOIN event_log_partition p ON p.topic = o.topic AND 'postgres/' || p.log_id = o.log
       UNION
       SELECT topic, "group" FROM consumer_offset WHERE taken_over_by IS NULL
     )
     SELECT p.topic, p.partition, known.topic IS NOT NULL AS is_read,
            CASE WHEN known.topic IS NULL THEN p.next_offset ELSE min(coalesce(o.next_offset, 0)) END AS passed
     FROM event_log_partition p
     LEFT JOIN known ON known.topic = p.topic AND known."group" <> ALL ($1::text[])
     LEFT JOIN consumer_position o ON o.topic = p.topic AND o.partition = p.partition AND o."group" = known."group"
       AND o.log = 'postgres/' || p.log_id
     GROUP BY p.topic, p.partition, known.topic`,
    [retiredGroups],
  );
  return rows
    .map((row) => ({ topic: row.topic, partition: row.partition, offset: BigInt(row.passed), isRead: row.is_read }))
    .filter(({ offset }) => offset > 0n);
}

/**
 * Deletes up to `limit` of the oldest records below the offset that are older than `retentionHours`; returns how many.
 * Only one process does so at a time; the others find nothing to do.
 */
export async function trimPartition(
  tx: Transaction,
  passed: PassedOffset,
  retentionHours: number,
  limit: number,
): Promise<number> {
  const [lock] = await tx.query<{ locked: boolean }>(
    `SELECT pg_try_advisory_xact_lock(hashtextextended('millrace event log trim', 0)) AS locked`,
  );
  if (!lock?.locked) return 0;
  const [row] = await tx.query<{ count: number }>(
    `WITH deleted AS (
       DELETE FROM event_log_record
       WHERE topic = $1 AND partition = $2 AND "offset" IN (
         SELECT "offset" FROM event_log_record
         WHERE topic = $1 AND partition = $2 AND "offset" < $3
           AND appended_at < now() - $4 * interval '1 hour'
         ORDER BY "offset" LIMIT $5
       )
       RETURNING 1
     ) SELECT count(*)::int AS count FROM deleted`,
    [passed.topic, passed.partition, String(passed.offset), retentionHours, limit],
  );
  return row?.count ?? 0;
}
