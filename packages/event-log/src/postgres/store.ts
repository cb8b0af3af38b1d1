// SQL for the records of the PostgreSQL log: append, read and trim.

import type { Sql, Transaction } from '@millrace/db/sql';
import type { PartitionBatch } from '../append/transport.ts';
import type { LogRecord, PartitionEnd } from '../log.ts';

/** Creates a new topic's partitions. An existing topic keeps its number of partitions. */
export async function createTopic(tx: Transaction, topic: string, partitions: number): Promise<void> {
  // Without the lock, two processes could both find that the topic does not exist and create its partitions.
  await tx.query(`SELECT pg_advisory_xact_lock(hashtextextended('millrace event log topic ' || $1, 0))`, [topic]);
  await tx.query(
    `INSERT INTO event_log_partition (topic, partition)
     SELECT $1, number FROM generate_series(0, $2::int - 1) AS number
     WHERE NOT EXISTS (SELECT 1 FROM event_log_partition WHERE topic = $1)`,
    [topic, partitions],
  );
}

/** Returns each partition's end, sorted by partition, or an empty array if the topic does not exist. */
export async function readEnds(sql: Sql, topic: string): Promise<PartitionEnd[]> {
  const rows = await sql.query<{ partition: number; log: string; next_offset: string }>(
    `SELECT partition, 'postgres/' || log_id AS log, next_offset
     FROM event_log_partition WHERE topic = $1 ORDER BY partition`,
    [topic],
  );
  return rows.map((row) => ({ partition: row.partition, log: row.log, endOffset: BigInt(row.next_offset) }));
}

export interface LogBounds {
  log: string;
  /** The offset of the oldest record, or `end` if the partition is empty. */
  beginning: bigint;
  end: bigint;
}

export async function readBounds(sql: Sql, topic: string, partition: number): Promise<LogBounds> {
  const [row] = await sql.query<{ log: string; beginning: string | null; next_offset: string }>(
    `SELECT 'postgres/' || log_id AS log, next_offset,
       (SELECT "offset" FROM event_log_record r
        WHERE r.topic = p.topic AND r.partition = p.partition ORDER BY "offset" LIMIT 1) AS beginning
     FROM event_log_partition p WHERE topic = $1 AND partition = $2`,
    [topic, partition],
  );
  if (row === undefined) throw new Error(`the topic ${topic} has no partition ${partition}`);
  return { log: row.log, beginning: BigInt(row.beginning ?? row.next_offset), end: BigInt(row.next_offset) };
}

/**
 * Appends all batches. Every writer locks the partition rows in the order of (topic, partition), which prevents
 * deadlocks. The rows stay locked until the commit. Offsets therefore become visible in the order they were assigned,
 * and a reader never sees a gap that is filled later.
 * @throws Error if a partition does not exist
 */
export async function appendBatches(tx: Transaction, batches: PartitionBatch[], timeoutMs: number): Promise<void> {
  // The timeout prevents an abandoned attempt from continuing to wait for locks and occupying its connection.
  await tx.query(`SELECT set_config('statement_timeout', $1, true)`, [String(timeoutMs)]);
  const locked = await tx.query<{ topic: string; partition: number; next_offset: string }>(
    `SELECT p.topic, p.partition, p.next_offset
     FROM event_log_partition p
     JOIN unnest($1::text[], $2::int[]) AS wanted(topic, partition) USING (topic, partition)
     ORDER BY p.topic, p.partition
     FOR UPDATE OF p`,
    [batches.map(({ topic }) => topic), batches.map(({ partition }) => partition)],
  );
  const nextOffsets = new Map(locked.map((row) => [`${row.partition} ${row.topic}`, BigInt(row.next_offset)] as const));
  const columns = toColumns(batches, nextOffsets);
  await tx.query(
    `WITH batch AS (
       SELECT * FROM unnest($1::text[], $2::int[], $3::bigint[]) WITH ORDINALITY
         AS b(topic, partition, next_offset, number)
     ), advanced AS (
       UPDATE event_log_partition p SET next_offset = b.next_offset
       FROM batch b WHERE p.topic = b.topic AND p.partition = b.partition
     )
     INSERT INTO event_log_record (topic, partition, "offset", key, value, headers)
     SELECT b.topic, b.partition, r."offset", r.key, substring($9::bytea FROM r.start FOR r.length), r.headers::jsonb
     FROM unnest($4::int[], $5::bigint[], $6::text[], $7::int[], $8::int[], $10::text[])
       AS r(batch, "offset", key, start, length, headers)
     JOIN batch b ON b.number = r.batch`,
    columns,
  );
}

/**
 * Builds the parameters of the insert, which are one array per column. All record values are concatenated into one byte
 * string that the statement splits, because the elements of a `bytea` array would have to be encoded as hexadecimal.
 */
function toColumns(batches: PartitionBatch[], nextOffsets: Map<string, bigint>): unknown[] {
  const ends: bigint[] = [];
  const numbers: number[] = [];
  const offsets: bigint[] = [];
  const keys: (string | null)[] = [];
  const starts: number[] = [];
  const lengths: number[] = [];
  const values: Buffer[] = [];
  const headers: string[] = [];
  let start = 1;
  batches.forEach(({ topic, partition, records }, index) => {
    const next = nextOffsets.get(`${partition} ${topic}`);
    if (next === undefined) throw new Error(`the topic ${topic} has no partition ${partition}`);
    ends.push(next + BigInt(records.length));
    records.forEach((record, position) => {
      numbers.push(index + 1);
      offsets.push(next + BigInt(position));
      keys.push(record.key === null ? null : toPostgresText(record.key));
      starts.push(start);
      lengths.push(record.value.length);
      values.push(record.value);
      headers.push(toHeaderText(record.headers));
      start += record.value.length;
    });
  });
  return [
    batches.map(({ topic }) => topic),
    toArrayLiteral(batches.map(({ partition }) => partition)),
    toArrayLiteral(ends),
    toArrayLiteral(numbers),
    toArrayLiteral(offsets),
    keys,
    toArrayLiteral(starts),
    toArrayLiteral(lengths),
    Buffer.concat(values),
    headers,
  ];
}

/** Formats an array of numbers without the driver's escaping of each element, which numbers do not need. */
function toArrayLiteral(numbers: (number | bigint)[]): string {
  return `{${numbers.join(',')}}`;
}

function toHeaderText(headers: Record<string, string> | undefined): string {
  if (headers === undefined) return '{}';
  const escaped = Object.entries(headers).map(([name, value]) => [toPostgresText(name), toPostgresText(value)]);
  return JSON.stringify(Object.fromEntries(escaped));
}

/**
 * Reads records from `fromOffset` on, oldest first. Returns at most `maxRecords` records, and fewer if the total size
 * of their values reaches `maxBytes`.
 */
export async function readRecords(
  sql: Sql,
  where: { topic: string; partition: number; fromOffset: bigint },
  limits: { maxRecords: number; maxBytes: number },
): Promise<LogRecord[]> {
  const rows = await sql.query<RecordRow>(
    `SELECT "offset", key, value, headers, extract(epoch FROM appended_at) * 1000 AS appended_at_ms
     FROM (
       SELECT *, sum(octet_length(value)) OVER (ORDER BY "offset") - octet_length(value) AS bytes_before
       FROM (
         SELECT "offset", key, value, headers, appended_at
         FROM event_log_record
         WHERE topic = $1 AND partition = $2 AND "offset" >= $3
         ORDER BY "offset" LIMIT $4
       ) AS oldest
     ) AS measured
     WHERE bytes_before < $5
     ORDER BY "offset"`,
    [where.topic, where.partition, String(where.fromOffset), limits.maxRecords, limits.maxBytes],
  );
  return rows.map(toLogRecord);
}

interface RecordRow {
  offset: string;
  key: string | null;
  value: Buffer;
  headers: Record<string, string>;
  appended_at_ms: string;
}

function toLogRecord(row: RecordRow): LogRecord {
  const headers = Object.entries(row.headers).map(([name, value]) => [fromPostgresText(name), fromPostgresText(value)]);
  return {
    offset: BigInt(row.offset),
    key: row.key === null ? null : fromPostgresText(row.key),
    value: row.value,
    headers: Object.fromEntries(headers),
    appendedAtMs: Number(row.appended_at_ms),
  };
}

interface ConsumedOffset {
  topic: string;
  partition: number;
  /** The lowest offset that a known group has stored, or the partition's end if no group is known. */
  offset: bigint;
  isRead: boolean;
}

/**
 * Reads how far all known groups have read each partition. A group is known once it has stored an offset for any
 * partition of the topic in this log. A partition for which a known group has no offset counts as unread.
 * @param retiredGroups the groups that are no longer used and are ignored
 */
export async function readConsumedOffsets(sql: Sql, retiredGroups: readonly string[]): Promise<ConsumedOffset[]> {
  const rows = await sql.query<{ topic: string; partition: number; passed: string; is_read: boolean }>(
    `WITH known AS (
       SELECT DISTINCT o.topic, o."group" FROM consumer_offset o
       JOIN event_log_partition p ON p.topic = o.topic AND 'postgres/' || p.log_id = o.log
     )
     SELECT p.topic, p.partition, known.topic IS NOT NULL AS is_read,
            CASE WHEN known.topic IS NULL THEN p.next_offset ELSE min(coalesce(o.next_offset, 0)) END AS passed
     FROM event_log_partition p
     LEFT JOIN known ON known.topic = p.topic AND known."group" <> ALL ($1::text[])
     LEFT JOIN consumer_offset o ON o.topic = p.topic AND o.partition = p.partition AND o."group" = known."group"
       AND o.log = 'postgres/' || p.log_id
     GROUP BY p.topic, p.partition, known.topic`,
    [retiredGroups],
  );
  return rows
    .map((row) => ({ topic: row.topic, partition: row.partition, offset: BigInt(row.passed), isRead: row.is_read }))
    .filter(({ offset }) => offset > 0n);
}

/**
 * Deletes up to `limit` of the oldest records that are below the offset and older than `retentionHours`. If another
 * process is already trimming the partition, deletes nothing.
 * @returns the number of deleted records
 */
export async function trimPartition(
  tx: Transaction,
  passed: ConsumedOffset,
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

/** Thrown by `PostgresLogOptions.guard` to reject an append although the database works. */
export class AppendRejected extends Error {
  override readonly name = 'AppendRejected';
}

/**
 * Escapes a string for PostgreSQL, whose types text and jsonb cannot store NUL or lone surrogates. Distinct IDs, and
 * therefore keys, can contain both. `fromPostgresText` restores NUL. A lone surrogate becomes U+FFFD, as in UTF-8.
 */
export function toPostgresText(text: string): string {
  const wellFormed = text.toWellFormed();
  if (!wellFormed.includes('\0') && !wellFormed.includes('\\')) return wellFormed;
  return wellFormed.replaceAll('\\', '\\\\').replaceAll('\0', '\\0');
}

export function fromPostgresText(text: string): string {
  if (!text.includes('\\')) return text;
  return text.replace(/\\([\\0])/g, (_, escaped: string) => (escaped === '0' ? '\0' : '\\'));
}
