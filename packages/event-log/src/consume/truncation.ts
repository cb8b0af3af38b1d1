import type { Logger } from '@millrace/runtime';
import type { StoredOffset } from '../port/event-log.ts';
import type { ConsumeMetrics } from './consume-metrics.ts';

export interface TruncationDeps {
  consume: { topic: string; group: string };
  logger: Logger;
  metrics: Pick<ConsumeMetrics, 'truncated'>;
}

/** How often the stored offset of a truncated partition is asked for again. */
export const truncatedPauseMs = 1000;
const repeatEveryMs = 60_000;

/** Tells that a partition waits because its log lost records that took effect: an error, again each minute, and a metric. */
export function createTruncation({ consume, logger, metrics }: TruncationDeps) {
  const { topic, group } = consume;
  const reportedAt = new Map<number, number>();

  return {
    /** @param found what the log has instead. */
    found(partition: number, stored: StoredOffset, found: Record<string, unknown>): void {
      metrics.truncated(topic, group, partition, true);
      const last = reportedAt.get(partition);
      if (last !== undefined && performance.now() - last < repeatEveryMs) return;
      reportedAt.set(partition, performance.now());
      logger.error(
        'the log was truncated or restored from an older copy: it no longer has the records before the stored offset. The partition waits for `millrace offsets accept`; reading it from its start is harmless, events that took effect do not again',
        { topic, group, partition, storedOffset: String(stored.nextOffset), ...found },
      );
    },
    over(partition: number): void {
      if (reportedAt.delete(partition)) logger.warn('a truncated partition is read again', { topic, group, partition });
      metrics.truncated(topic, group, partition, false);
    },
  };
}

export type Truncation = ReturnType<typeof createTruncation>;
