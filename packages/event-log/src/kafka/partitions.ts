// The state of an assigned partition, the buffer of fetched records, and the commits of offsets to Kafka.

import { type Logger, sleep, withDeadline } from '@millrace/runtime';
import type { Consumer } from 'kafkajs';
import type { LogRecord } from '../log.ts';

/** State of a partition that this member holds in the current generation of its group. */
export interface AssignedPartition {
  readonly partition: number;
  /** Aborts when the member stops, or when a rebalance may assign the partition to another member. */
  readonly abort: AbortController;
  /** ID of the log that the partition belongs to (`LogBatch.log`), or empty until it has been looked up. */
  log: string;
  /** Counts the lookups of the start position, so that only the latest result is used. */
  beginnings: number;
  /**
   * Fingerprint of the record before the start position. It is fetched again to check that the log still contains it.
   * Null once that is done.
   */
  lastRecordFingerprint: string | null;
  /** Fingerprint of a record that the log no longer contains: a different record has its offset. */
  missingRecord: string | null;
  /** Leader epoch of the latest fetched records. A new leader may lack records of a former one. */
  leaderEpoch: number | null;
  /** Records that were fetched and not handled yet, in order. */
  waiting: LogRecord[];
  /** Approximate memory size of the waiting records. */
  waitingBytes: number;
  /**
   * Offset of the next record to fetch, or null until it has been looked up. Replaces kafkajs's own position, which is
   * not reliable.
   */
  fetchPosition: bigint | null;
  /** True while fetching is paused because enough records wait. */
  isHeldBack: boolean;
  /** End of the partition at the last fetch. */
  highWatermark: bigint;
  /** See `LogBatch.continuesFrom`. */
  continuesFrom: bigint | null;
  /** Consecutive batches without progress: handler failures and stale results. */
  failures: number;
  /** First record after a gap that was seen once. The gap is real if it is still there after an explicit seek. */
  suspectedGap: bigint | null;
  /** The delivery of the in-flight batch. It resolves when the delivery ends, and never rejects. */
  delivery: Promise<void> | null;
  /** Sends a heartbeat to the coordinator. */
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

/** Approximate memory of a record in addition to its value: key, headers, offsets. */
const recordOverheadBytes = 256;
const mebibyte = 1024 * 1024;
/**
 * Fetching from a partition pauses above this size of waiting records, so that a slow partition leaves memory for the
 * others. Twice as much would cost the consumer a tenth of its CPU time, for garbage collection of records that have
 * aged before they are handled.
 */
const partitionLimitBytes = mebibyte / 2;
/** Above this size of waiting records in all partitions, nothing is fetched. */
const limitBytes = 4 * mebibyte;
const keepAliveMs = 500;

/**
 * Buffers records that were fetched ahead, so that an idle handler finds its next batch without waiting for a fetch.
 * kafkajs itself fetches only after everything fetched before has been handled.
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

  /** Removes the records below the offset. */
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

  /** Drops the waiting records. The caller must then restart fetching from another position. */
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
    /** Resolves when there is room for more records. Sends heartbeats meanwhile. */
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

/** Allows one waiting record of any size, so that the next record is fetched while a large one is being handled. */
function isFull({ waiting, waitingBytes }: AssignedPartition): boolean {
  return waitingBytes >= partitionLimitBytes && waiting.length > 1;
}

function sizeOf(records: readonly LogRecord[]): number {
  return records.reduce((sum, { value }) => sum + value.length + recordOverheadBytes, 0);
}

const intervalMs = 1000;
const lastCommitTimeoutMs = 2000;

/**
 * Commits the group's offsets to Kafka, at most once a second. They are only for lag monitoring tools. Millrace does
 * not read them. A failed commit is superseded by the next one.
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

/** Ignores errors of kafkajs between a crash and a restart of the consumer, when the call no longer matters. */
export function ignoreCrashErrors(ask: () => void): void {
  try {
    ask();
  } catch {
    // The next assignment starts from the stored offsets.
  }
}
