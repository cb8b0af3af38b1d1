import type { InspectedTopic } from '@millrace/event-log';
import type { ReadOffset } from './stored-offsets.ts';

export interface UnreadRecords {
  /** In the log, and not read by the group. */
  unread: bigint;
  /** Not in the log any more, and never read: lost. */
  deleted: bigint;
}

/** @param offsets where one group stands. Those of other topics and other logs do not count. */
export function unreadRecords(
  { topic, log, partitions }: InspectedTopic,
  offsets: readonly ReadOffset[],
): UnreadRecords {
  const sum: UnreadRecords = { unread: 0n, deleted: 0n };
  for (const { partition, low, high } of partitions) {
    const stored = offsets.find((one) => one.topic === topic && one.log === log && one.partition === partition);
    // 0 also stands for the start, wherever that is.
    const passed = stored === undefined || stored.nextOffset === 0n ? low : stored.nextOffset;
    if (passed < low) sum.deleted += low - passed;
    if (passed < high) sum.unread += high - (passed < low ? low : passed);
  }
  return sum;
}
