import type { SqlDatabase } from '@millrace/db/sql';
import type { Truncation } from '../consume/truncation.ts';
import { markedOffset, recordMark } from '../offsets/record-mark.ts';
import type { ConsumeOptions, StoredOffset } from '../port/event-log.ts';
import { firstAppendedAfter, type LogBounds, readBounds, readRecords } from './event-log-store.ts';

export interface LeasedStartDeps {
  database: Pick<SqlDatabase, 'sql'>;
  consume: Pick<ConsumeOptions, 'topic' | 'group' | 'startOffset'>;
  partition: number;
  truncation: Truncation;
}

/** Where reading a partition begins. */
export interface LeasedStart {
  /** Identity of the log. */
  log: string;
  /** See `LogBatch.continuesFrom`. */
  continuesFrom: bigint | null;
  position: bigint;
}

/** @returns null when the log was truncated: skipping or repeating is for a person to decide. */
export async function findLeasedStart(deps: LeasedStartDeps): Promise<LeasedStart | null> {
  const { database, consume, partition } = deps;
  const { topic } = consume;
  const { log, end } = await readBounds(database.sql, topic, partition);
  const stored = await consume.startOffset(topic, partition, {
    log,
    end: async () => end,
    firstAppendedAfter: (ms) => firstAppendedAfter(database.sql, topic, partition, ms),
  });
  // The end is asked for after the offset was read: another member may have moved it.
  const bounds = await readBounds(database.sql, topic, partition);
  if (bounds.log !== log) return null;
  if (stored !== null && (await isMissing(deps, stored, bounds))) return null;
  deps.truncation.over(partition);
  return startWithin(deps, stored?.nextOffset ?? null, bounds);
}

async function isMissing(
  { database, consume: { topic }, partition, truncation }: LeasedStartDeps,
  stored: StoredOffset,
  { log, end, beginning }: LogBounds,
): Promise<boolean> {
  const { nextOffset, recordBefore } = stored;
  if (nextOffset > end) {
    truncation.found(partition, stored, { log, endOffset: String(end) });
    return true;
  }
  // Retention may have removed it; then only the identity tells that this is the log.
  if (recordBefore === null || markedOffset(recordBefore) < beginning) return false;
  const where = { topic, partition, fromOffset: markedOffset(recordBefore) };
  const [record] = await readRecords(database.sql, where, { maxRecords: 1, maxBytes: 1 });
  if (record === undefined || record.offset !== where.fromOffset || recordMark(record) === recordBefore) return false;
  truncation.found(partition, stored, { log, expected: recordBefore, found: recordMark(record) });
  return true;
}

/** The stored offset, or the oldest record where retention was faster. */
export function startWithin(
  { truncation, partition }: LeasedStartDeps,
  stored: bigint | null,
  { log, beginning }: LogBounds,
): LeasedStart {
  if (stored !== null) truncation.deletedUnread(partition, stored, beginning);
  return { log, continuesFrom: stored, position: stored === null || stored < beginning ? beginning : stored };
}
