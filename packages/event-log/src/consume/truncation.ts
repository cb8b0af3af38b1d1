// Detects and reports records that are missing from the event log.

import type { Logger } from '@millrace/runtime';
import type { StoredOffset } from '../log.ts';
import type { ConsumeMetrics } from './metrics.ts';

/** How often the stored offset of a truncated partition is read again, in milliseconds. */
export const truncatedPauseMs = 1000;
const repeatEveryMs = 60_000;

/**
 * Creates a reporter of records that are missing from the log, with errors and metrics. If missing records had already
 * been processed, the partition pauses, and the error is repeated every minute. Records can also be missing because
 * retention deleted them before they were read.
 */
export function createTruncationReporter({
  consume,
  logger,
  metrics,
}: {
  consume: { topic: string; group: string };
  logger: Logger;
  metrics: Pick<ConsumeMetrics, 'truncated' | 'deletedUnread'>;
}) {
  const { topic, group } = consume;
  const reportedAt = new Map<number, number>();
  /** The offset below which lost records have already been reported, by partition. */
  const lostBelow = new Map<number, bigint>();

  return {
    /**
     * Reports that a partition ends before the stored offset, or has different records before it.
     * @param found the log fields that describe the current log
     */
    found(partition: number, stored: StoredOffset, found: Record<string, unknown>): void {
      metrics.truncated(topic, group, partition, true);
      const last = reportedAt.get(partition);
      if (last !== undefined && performance.now() - last < repeatEveryMs) return;
      reportedAt.set(partition, performance.now());
      logger.error(
        'partition paused: the log no longer contains the records before the stored offset, so it was truncated or restored from an older copy. Run `millrace offsets accept` to continue. Reading from the start is safe, because events that are already stored are skipped',
        { topic, group, partition, storedOffset: String(stored.nextOffset), ...found },
      );
    },
    /**
     * Reports that retention deleted records before the group read them.
     * @param stored the offset where the group continues, or 0 for the start of the log
     * @param low the oldest offset in the log
     */
    deletedUnread(partition: number, stored: bigint, low: bigint): void {
      const from = stored > (lostBelow.get(partition) ?? 0n) ? stored : (lostBelow.get(partition) ?? 0n);
      if (stored === 0n || low <= from) return;
      lostBelow.set(partition, low);
      metrics.deletedUnread(topic, group, Number(low - from));
      logger.error(
        'events lost: log retention deleted records before they were read. Increase the retention period, and find out why the consumers were so far behind',
        {
          topic,
          group,
          partition,
          records: Number(low - from),
          storedOffset: String(stored),
          startOffset: String(low),
        },
      );
    },
    over(partition: number): void {
      if (reportedAt.delete(partition)) logger.warn('reading a truncated partition again', { topic, group, partition });
      metrics.truncated(topic, group, partition, false);
    },
  };
}

export type TruncationReporter = ReturnType<typeof createTruncationReporter>;
