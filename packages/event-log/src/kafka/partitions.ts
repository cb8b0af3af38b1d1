// Stores an assigned partition's state, buffers its fetched records, and commits its offsets to Kafka.

import { type Logger, sleep, withDeadline } from '@millrace/runtime';
import type { Consumer } from 'kafkajs';
import type { LogRecord } from '../log.ts';

/** The state of a partition that this member owns in the current group generation. */
export interface AssignedPartition {
  readonly partition: number;
  /** Aborted when the member stops, or when a rebalance may assign the partition to a different member. */
  readonly abort: AbortController;
  /** The partition's log ID (`LogBatch.log`), or an empty string until it has been looked up. */
  log: string;
  /** The number of times that the start position has been looked up, so that only the last lookup's result is used. */
  beginnings: number;
  /**
   * The fingerprint of the record before the start position, which is fetched again to check that the log still
   * contains it. Null after the check.
   */
  lastRecordFingerprint: string | null;
  /**
   * The fingerprint of a processed record that the log no longer contains, because a different record has its offset.
   */
  missingRecord: string | null;
  /** The leader epoch of the last fetched records. A new leader may lack records that a former leader had. */
  leaderEpoch: number | null;
  waiting: LogRecord[];
  waitingBytes: number;
  /**
   * The offset of the next record to fetch, or null until it has been looked up. It replaces the position in kafkajs,
   * which is not reliable.
   */
  fetchPosition: bigint | null;
  /** Whether fetching is paused because the buffer contains enough records. */
  isHeldBack: boolean;
  highWatermark: bigint;
  continuesFrom: bigint | null;
  /** The number of consecutive batches without progress, because the handler failed or the batch was stale. */
  failures: number;
  /**
   * The offset of the first record after a gap that was seen once. If the gap remains after an explicit seek, it is
   * accepted.
   */
  suspectedGap: bigint | null;
  /** Resolves when the in-flight batch has been delivered. Never rejects. Null if no batch is in flight. */
  delivery: Promise<void> | null;
  heartbeat(): Promise<void>;
}

export function createAssignedPartition(partition: number): AssignedPartition {
  return {
    partition,
    abort: new AbortController(),
    log: '',
    beginnings: 0,
    lastRecordFingerprint: null,
    missingRecord: null,
    leaderEpoch: null,
    waiting: [],
    waitingBytes: 0,
    fetchPosition: null,
    isHeldBack: false,
    highWatermark: 0n,
    continuesFrom: null,
    failures: 0,
    suspectedGap: null,
    delivery: null,
    heartbeat: async () => {},
  };
}

/** The approximate memory for a record's key, headers and offsets in addition to its value, in bytes. */
const recordOverheadBytes = 256;
const mebibyte = 1024 * 1024;
/**
 * If a partition's waiting records are larger than this, fetching from it pauses, so that a slow partition leaves
 * memory for other partitions. With twice this size, the consumer would spend a tenth of its CPU time on garbage
 * collection of records that wait for a long time.
 */
const partitionLimitBytes = mebibyte / 2;
/** The maximum total size of waiting records in all partitions. Above this size, fetching is paused. */
const limitBytes = 4 * mebibyte;
const keepAliveMs = 500;

/**
 * Creates a buffer for records that were fetched in advance, so that a handler that finishes finds its next batch
 * without waiting for a fetch. kafkajs fetches only when all previously fetched records have been handled.
 */
export function createRecordBuffer(consumer: Pick<Consumer, 'pause' | 'resume'>, topic: string) {
  let bytes = 0;
  let announceRoom: () => void = () => {};

  function add(partition: AssignedPartition, records: LogRecord[]): void {
    const last = records.at(-1);
    if (last === undefined) return;
    partition.waiting = partition.waiting.length === 0 ? records : partition.waiting.concat(records);
    partition.fetchPosition = last.offset + 1n;
    change(partition, sizeOf(records));
    if (isFull(partition) && !partition.isHeldBack) {
      partition.isHeldBack = true;
      ignoreCrashErrors(() => consumer.pause([{ topic, partitions: [partition.partition] }]));
    }
  }

  function removeBelow(partition: AssignedPartition, offset: bigint): void {
    const first = partition.waiting.findIndex((record) => record.offset >= offset);
    const removed = first === -1 ? partition.waiting : partition.waiting.slice(0, first);
    partition.waiting = first === -1 ? [] : partition.waiting.slice(first);
    change(partition, -sizeOf(removed));
    if (partition.isHeldBack && !isFull(partition)) {
      partition.isHeldBack = false;
      ignoreCrashErrors(() => consumer.resume([{ topic, partitions: [partition.partition] }]));
    }
  }

  /** Drops the partition's waiting records. The caller must then fetch from a different position. */
  function clear(partition: AssignedPartition): void {
    partition.waiting = [];
    partition.isHeldBack = false;
    partition.fetchPosition = null;
    change(partition, -partition.waitingBytes);
  }

  function change(partition: AssignedPartition, by: number): void {
    partition.waitingBytes += by;
    bytes += by;
    if (by < 0) announceRoom();
  }

  return {
    add,
    removeBelow,
    clear,
    /** Resolves when the buffer has room for more records. Sends heartbeats while waiting. */
    async room(heartbeat: () => Promise<void>): Promise<void> {
      while (bytes >= limitBytes) {
        const madeRoom = new AbortController();
        announceRoom = () => madeRoom.abort();
        await sleep(keepAliveMs, madeRoom.signal);
        await heartbeat();
      }
    },
  };
}

export type RecordBuffer = ReturnType<typeof createRecordBuffer>;

/**
 * Returns whether fetching should pause. A single record never fills the buffer, so that the next record is fetched
 * while a large one is being handled.
 */
function isFull({ waiting, waitingBytes }: AssignedPartition): boolean {
  return waitingBytes >= partitionLimitBytes && waiting.length > 1;
}

function sizeOf(records: readonly LogRecord[]): number {
  return records.reduce((sum, { value }) => sum + value.length + recordOverheadBytes, 0);
}

const intervalMs = 1000;
const lastCommitTimeoutMs = 2000;

/**
 * Commits the group's offsets to Kafka, at most once a second. Only lag monitoring tools use these offsets, and
 * Millrace does not read them. If a commit fails, the next commit replaces it.
 */
export function createOffsetCommitter(consumer: Pick<Consumer, 'commitOffsets'>, topic: string, logger: Logger) {
  const reached = new Map<number, bigint>();
  let timer: NodeJS.Timeout | undefined;

  async function commit(): Promise<void> {
    timer = undefined;
    const offsets = [...reached].map(([partition, offset]) => ({ topic, partition, offset: String(offset) }));
    reached.clear();
    if (offsets.length === 0) return;
    try {
      await consumer.commitOffsets(offsets);
    } catch (error) {
      logger.debug('could not commit offsets to Kafka', { topic, error });
    }
  }

  return {
    reached(partition: number, nextOffset: bigint): void {
      reached.set(partition, nextOffset);
      timer ??= setTimeout(commit, intervalMs);
    },
    async stop(): Promise<void> {
      clearTimeout(timer);
      await withDeadline(commit(), lastCommitTimeoutMs, 'committing').catch(() => {});
    },
  };
}

export type OffsetCommitter = ReturnType<typeof createOffsetCommitter>;

/**
 * Calls kafkajs and ignores its errors. After a consumer has crashed, kafkajs rejects calls until the consumer
 * restarts.
 */
export function ignoreCrashErrors(ask: () => void): void {
  try {
    ask();
  } catch {
    // Ignore the error, because the next assignment starts from the stored offsets.
  }
}
