import type { Transaction } from '@millrace/db/sql';
import type { OffsetKey } from '../offsets/offset-store.ts';

/**
 * Gateways of the former version read here how far the fallback has been copied, and close it when everything is. They
 * are upgraded after the consumers.
 */
export async function notifyFormerGateways(
  tx: Transaction,
  { topic, partition, group, log }: OffsetKey,
  nextOffset: bigint,
): Promise<void> {
  await tx.query(
    `INSERT INTO consumer_offset (topic, partition, "group", next_offset, taken_over_by) VALUES ($1, $2, $3, $4, $5)
     ON CONFLICT (topic, partition, "group")
       DO UPDATE SET next_offset = excluded.next_offset, taken_over_by = excluded.taken_over_by, updated_at = now()`,
    [topic, partition, group, String(nextOffset), log],
  );
}
