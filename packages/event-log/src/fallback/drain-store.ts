import type { Sql, Transaction } from '@millrace/db/sql';
import { drainGroup } from './fallback-store.ts';

const select = 'SELECT next_offset FROM consumer_offset WHERE topic = $1 AND partition = $2 AND "group" = $3';

/** How far a partition of the fallback has been copied; null when nothing of it was. */
export async function readDrain(sql: Sql, topic: string, partition: number): Promise<bigint | null> {
  const [row] = await sql.query<{ next_offset: string }>(select, [topic, partition, drainGroup]);
  return row === undefined ? null : BigInt(row.next_offset);
}

/** The same, 0 for nothing, locked until the transaction ends. */
export async function lockDrain(tx: Transaction, topic: string, partition: number): Promise<bigint> {
  await tx.query(
    `INSERT INTO consumer_offset (topic, partition, "group", next_offset) VALUES ($1, $2, $3, 0) ON CONFLICT DO NOTHING`,
    [topic, partition, drainGroup],
  );
  const [row] = await tx.query<{ next_offset: string }>(`${select} FOR UPDATE`, [topic, partition, drainGroup]);
  return BigInt(row?.next_offset ?? 0);
}

export async function advanceDrain(
  tx: Transaction,
  topic: string,
  partition: number,
  nextOffset: bigint,
): Promise<void> {
  await tx.query(
    `UPDATE consumer_offset SET next_offset = $4, updated_at = now()
     WHERE topic = $1 AND partition = $2 AND "group" = $3`,
    [topic, partition, drainGroup, String(nextOffset)],
  );
}
