import type { Sql } from '@millrace/db/sql';

/** A group that reads a topic. */
export interface TopicGroup {
  topic: string;
  group: string;
}

/** What a group has not read of a topic in the log in PostgreSQL. */
export interface UnreadRecords extends TopicGroup {
  records: number;
}

/** Only groups that have something left to read. What retention has removed cannot be read. */
export async function readUnread(sql: Sql, readers: readonly TopicGroup[]): Promise<UnreadRecords[]> {
  const rows = await sql.query<{ topic: string; group: string; records: string }>(
    `SELECT reader.topic, reader."group", sum(p.next_offset - greatest(passed.next_offset, oldest."offset")) AS records
       FROM unnest($1::text[], $2::text[]) AS reader (topic, "group")
       JOIN event_log_partition p ON p.topic = reader.topic
       LEFT JOIN consumer_position o ON o.topic = p.topic AND o.partition = p.partition AND o."group" = reader."group"
         AND o.log = 'postgres/' || p.log_id
       LEFT JOIN consumer_offset f ON f.topic = p.topic AND f.partition = p.partition AND f."group" = reader."group"
         AND f.taken_over_by IS NULL AND f.next_offset <= p.next_offset
      CROSS JOIN LATERAL (SELECT coalesce(o.next_offset, f.next_offset, 0) AS next_offset) AS passed
      CROSS JOIN LATERAL (SELECT r."offset" FROM event_log_record r
                           WHERE r.topic = p.topic AND r.partition = p.partition ORDER BY r."offset" LIMIT 1) AS oldest
      WHERE greatest(passed.next_offset, oldest."offset") < p.next_offset
      GROUP BY reader.topic, reader."group"`,
    [readers.map(({ topic }) => topic), readers.map(({ group }) => group)],
  );
  return rows.map((row) => ({ ...row, records: Number(row.records) }));
}

/** A log of Kafka in which a group has read a topic. */
export interface ReadLog extends TopicGroup {
  log: string;
  readAt: Date;
}

export async function readKafkaLogs(sql: Sql, readers: readonly TopicGroup[], days: number): Promise<ReadLog[]> {
  return sql.query<ReadLog & Record<string, unknown>>(
    `SELECT o.topic, o."group", o.log, max(o.updated_at) AS "readAt"
       FROM unnest($1::text[], $2::text[]) AS reader (topic, "group")
       JOIN consumer_position o USING (topic, "group")
      WHERE starts_with(o.log, 'kafka/') AND o.updated_at > now() - $3 * interval '1 day'
      GROUP BY o.topic, o."group", o.log`,
    [readers.map(({ topic }) => topic), readers.map(({ group }) => group), days],
  );
}
