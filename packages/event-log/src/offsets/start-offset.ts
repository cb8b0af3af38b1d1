import type { Sql } from '@millrace/db/sql';
import type { PartitionView, StoredOffset } from '../port/event-log.ts';
import { type FormerOffset, readFormerOffset, readOffset, takeOverOffset } from './offset-store.ts';

/**
 * How far the clocks of gateways, brokers and PostgreSQL may be apart. A larger difference costs reading a partition
 * again.
 */
const clockToleranceMs = 2000;

/**
 * Where a group goes on in the log that a partition is read from; null for the start: the group has not read this log.
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
