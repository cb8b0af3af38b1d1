import type { Sql } from '@millrace/db/sql';
import type { LogRecord, StoredOffset } from '../port/event-log.ts';
import { markedOffset, recordMark } from './record-mark.ts';

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
export interface FormerOffset {
  nextOffset: bigint;
  storedAtMs: number;
  /** True when the log in PostgreSQL has so many records of this partition, and is not the log asked for. */
  mayBeOfPostgres: boolean;
}

export async function readFormerOffset(sql: Sql, key: OffsetKey): Promise<FormerOffset | null> {
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
export async function takeOverOffset(sql: Sql, key: OffsetKey): Promise<void> {
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
