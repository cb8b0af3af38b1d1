import type { LogRecord } from '../port/event-log.ts';

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
