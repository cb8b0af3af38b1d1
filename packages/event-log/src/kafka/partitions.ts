import { type Logger, sleep, withDeadline } from '@millrace/runtime';
import type { Consumer } from 'kafkajs';
import type { LogRecord } from '../log.ts';

/** A partition this member holds in the current generation of its group. */
export interface AssignedPartition {
  readonly partition: number;
  /** Aborts when the member stops, or the group rebalances and the partition may go to another member. */
  readonly abort: AbortController;
  /** Identity of the log it is read from (`LogBatch.log`); empty until it has been looked up. */
  log: string;
  /** Counts how often the start was looked up: only the last answer is used. */
  beginnings: number;
  /** Mark of the record that must be fetched first, before anything is handed over; null once it was seen. */
  recordBefore: string | null;
  /** Mark of a record that is not in the log any more: another one has its offset. */
  missingRecord: string | null;
  /** Epoch of the leader that wrote what was fetched last. A new leader may have lost records of a former one. */
  leaderEpoch: number | null;
  /** Fetched and not yet handled, in their order. */
  waiting: LogRecord[];
  /** About how much memory they hold. */
  waitingBytes: number;
  /** Offset of the next record to fetch; null until it has been looked up. kafkajs's own position is never trusted. */
  fetchPosition: bigint | null;
  /** Not fetched from, because enough of its records wait. */
  isHeldBack: boolean;
  /** End of the partition when it was last fetched from. */
  highWatermark: bigint;
  /** See `LogBatch.continuesFrom`. */
  continuesFrom: bigint | null;
  /** Batches in a row without progress: handler failures and stale answers. */
  failures: number;
  /** First record after a hole that was seen once. The hole is real when it is still there after an explicit seek. */
  suspectedGap: bigint | null;
  /** The batch the handler works on; resolves with it, never rejects. */
  delivery: Promise<void> | null;
  /** Tells the coordinator that this member is alive. */
  heartbeat(): Promise<void>;
}

export function createAssignedPartition(partition: number): AssignedPartition {
  return {
    partition,
    abort: new AbortController(),
    log: '',
    beginnings: 0,
    recordBefore: null,
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

/** About what a record holds beside its value: key, headers, offsets. */
const recordOverheadBytes = 256;
const mebibyte = 1024 * 1024;
/**
 * A partition with more than this waiting is not fetched from, so that a slow partition leaves room for the others.
 * Twice as much would cost the consumer a tenth of its CPU time, in garbage collection of records that have become old
 * before they are handled.
 */
const partitionLimitBytes = mebibyte / 2;
/** With more than this waiting in all partitions nothing is fetched. */
const limitBytes = 4 * mebibyte;
const keepAliveMs = 500;

/**
 * Records that were fetched ahead, so that a handler that is free finds its next batch and never waits for a fetch.
 * kafkajs alone fetches only when everything it fetched has been handled.
 */
export function createWaitingRecords(consumer: Pick<Consumer, 'pause' | 'resume'>, topic: string) {
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
      whileRunning(() => consumer.pause([{ topic, partitions: [partition.partition] }]));
    }
  }

  /** Takes away the records below the offset. */
  function removeBelow(partition: AssignedPartition, offset: bigint): void {
    const kept = partition.waiting.findIndex((record) => record.offset >= offset);
    const removed = kept === -1 ? partition.waiting : partition.waiting.slice(0, kept);
    partition.waiting = kept === -1 ? [] : partition.waiting.slice(kept);
    change(partition, -sizeOf(removed));
    if (partition.isHeldBack && !isFull(partition)) {
      partition.isHeldBack = false;
      whileRunning(() => consumer.resume([{ topic, partitions: [partition.partition] }]));
    }
  }

  /** Forgets the waiting records. The caller then has the partition fetched again, from another position. */
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
    /** Resolves when there is room for more. Keeps telling the coordinator meanwhile that this member is alive. */
    async room(heartbeat: () => Promise<void>): Promise<void> {
      while (bytes >= limitBytes) {
        const made = new AbortController();
        announceRoom = () => made.abort();
        await sleep(keepAliveMs, made.signal);
        await heartbeat();
      }
    },
  };
}

export type WaitingRecords = ReturnType<typeof createWaitingRecords>;

/** While one large record is worked on, the next is fetched. */
function isFull({ waiting, waitingBytes }: AssignedPartition): boolean {
  return waitingBytes >= partitionLimitBytes && waiting.length > 1;
}

function sizeOf(records: readonly LogRecord[]): number {
  return records.reduce((sum, { value }) => sum + value.length + recordOverheadBytes, 0);
}

const intervalMs = 1000;
const lastCommitTimeoutMs = 2000;

/**
 * Commits the group's offsets to Kafka, at most every second. Nothing of ours reads them: they are for tools that show
 * lag, and a commit that fails is replaced by the next one.
 */
export function createKafkaCommits(consumer: Pick<Consumer, 'commitOffsets'>, topic: string, logger: Logger) {
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

export type KafkaCommits = ReturnType<typeof createKafkaCommits>;

/**
 * kafkajs throws when the consumer is between a crash and its restart. What was asked of it then does not matter any
 * more.
 */
export function whileRunning(ask: () => void): void {
  try {
    ask();
  } catch {
    // The next assignment starts from the stored offsets.
  }
}
