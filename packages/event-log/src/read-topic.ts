import { randomUUID } from 'node:crypto';
import type { EventLog, LogConsumer, LogRecord, PartitionEnd } from './log.ts';

/** A partition of which the end was not seen. */
export interface UnreadPartition {
  partition: number;
  /** The offset that would have been read next. */
  position: bigint;
  /** The offset after the last record when reading began. */
  end: bigint;
}

const maxBatchRecords = 500;
const maxBatchBytes = 4 * 1024 * 1024;
/** Partitions whose last records retention has removed have an end that is never reached. */
const silenceMs = 3000;

/**
 * Reads a topic for a person: as a group of its own that stores no offsets and leaves none behind.
 *
 * @returns partitions that were given up before their end, because for three seconds nothing came: either retention has
 *   removed the rest of their records, or the log did not hand them over. With `until: 'stopped'` there are none.
 * @throws AppError `unavailable` when the log does not answer or has no such topic; what `onRecord` throws.
 */
export async function readTopic(
  log: Pick<EventLog, 'consume' | 'endOffsets'>,
  options: {
    topic: string;
    /** The oldest record the log has, what is appended from now on, or from these ends on. */
    from: 'start' | 'now' | readonly PartitionEnd[];
    /** `end`: what is there when reading begins. `stopped`: until the signal aborts. */
    until: 'end' | 'stopped';
    signal: AbortSignal;
    /** In the order of each partition, whose next record waits for it. What it throws ends reading. */
    onRecord(record: LogRecord, partition: number): void | Promise<void>;
  },
): Promise<UnreadPartition[]> {
  const { topic, from, until, signal, onRecord } = options;
  const known = typeof from === 'string' ? await log.endOffsets(topic) : from;
  const ends = new Map(known.map(({ partition, endOffset }) => [partition, endOffset]));
  const positions = new Map<number, bigint>();
  const isOver = () => [...ends].every(([partition, end]) => (positions.get(partition) ?? 0n) >= end);
  const unread = () =>
    [...ends].flatMap(([partition, end]) => {
      const position = positions.get(partition) ?? 0n;
      return position < end ? [{ partition, position, end }] : [];
    });
  if (until === 'end' && isOver()) return [];

  let failure: { error: unknown } | undefined;
  let lastRecordAt = performance.now();
  let end: () => void = () => {};
  const ended = new Promise<void>((resolve) => {
    end = resolve;
  });
  signal.addEventListener('abort', end, { once: true });

  const consumer: LogConsumer = await log.consume({
    topic,
    group: `millrace.reader.${randomUUID()}`,
    maxBatchRecords,
    maxBatchBytes,
    partitionConcurrency: 1,
    startOffset: async (partition) => {
      const nextOffset = positions.get(partition) ?? (from === 'start' ? undefined : ends.get(partition));
      return nextOffset === undefined ? null : { nextOffset, recordBefore: null };
    },
    async handler({ partition, records }) {
      lastRecordAt = performance.now();
      let nextOffset = 0n;
      for (const record of records) {
        nextOffset = record.offset + 1n;
        const isLater = until === 'end' && record.offset >= (ends.get(partition) ?? 0n);
        if (failure !== undefined || signal.aborted || isLater) continue;
        try {
          await onRecord(record, partition);
        } catch (error) {
          failure = { error };
        }
      }
      positions.set(partition, nextOffset);
      if (failure !== undefined || (until === 'end' && isOver())) end();
      return { outcome: 'done', nextOffset };
    },
    onFatal(error) {
      failure = { error };
      end();
    },
  });
  const silence = setInterval(() => {
    if (until === 'end' && performance.now() - lastRecordAt > silenceMs) end();
  }, 500);
  try {
    await Promise.race([consumer.ready, ended]);
    lastRecordAt = performance.now();
    await ended;
  } finally {
    clearInterval(silence);
    signal.removeEventListener('abort', end);
    await consumer.stop();
  }
  if (failure !== undefined) throw failure.error;
  return until === 'end' && !signal.aborted ? unread() : [];
}
