// Stores consumer offsets in PostgreSQL, in the same transaction as a batch's effects.

import type { Sql } from '@millrace/db/sql';
import { crc32c } from '@node-rs/crc32';
import type { LogRecord, StoredOffset } from './log.ts';

/** The key of a row in `consumer_offset`, which stores a consumer group's offset in one partition of one log. */
export interface OffsetKey {
  topic: string;
  partition: number;
  group: string;
  log: string;
}

/**
 * Reads the offset where a group continues in a partition. Returns null if the group has not read this log and starts
 * at its beginning. Reading records again is harmless, because the consumer recognizes stored events by their UUIDs.
 * Takes no lock.
 */
export async function readOffset(sql: Sql, key: OffsetKey): Promise<StoredOffset | null> {
  const [row] = await sql.query<{ next_offset: string; last_record_fingerprint: string | null }>(
    `SELECT next_offset, last_record_fingerprint FROM consumer_offset
      WHERE topic = $1 AND partition = $2 AND "group" = $3 AND log = $4`,
    valuesOf(key),
  );
  if (row === undefined) return null;
  const nextOffset = BigInt(row.next_offset);
  const fingerprint = row.last_record_fingerprint;
  // If an operator has set the offset, the fingerprint belongs to a different record.
  const isOfLastRecord = fingerprint !== null && parseFingerprintOffset(fingerprint) === nextOffset - 1n;
  return { nextOffset, lastRecordFingerprint: isOfLastRecord ? fingerprint : null };
}

/**
 * Locks the offset row until the transaction ends, and returns the offset. If the row is missing, inserts it with
 * offset 0, which has the same meaning. This is the first lock of every batch. If two members both assume that they own
 * a partition, the second one waits here and then finds that the offset has changed.
 */
export async function lockOffset(tx: Sql, key: OffsetKey): Promise<bigint> {
  const values = valuesOf(key);
  const stored = asOffset(await tx.query<OffsetRow>(selectLocked, values));
  if (stored !== null) return stored;
  await tx.query(
    `INSERT INTO consumer_offset (topic, partition, "group", log, next_offset) VALUES ($1, $2, $3, $4, 0)
     ON CONFLICT DO NOTHING`,
    values,
  );
  return asOffset(await tx.query<OffsetRow>(selectLocked, values)) ?? 0n;
}

/**
 * Stores the offset after the last record whose effects are stored, as the last write of a batch. The transaction must
 * have locked the row.
 */
export async function advanceOffset(tx: Sql, key: OffsetKey, last: LogRecord): Promise<void> {
  await tx.query(
    `UPDATE consumer_offset SET next_offset = $5, last_record_fingerprint = $6, updated_at = CURRENT_TIMESTAMP
      WHERE topic = $1 AND partition = $2 AND "group" = $3 AND log = $4`,
    [...valuesOf(key), String(last.offset + 1n), computeRecordFingerprint(last)],
  );
}

interface OffsetRow {
  next_offset: string;
}

const selectLocked = `SELECT next_offset FROM consumer_offset
  WHERE topic = $1 AND partition = $2 AND "group" = $3 AND log = $4 FOR UPDATE`;

function valuesOf({ topic, partition, group, log }: OffsetKey): unknown[] {
  return [topic, partition, group, log];
}

function asOffset([row]: OffsetRow[]): bigint | null {
  return row === undefined ? null : BigInt(row.next_offset);
}

export interface TopicGroup {
  topic: string;
  group: string;
}

interface UnreadCount extends TopicGroup {
  records: number;
}

/** Counts unread records. Omits groups that have read everything, and records that retention has deleted. */
export async function countUnreadRecords(sql: Sql, readers: readonly TopicGroup[]): Promise<UnreadCount[]> {
  const rows = await sql.query<{ topic: string; group: string; records: string }>(
    `SELECT reader.topic, reader."group", sum(p.next_offset - greatest(passed.next_offset, oldest."offset")) AS records
       FROM unnest($1::text[], $2::text[]) AS reader (topic, "group")
       JOIN event_log_partition p ON p.topic = reader.topic
       LEFT JOIN consumer_offset o ON o.topic = p.topic AND o.partition = p.partition AND o."group" = reader."group"
         AND o.log = 'postgres/' || p.log_id
      CROSS JOIN LATERAL (SELECT coalesce(o.next_offset, 0) AS next_offset) AS passed
      CROSS JOIN LATERAL (SELECT r."offset" FROM event_log_record r
                           WHERE r.topic = p.topic AND r.partition = p.partition ORDER BY r."offset" LIMIT 1) AS oldest
      WHERE greatest(passed.next_offset, oldest."offset") < p.next_offset
      GROUP BY reader.topic, reader."group"`,
    [readers.map(({ topic }) => topic), readers.map(({ group }) => group)],
  );
  return rows.map((row) => ({ ...row, records: Number(row.records) }));
}

interface ConsumedLog extends TopicGroup {
  log: string;
  readAt: Date;
}

export async function readConsumedKafkaLogs(
  sql: Sql,
  readers: readonly TopicGroup[],
  days: number,
): Promise<ConsumedLog[]> {
  return sql.query<ConsumedLog & Record<string, unknown>>(
    `SELECT o.topic, o."group", o.log, max(o.updated_at) AS "readAt"
       FROM unnest($1::text[], $2::text[]) AS reader (topic, "group")
       JOIN consumer_offset o USING (topic, "group")
      WHERE starts_with(o.log, 'kafka/') AND o.updated_at > now() - $3 * interval '1 day'
      GROUP BY o.topic, o."group", o.log`,
    [readers.map(({ topic }) => topic), readers.map(({ group }) => group), days],
  );
}

type FingerprintedRecord = Pick<LogRecord, 'offset' | 'key' | 'value' | 'appendedAtMs'>;

/**
 * Returns a record's fingerprint: its offset, append time and checksum. The fingerprint is stored for the last record
 * whose effects are stored. If a different record has that offset in the log, the log was replaced, or it lost its last
 * records and new ones were appended.
 */
export function computeRecordFingerprint({ offset, key, value, appendedAtMs }: FingerprintedRecord): string {
  return `${offset}/${Math.round(appendedAtMs)}/${crc32c(value, crc32c(key ?? '')).toString(16)}`;
}

export function parseFingerprintOffset(fingerprint: string): bigint {
  return BigInt(fingerprint.slice(0, fingerprint.indexOf('/')));
}
