// Determines where to start reading a partition, and detects that a log was truncated or replaced.

import { type Logger, sleep } from '@millrace/runtime';
import type { Consumer } from 'kafkajs';
import { backoffMs } from '../backoff.ts';
import type { TruncationReporter } from '../consume/truncation.ts';
import type { ConsumeOptions, StoredOffset } from '../log.ts';
import { type AssignedPartition, ignoreCrashErrors, type RecordBuffer } from './partitions.ts';
import type { TopicReader, TopicState } from './topics.ts';

interface StartPositionsDeps {
  consume: Pick<ConsumeOptions, 'topic' | 'group' | 'startOffset'>;
  consumer: Pick<Consumer, 'pause' | 'resume' | 'seek'>;
  waiting: Pick<RecordBuffer, 'clear'>;
  truncation: TruncationReporter;
  logger: Logger;
  topics: TopicReader;
}

/**
 * The maximum delay between lookups. It is short, because a lookup costs little and the partition is not read until a
 * lookup succeeds.
 */
const longestPauseMs = 1000;
/**
 * How many milliseconds a new leader may need until it knows all committed records. Records that are still missing
 * after this time are considered lost.
 */
const newLeaderTimeoutMs = 2000;

/** Determines where to start reading each partition. A lookup pauses only its own partition. */
export function createStartPositions(deps: StartPositionsDeps) {
  const { consume, consumer, waiting, truncation, logger } = deps;
  const { topic, group } = consume;
  const topicState = createSharedTopicState(deps.topics, topic);

  /** Stops delivering a partition, waits for `delayMs`, reads the stored offset, and continues from that offset. */
  function resumeFromStored(partition: AssignedPartition, delayMs: number): Promise<void> {
    return resume(partition, delayMs, (log) => consume.startOffset(partition.partition, log));
  }

  /**
   * Like `resumeFromStored`, for a newly assigned partition: first waits until this member's in-flight batch of the
   * partition has ended.
   */
  function beginFromStored(partition: AssignedPartition, inFlight: Promise<void> | null): Promise<void> {
    return resume(partition, 0, async (log) => {
      await inFlight;
      return consume.startOffset(partition.partition, log);
    });
  }

  /** Like `resumeFromStored`, but continues from an offset that the handler has just read. */
  function resumeFrom(partition: AssignedPartition, stored: bigint | null, delayMs: number): Promise<void> {
    const start = stored === null ? null : { nextOffset: stored, lastRecordFingerprint: null };
    return resume(partition, delayMs, async () => start);
  }

  async function resume(
    partition: AssignedPartition,
    delayMs: number,
    readStored: (log: string) => Promise<StoredOffset | null>,
  ): Promise<void> {
    const { signal } = partition.abort;
    // The partition may already belong to a different member, which then decides whether to pause it.
    if (signal.aborted) return;
    partition.beginnings += 1;
    const beginning = partition.beginnings;
    const isOver = () => signal.aborted || partition.beginnings !== beginning;
    waiting.clear(partition);
    ignoreCrashErrors(() => consumer.pause([{ topic, partitions: [partition.partition] }]));
    await sleep(delayMs, signal);
    // Wait for the in-flight batch, which will advance the stored offset.
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
    seekAgain(partition: AssignedPartition): void {
      if (partition.fetchPosition === null) return;
      const offset = String(partition.fetchPosition);
      ignoreCrashErrors(() => consumer.seek({ topic, partition: partition.partition, offset }));
    },
    pauseAll: () => ignoreCrashErrors(() => consumer.pause([{ topic }])),
  };
}

export type StartPositions = ReturnType<typeof createStartPositions>;

/**
 * Looks up a partition's stored offset and its log's current state.
 * @returns null if the topic was created again during the lookup
 */
async function findStart(
  topicState: SharedTopicState,
  partition: number,
  readStored: (log: string) => Promise<StoredOffset | null>,
): Promise<FoundStart | null> {
  const { log } = await topicState.read();
  const stored = await readStored(log);
  // Read the end offset last. Otherwise, another member could advance the stored offset beyond it in the meantime.
  const state = await topicState.read();
  return state.log === log ? { stored, state, bounds: boundsOf(state, partition) } : null;
}

interface FoundStart {
  stored: StoredOffset | null;
  state: TopicState;
  bounds: { low: bigint; high: bigint };
}

/**
 * Returns whether the log lacks the record before the stored offset, because it ends before that offset or contains a
 * different record.
 */
function isMissing(partition: AssignedPartition, stored: StoredOffset | null, bounds: { high: bigint }): boolean {
  if (stored === null) return false;
  if (stored.nextOffset > bounds.high) return true;
  return stored.lastRecordFingerprint !== null && stored.lastRecordFingerprint === partition.missingRecord;
}

function beginPartition(
  deps: {
    consume: Pick<ConsumeOptions, 'topic' | 'group'>;
    consumer: Pick<Consumer, 'resume' | 'seek'>;
    truncation: TruncationReporter;
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
  // Retention may have deleted the record. If so, only the log ID shows that the stored offset belongs to this log.
  const canVerify =
    stored !== null && stored.lastRecordFingerprint !== null && start > low && start === stored.nextOffset;
  if (!canVerify) truncation.over(partition.partition);
  partition.log = log;
  partition.leaderEpoch = leaderEpochs.get(partition.partition) ?? null;
  partition.missingRecord = null;
  partition.lastRecordFingerprint = canVerify ? stored.lastRecordFingerprint : null;
  partition.continuesFrom = stored?.nextOffset ?? null;
  partition.fetchPosition = canVerify ? start - 1n : start;
  partition.suspectedGap = null;
  consumer.seek({ topic, partition: partition.partition, offset: String(partition.fetchPosition) });
  consumer.resume([{ topic, partitions: [partition.partition] }]);
}

/**
 * Shares one request for a topic's state among all partitions of an assignment, which need the state at the same time.
 */
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
