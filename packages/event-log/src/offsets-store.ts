import type { Sql } from '@millrace/db/sql';
import { crc32c } from '@node-rs/crc32';
import type { LogRecord, PartitionView, StoredOffset } from './log.ts';

/** Names one row of `consumer_position`: where one consumer group stands in one partition of one log. */
export interface OffsetKey {
  topic: string;
  partition: number;
  group: string;
  /** `LogBatch.log` */
  log: string;
}

/** What this group has stored for the partition in this log, or null when it has stored nothing. Takes no lock. */
export async function readOffset(sql: Sql, key: OffsetKey): Promise<StoredOffset | null> {
  const [row] = await sql.query<{ next_offset: string; record_before: string | null }>(
    `SELECT next_offset, record_before FROM consumer_position
      WHERE topic = $1 AND partition = $2 AND "group" = $3 AND log = $4`,
    valuesOf(key),
  );
  if (row === undefined) return null;
  const nextOffset = BigInt(row.next_offset);
  const mark = row.record_before;
  // Somebody has set the offset by hand: the mark belongs to another record.
  const isOfRecordBefore = mark !== null && markedOffset(mark) === nextOffset - 1n;
  return { nextOffset, recordBefore: isOfRecordBefore ? mark : null };
}

/**
 * Locks the offset row until the transaction ends and returns it; inserts it (0) when there is none. It is the first
 * lock of every batch: when two members believe that they own a partition, the second one waits here and then finds
 * that the offset has moved. A new row means the same as no row, so it does no harm when the batch is not committed.
 */
export async function lockOffset(tx: Sql, key: OffsetKey): Promise<bigint> {
  const values = valuesOf(key);
  const stored = asOffset(await tx.query<OffsetRow>(selectLocked, values));
  if (stored !== null) return stored;
  await tx.query(
    `INSERT INTO consumer_position (topic, partition, "group", log, next_offset) VALUES ($1, $2, $3, $4, 0)
     ON CONFLICT DO NOTHING`,
    values,
  );
  return asOffset(await tx.query<OffsetRow>(selectLocked, values)) ?? 0n;
}

/** The last write of a batch, behind the last record that took effect; the row must be locked by this transaction. */
export async function advanceOffset(tx: Sql, key: OffsetKey, last: LogRecord): Promise<void> {
  await tx.query(
    `UPDATE consumer_position SET next_offset = $5, record_before = $6, updated_at = CURRENT_TIMESTAMP
      WHERE topic = $1 AND partition = $2 AND "group" = $3 AND log = $4`,
    [...valuesOf(key), String(last.offset + 1n), recordMark(last)],
  );
}

/** What a version that did not keep the log's identity has stored, and nobody has taken over. */
interface FormerOffset {
  nextOffset: bigint;
  storedAtMs: number;
  /** True when the log in PostgreSQL has so many records of this partition, and is not the log asked for. */
  mayBeOfPostgres: boolean;
}

async function readFormerOffset(sql: Sql, key: OffsetKey): Promise<FormerOffset | null> {
  const [row] = await sql.query<{ next_offset: string; stored_at_ms: number; may_be_of_postgres: boolean }>(
    `SELECT next_offset, (extract(epoch FROM updated_at) * 1000)::float8 AS stored_at_ms,
            EXISTS (SELECT FROM event_log_partition p
                     WHERE p.topic = o.topic AND p.partition = o.partition AND p.next_offset >= o.next_offset
                       AND 'postgres/' || p.log_id <> $4) AS may_be_of_postgres
       FROM consumer_offset o
      WHERE topic = $1 AND partition = $2 AND "group" = $3 AND taken_over_by IS NULL`,
    valuesOf(key),
  );
  if (row === undefined) return null;
  return {
    nextOffset: BigInt(row.next_offset),
    storedAtMs: row.stored_at_ms,
    mayBeOfPostgres: row.may_be_of_postgres,
  };
}

/** Makes the former offset this log's, once: of two members that do so at the same time, one does. */
async function takeOverOffset(sql: Sql, key: OffsetKey): Promise<void> {
  await sql.query(
    `WITH taken AS (
       UPDATE consumer_offset SET taken_over_by = $4
        WHERE topic = $1 AND partition = $2 AND "group" = $3 AND taken_over_by IS NULL
       RETURNING topic, partition, "group", next_offset
     )
     INSERT INTO consumer_position (topic, partition, "group", log, next_offset)
     SELECT topic, partition, "group", $4, next_offset FROM taken
     ON CONFLICT DO NOTHING`,
    valuesOf(key),
  );
}

interface OffsetRow {
  next_offset: string;
}

const selectLocked = `SELECT next_offset FROM consumer_position
  WHERE topic = $1 AND partition = $2 AND "group" = $3 AND log = $4 FOR UPDATE`;

function valuesOf({ topic, partition, group, log }: OffsetKey): unknown[] {
  return [topic, partition, group, log];
}

function asOffset([row]: OffsetRow[]): bigint | null {
  return row === undefined ? null : BigInt(row.next_offset);
}

/**
 * How far the clocks of gateways, brokers and PostgreSQL may be apart. A larger difference costs reading a partition
 * again.
 */
const clockToleranceMs = 2000;

/**
 * Where a group continues in the log that a partition is read from; null for the start: the group has not read this log.
 *
 * A former version stored offsets without the log's identity. Such an offset is taken over when the log fits it. When
 * it does not, the log is read from its start. Reading too much is harmless, because events that took effect are known
 * by their uuids; reading too little would lose events.
 */
export async function readStartOffset(
  sql: Sql,
  reader: { topic: string; partition: number; group: string },
  view: PartitionView,
): Promise<StoredOffset | null> {
  const key = { ...reader, log: view.log };
  const stored = await readOffset(sql, key);
  if (stored !== null) return stored;
  const former = await readFormerOffset(sql, key);
  if (former === null || !(await isOfThisLog(former, view))) return null;
  await takeOverOffset(sql, key);
  return readOffset(sql, key);
}

/** Everything below the offset was appended before it was stored; in a log made since, or another one, it was not. */
async function isOfThisLog({ nextOffset, storedAtMs, mayBeOfPostgres }: FormerOffset, view: PartitionView) {
  if (mayBeOfPostgres || nextOffset > (await view.end())) return false;
  return (await view.firstAppendedAfter(storedAtMs + clockToleranceMs)) >= nextOffset;
}

/** A group that reads a topic. */
export interface TopicGroup {
  topic: string;
  group: string;
}

/** What a group has not read of a topic in the log in PostgreSQL. */
interface UnreadRecords extends TopicGroup {
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
interface ReadLog extends TopicGroup {
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

type Marked = Pick<LogRecord, 'offset' | 'key' | 'value' | 'appendedAtMs'>;

/**
 * What is stored about the last record that took effect: its offset, when it was appended, and a checksum. When the log
 * has another record at that offset, it is another log, or has lost its end and grown again.
 */
export function recordMark({ offset, key, value, appendedAtMs }: Marked): string {
  return `${offset}/${Math.round(appendedAtMs)}/${crc32c(value, crc32c(key ?? '')).toString(16)}`;
}

/** The offset a mark is of. */
export function markedOffset(mark: string): bigint {
  return BigInt(mark.slice(0, mark.indexOf('/')));
}
