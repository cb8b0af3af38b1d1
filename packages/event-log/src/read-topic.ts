// Reads a topic from start to end, for operator tools.

import { randomUUID } from 'node:crypto';
import type { EventLog, LogConsumer, LogRecord, PartitionEnd } from './log.ts';

export interface UnreadPartition {
  partition: number;
  position: bigint;
  end: bigint;
}

const maxBatchRecords = 500;
const maxBatchBytes = 4 * 1024 * 1024;
/**
 * Reading ends if no record arrives for this many milliseconds. The end cannot be reached if retention has deleted the
 * last records.
 */
const silenceMs = 3000;

/**
 * Reads a topic for an operator's tool, without storing offsets and without a permanent consumer group.
 * @returns partitions that were not read to their end, because no record arrived for three seconds. Either retention
 * has deleted the remaining records, or the log did not deliver them. Always empty with `until: 'stopped'`.
 * @throws AppError `unavailable` if the log does not respond or the topic does not exist, and errors of `onRecord`
 */
export async function readTopic(
  log: Pick<EventLog, 'consume' | 'endOffsets'>,
  options: {
    topic: string;
    /** Where to start: `start` for the oldest record, `now` for only new records, or a list of partition ends. */
    from: 'start' | 'now' | readonly PartitionEnd[];
    /**
     * Where to stop: `end` for the end offsets at the start of reading, or `stopped` to continue until the signal
     * aborts.
     */
    until: 'end' | 'stopped';
    signal: AbortSignal;
    /** Called for each record. The records of a partition are passed in order, one at a time. An error ends reading. */
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
      return nextOffset === undefined ? null : { nextOffset, lastRecordFingerprint: null };
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
