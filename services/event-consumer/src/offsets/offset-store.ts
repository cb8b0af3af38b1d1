import type { Sql, Transaction } from '@millrace/db/sql';

/** Names one row of `consumer_offset`: where one consumer group stands in one partition. */
export interface OffsetKey {
  topic: string;
  partition: number;
  group: string;
}

/** The stored next offset, or null when this group has stored none for the partition. Takes no lock. */
export async function readOffset(sql: Sql, key: OffsetKey): Promise<bigint | null> {
  return asOffset(await sql.query<OffsetRow>(selectOffset, [key.topic, key.partition, key.group]));
}

/**
 * Locks the offset row until the transaction ends and returns it; makes it (0) when there is none. The first lock of
 * every batch: of two members that believe to own a partition, the second waits here and then finds a moved offset. A new
 * row says what no row says, so it does no harm should the transaction not have begun.
 */
export async function lockOffset(tx: Sql, key: OffsetKey): Promise<bigint> {
  const values = [key.topic, key.partition, key.group];
  const stored = asOffset(await tx.query<OffsetRow>(`${selectOffset} FOR UPDATE`, values));
  if (stored !== null) return stored;
  await tx.query(
    `INSERT INTO consumer_offset (topic, partition, "group", next_offset) VALUES ($1, $2, $3, 0) ON CONFLICT DO NOTHING`,
    values,
  );
  return asOffset(await tx.query<OffsetRow>(`${selectOffset} FOR UPDATE`, values)) ?? 0n;
}

/** The last write of a batch; the row must be locked by this transaction. */
export async function advanceOffset(tx: Transaction, key: OffsetKey, nextOffset: bigint): Promise<void> {
  await tx.query(
    `UPDATE consumer_offset SET next_offset = $4, updated_at = CURRENT_TIMESTAMP
      WHERE topic = $1 AND partition = $2 AND "group" = $3`,
    [key.topic, key.partition, key.group, String(nextOffset)],
  );
}

interface OffsetRow {
  next_offset: string;
}

const selectOffset = `SELECT next_offset FROM consumer_offset WHERE topic = $1 AND partition = $2 AND "group" = $3`;

function asOffset([row]: OffsetRow[]): bigint | null {
  return row === undefined ? null : BigInt(row.next_offset);
}
