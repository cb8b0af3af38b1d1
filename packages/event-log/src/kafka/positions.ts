import { type Logger, sleep } from '@millrace/runtime';
import type { Consumer } from 'kafkajs';
import { backoffMs } from '../backoff.ts';
import type { Truncation } from '../consume/truncation.ts';
import type { ConsumeOptions, StoredOffset } from '../log.ts';
import { type AssignedPartition, type WaitingRecords, whileRunning } from './partitions.ts';
import type { TopicReader, TopicState } from './topics.ts';

interface StartPositionsDeps {
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
  const { consume, consumer, waiting, truncation, logger } = deps;
  const { topic, group } = consume;
  const topicState = createSharedTopicState(deps.topics, topic);

  /** Stops delivery, waits, asks for the stored offset and continues from there. */
  function resumeFromStored(partition: AssignedPartition, delayMs: number): Promise<void> {
    return resume(partition, delayMs, (log) => consume.startOffset(partition.partition, log));
  }

  /** The same for a partition that was just assigned, once the batch of it that this member still works on is over. */
  function beginFromStored(partition: AssignedPartition, inHand: Promise<void> | null): Promise<void> {
    return resume(partition, 0, async (log) => {
      await inHand;
      return consume.startOffset(partition.partition, log);
    });
  }

  /** The same with an offset that the handler has just read. */
  function resumeFrom(partition: AssignedPartition, stored: bigint | null, delayMs: number): Promise<void> {
    const start = stored === null ? null : { nextOffset: stored, recordBefore: null };
    return resume(partition, delayMs, async () => start);
  }

  async function resume(
    partition: AssignedPartition,
    delayMs: number,
    readStored: (log: string) => Promise<StoredOffset | null>,
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
    // The batch under way moves the stored offset.
    await partition.delivery;
    let beyondSince: number | null = null;
    for (let failures = 1; !isOver(); failures += 1) {
      try {
        const found = await findStart(topicState, partition.partition, readStored);
        if (isOver()) return;
        if (found !== null) {
          const { stored, state, bounds } = found;
          if (!isMissing(partition, stored, bounds)) return beginPartition(deps, partition, found);
          beyondSince ??= performance.now();
          if (stored !== null && performance.now() - beyondSince > newLeaderTimeoutMs) {
            truncation.found(partition.partition, stored, { log: state.log, endOffset: String(bounds.high) });
          }
        }
      } catch (error) {
        const place = { topic, group, partition: partition.partition };
        logger.warn('could not read the start offset', { ...place, error });
      }
      await sleep(Math.min(backoffMs(failures), longestPauseMs), signal);
    }
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

/** @returns null when the topic was created again in between. */
async function findStart(
  topicState: SharedTopicState,
  partition: number,
  readStored: (log: string) => Promise<StoredOffset | null>,
): Promise<FoundStart | null> {
  const { log } = await topicState.read();
  const stored = await readStored(log);
  // The end is asked for after the offset was read: another member may have moved it.
  const state = await topicState.read();
  return state.log === log ? { stored, state, bounds: boundsOf(state, partition) } : null;
}

/** What was found out about where to begin. */
interface FoundStart {
  stored: StoredOffset | null;
  state: TopicState;
  bounds: { low: bigint; high: bigint };
}

/** True when the log ends before the stored offset, or was seen to have another record before it. */
function isMissing(partition: AssignedPartition, stored: StoredOffset | null, bounds: { high: bigint }): boolean {
  if (stored === null) return false;
  if (stored.nextOffset > bounds.high) return true;
  return stored.recordBefore !== null && stored.recordBefore === partition.missingRecord;
}

/** Has a partition fetched from where its stored offset says. */
function beginPartition(
  deps: {
    consume: Pick<ConsumeOptions, 'topic' | 'group'>;
    consumer: Pick<Consumer, 'resume' | 'seek'>;
    truncation: Truncation;
  },
  partition: AssignedPartition,
  { stored, state: { log, leaderEpochs }, bounds: { low } }: FoundStart,
): void {
  const {
    consumer,
    truncation,
    consume: { topic },
  } = deps;
  const start = stored === null || stored.nextOffset < low ? low : stored.nextOffset;
  if (stored !== null) truncation.deletedUnread(partition.partition, stored.nextOffset, low);
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

/** The state of one topic. All partitions of an assignment ask at once: one answer serves them. */
function createSharedTopicState(topics: TopicReader, topic: string) {
  let shared: Promise<TopicState> | undefined;
  return {
    read(): Promise<TopicState> {
      shared ??= topics.stateOf(topic).finally(() => {
        shared = undefined;
      });
      return shared;
    },
  };
}

type SharedTopicState = ReturnType<typeof createSharedTopicState>;

function boundsOf({ bounds }: TopicState, partition: number) {
  const found = bounds.find((one) => one.partition === partition);
  if (found === undefined) throw new Error(`the topic has no partition ${partition}`);
  return found;
}
