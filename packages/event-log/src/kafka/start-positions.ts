import type { Logger } from '@millrace/runtime';
import type { Consumer } from 'kafkajs';
import { backoffMs, sleep } from '../consume/backoff.ts';
import type { ConsumeOptions } from '../event-log.ts';
import type { AssignedPartition } from './assigned-partition.ts';
import type { WaitingRecords } from './waiting-records.ts';
import { whileRunning } from './while-running.ts';

/** The offsets a partition has: from `low` on, `high` is the next to be written. */
export interface PartitionBounds {
  partition: number;
  low: bigint;
  high: bigint;
}

export interface StartPositionsDeps {
  consume: Pick<ConsumeOptions, 'topic' | 'group' | 'startOffset'>;
  consumer: Pick<Consumer, 'pause' | 'resume' | 'seek'>;
  waiting: Pick<WaitingRecords, 'clear'>;
  logger: Logger;
  boundsOf(topic: string): Promise<PartitionBounds[]>;
}

/** Asking costs little, and the partition stands still until it is answered. */
const longestPauseMs = 1000;

/** Where reading a partition begins. It is paused until that is known, so the other partitions go on meanwhile. */
export function createStartPositions({ consume, consumer, waiting, logger, boundsOf }: StartPositionsDeps) {
  const { topic, group } = consume;
  let sharedBounds: Promise<PartitionBounds[]> | undefined;

  /** Stops delivery, waits, asks for the stored offset and goes on from there. */
  function resumeFromStored(partition: AssignedPartition, delayMs: number): Promise<void> {
    return resume(partition, delayMs, () => consume.startOffset(topic, partition.partition));
  }

  /** The same for a partition that was just assigned, once the batch this member still has in hand of it is over. */
  function beginFromStored(partition: AssignedPartition, inHand: Promise<void> | null): Promise<void> {
    return resume(partition, 0, async () => {
      await inHand;
      return consume.startOffset(topic, partition.partition);
    });
  }

  /** The same with an offset that the handler has just read. */
  function resumeFrom(partition: AssignedPartition, stored: bigint | null, delayMs: number): Promise<void> {
    return resume(partition, delayMs, async () => stored);
  }

  async function resume(
    partition: AssignedPartition,
    delayMs: number,
    readStored: () => Promise<bigint | null>,
  ): Promise<void> {
    const { signal } = partition.abort;
    // The partition may have been assigned anew meanwhile, and is then another's to pause.
    if (signal.aborted) return;
    waiting.clear(partition);
    whileRunning(() => consumer.pause([{ topic, partitions: [partition.partition] }]));
    await sleep(delayMs, signal);
    for (let failures = 1; !signal.aborted; failures += 1) {
      try {
        const stored = await readStored();
        const start = within(stored, await boundsOfPartition(partition.partition), partition.partition);
        if (signal.aborted) return;
        if (start !== null) return go(partition, stored, start);
      } catch (error) {
        logger.warn('where to begin a partition could not be read', {
          topic,
          group,
          partition: partition.partition,
          error,
        });
      }
      await sleep(Math.min(backoffMs(failures), longestPauseMs), signal);
    }
  }

  function go(partition: AssignedPartition, stored: bigint | null, start: bigint): void {
    partition.continuesFrom = stored;
    partition.fetchPosition = start;
    partition.suspectedGap = null;
    consumer.seek({ topic, partition: partition.partition, offset: String(start) });
    consumer.resume([{ topic, partitions: [partition.partition] }]);
  }

  /** Null when the stored offset cannot be served: beyond the end of the log. Skipping is for a person to decide. */
  function within(stored: bigint | null, bounds: PartitionBounds, partition: number): bigint | null {
    if (stored === null) return bounds.low;
    if (stored > bounds.high) {
      logger.error('the stored offset is beyond the end of the log; the partition waits', {
        ...{ topic, group, partition },
        storedOffset: String(stored),
        endOffset: String(bounds.high),
      });
      return null;
    }
    if (stored < bounds.low) {
      logger.warn('retention has removed records that were not consumed', {
        ...{ topic, group, partition },
        storedOffset: String(stored),
        startOffset: String(bounds.low),
      });
      return bounds.low;
    }
    return stored;
  }

  async function boundsOfPartition(partition: number): Promise<PartitionBounds> {
    // All partitions of an assignment ask at once: one answer serves them.
    sharedBounds ??= boundsOf(topic).finally(() => {
      sharedBounds = undefined;
    });
    const bounds = (await sharedBounds).find((one) => one.partition === partition);
    if (bounds === undefined) throw new Error(`the topic ${topic} has no partition ${partition}`);
    return bounds;
  }

  return {
    resumeFromStored,
    resumeFrom,
    beginFromStored,
    /** Repeats to kafkajs where to fetch from. */
    seekAgain(partition: AssignedPartition): void {
      if (partition.fetchPosition === null) return;
      const offset = String(partition.fetchPosition);
      whileRunning(() => consumer.seek({ topic, partition: partition.partition, offset }));
    },
    pauseAll: () => whileRunning(() => consumer.pause([{ topic }])),
  };
}

export type StartPositions = ReturnType<typeof createStartPositions>;
