import type { Logger } from '@millrace/runtime';
import type { Consumer } from 'kafkajs';
import { backoffMs, sleep } from '../consume/backoff.ts';
import type { Truncation } from '../consume/truncation.ts';
import type { ConsumeOptions, PartitionView, StoredOffset } from '../port/event-log.ts';
import type { AssignedPartition } from './assigned-partition.ts';
import type { TopicReader, TopicState } from './topic-state.ts';
import type { WaitingRecords } from './waiting-records.ts';
import { whileRunning } from './while-running.ts';

export interface StartPositionsDeps {
  consume: Pick<ConsumeOptions, 'topic' | 'group' | 'startOffset'>;
  consumer: Pick<Consumer, 'pause' | 'resume' | 'seek'>;
  waiting: Pick<WaitingRecords, 'clear'>;
  truncation: Truncation;
  logger: Logger;
  topics: TopicReader;
}

/** Asking costs little, and the partition stands still until there is an answer. */
const longestPauseMs = 1000;
/**
 * A leader that has just taken over may not know all that is committed. Only what is still missing after this time was
 * lost.
 */
const newLeaderTimeoutMs = 2000;

/** Where reading a partition begins. The partition is paused until that is known; the others go on meanwhile. */
export function createStartPositions(deps: StartPositionsDeps) {
  const { consume, consumer, waiting, truncation, logger, topics } = deps;
  const { topic, group } = consume;
  let sharedState: Promise<TopicState> | undefined;

  /** Stops delivery, waits, asks for the stored offset and goes on from there. */
  function resumeFromStored(partition: AssignedPartition, delayMs: number): Promise<void> {
    return resume(partition, delayMs, (view) => consume.startOffset(topic, partition.partition, view));
  }

  /** The same for a partition that was just assigned, once the batch this member still has in hand of it is over. */
  function beginFromStored(partition: AssignedPartition, inHand: Promise<void> | null): Promise<void> {
    return resume(partition, 0, async (view) => {
      await inHand;
      return consume.startOffset(topic, partition.partition, view);
    });
  }

  /** The same with an offset that the handler has just read. */
  function resumeFrom(partition: AssignedPartition, stored: bigint | null, delayMs: number): Promise<void> {
    return resume(partition, delayMs, async () =>
      stored === null ? null : { nextOffset: stored, recordBefore: null },
    );
  }

  async function resume(
    partition: AssignedPartition,
    delayMs: number,
    readStored: (view: PartitionView) => Promise<StoredOffset | null>,
  ): Promise<void> {
    const { signal } = partition.abort;
    // The partition may have been assigned to another member meanwhile, which then decides about pausing it.
    if (signal.aborted) return;
    partition.beginnings += 1;
    const beginning = partition.beginnings;
    const isOver = () => signal.aborted || partition.beginnings !== beginning;
    waiting.clear(partition);
    whileRunning(() => consumer.pause([{ topic, partitions: [partition.partition] }]));
    await sleep(delayMs, signal);
    // The batch in hand moves the stored offset.
    await partition.delivery;
    let beyondSince: number | null = null;
    for (let failures = 1; !isOver(); failures += 1) {
      try {
        const view = viewOf(partition.partition, await readState());
        const stored = await readStored(view);
        // The end is asked for after the offset was read: another member may have moved it.
        const state = await readState();
        if (isOver()) return;
        if (state.log === view.log) {
          const bounds = boundsOf(state, partition.partition);
          if (!isMissing(partition, stored, bounds)) return go(partition, stored, state, bounds);
          beyondSince ??= performance.now();
          if (stored !== null && performance.now() - beyondSince > newLeaderTimeoutMs) {
            truncation.found(partition.partition, stored, { log: state.log, endOffset: String(bounds.high) });
          }
        }
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

  /** True when the log ends before the stored offset, or was seen to have another record before it. */
  function isMissing(partition: AssignedPartition, stored: StoredOffset | null, bounds: { high: bigint }): boolean {
    if (stored === null) return false;
    if (stored.nextOffset > bounds.high) return true;
    return stored.recordBefore !== null && stored.recordBefore === partition.missingRecord;
  }

  function go(
    partition: AssignedPartition,
    stored: StoredOffset | null,
    { log, leaderEpochs }: TopicState,
    { low }: { low: bigint },
  ): void {
    const start = within(stored, low, partition.partition);
    // Retention may have removed it; then only the identity tells that this is the log.
    const isThere = stored !== null && stored.recordBefore !== null && start > low && start === stored.nextOffset;
    if (!isThere) truncation.over(partition.partition);
    partition.log = log;
    partition.leaderEpoch = leaderEpochs.get(partition.partition) ?? null;
    partition.missingRecord = null;
    partition.recordBefore = isThere ? stored.recordBefore : null;
    partition.continuesFrom = stored?.nextOffset ?? null;
    partition.fetchPosition = isThere ? start - 1n : start;
    partition.suspectedGap = null;
    consumer.seek({ topic, partition: partition.partition, offset: String(partition.fetchPosition) });
    consumer.resume([{ topic, partitions: [partition.partition] }]);
  }

  function within(stored: StoredOffset | null, low: bigint, partition: number): bigint {
    if (stored === null) return low;
    if (stored.nextOffset >= low) return stored.nextOffset;
    logger.warn('retention has removed records that were not consumed', {
      ...{ topic, group, partition },
      storedOffset: String(stored.nextOffset),
      startOffset: String(low),
    });
    return low;
  }

  function viewOf(partition: number, state: TopicState): PartitionView {
    return {
      log: state.log,
      end: async () => boundsOf(state, partition).high,
      firstAppendedAfter: (ms) => topics.firstAppendedAfter(topic, partition, ms),
    };
  }

  /** All partitions of an assignment ask at once: one answer serves them. */
  function readState(): Promise<TopicState> {
    sharedState ??= topics.stateOf(topic).finally(() => {
      sharedState = undefined;
    });
    return sharedState;
  }

  function boundsOf({ bounds }: TopicState, partition: number) {
    const found = bounds.find((one) => one.partition === partition);
    if (found === undefined) throw new Error(`the topic ${topic} has no partition ${partition}`);
    return found;
  }

  return {
    resumeFromStored,
    resumeFrom,
    beginFromStored,
    /** Tells kafkajs again where to fetch from. */
    seekAgain(partition: AssignedPartition): void {
      if (partition.fetchPosition === null) return;
      const offset = String(partition.fetchPosition);
      whileRunning(() => consumer.seek({ topic, partition: partition.partition, offset }));
    },
    pauseAll: () => whileRunning(() => consumer.pause([{ topic }])),
  };
}

export type StartPositions = ReturnType<typeof createStartPositions>;
