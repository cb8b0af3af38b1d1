import type { LogRecord } from '../port/event-log.ts';

/** A partition this member holds in the current generation of its group. */
export interface AssignedPartition {
  readonly partition: number;
  /** Aborts when the member stops, or the group rebalances and the partition may go to another member. */
  readonly abort: AbortController;
  /** Identity of the log it is read from (`LogBatch.log`); empty until it has been looked up. */
  log: string;
  /** Counts how often a beginning was looked up: the last one counts. */
  beginnings: number;
  /** Mark of the record that must be the next one fetched, before anything is handed over; null when it was seen. */
  recordBefore: string | null;
  /** Mark of the record that the log has another one in place of. */
  missingRecord: string | null;
  /** Of the leader that wrote what was fetched last. A new leader may have lost what a former one had. */
  leaderEpoch: number | null;
  /** Fetched and not yet handled, in their order. */
  waiting: LogRecord[];
  /** About how much memory they hold. */
  waitingBytes: number;
  /** Offset of the next record to fetch; null until it has been looked up. kafkajs's own position is never trusted. */
  fetchPosition: bigint | null;
  /** Not fetched from, because enough of it waits. */
  isHeldBack: boolean;
  /** End of the partition when it was last fetched from. */
  highWatermark: bigint;
  /** See `LogBatch.continuesFrom`. */
  continuesFrom: bigint | null;
  /** Batches in a row without progress: handler failures and stale answers. */
  failures: number;
  /** First record beyond a hole seen once: the hole is real when it is there again after an explicit seek. */
  suspectedGap: bigint | null;
  /** The batch in the hands of the handler; settles with it, never fails. */
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
