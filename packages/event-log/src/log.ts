/**
 * The ordered log: one port, two adapters (`kafka/`, `postgres/`). A topic has partitions; records of one key stay in
 * one partition, in the order they were appended.
 */

export interface AppendRecord {
  topic: string;
  /** Records of one key keep their order. `null` spreads over the partitions. */
  key: string | null;
  value: Buffer;
  headers?: Record<string, string>;
}

export interface LogRecord {
  offset: bigint;
  key: string | null;
  value: Buffer;
  headers: Record<string, string>;
  /** When the log took it, milliseconds since the epoch. */
  appendedAtMs: number;
}

/** What a group has stored about a partition of one log. */
export interface StoredOffset {
  /** Records below have taken effect. */
  nextOffset: bigint;
  /** The mark of the record before (`recordMark`), which must still be there; null when it is not known. */
  recordBefore: string | null;
}

/** Consecutive records of one partition, oldest first, never empty. */
export interface LogBatch {
  topic: string;
  partition: number;
  /**
   * Identity of the log the records are of, e.g. cluster and topic of Kafka. A topic that was deleted and created again, or one
   * of the same name on other servers, is another log: offsets stored for the one mean nothing in the other.
   */
  log: string;
  /**
   * The stored offset this batch continues from: the former `nextOffset`, or the answer of `startOffset` (null =
   * nothing was stored). The handler compares it: when another offset is stored now, the batch is stale. It is lower
   * than the first record's offset when retention has removed records in between.
   */
  continuesFrom: bigint | null;
  records: LogRecord[];
}

export interface BatchContext {
  /** Aborted when the member is stopping or has lost the partition: begin nothing new. */
  signal: AbortSignal;
  /** Keeps the membership alive during long work. Cheap to call often. Never throws. */
  heartbeat(): Promise<void>;
}

/**
 * What the handler did with the batch.
 * - `done`: records below `nextOffset` have taken effect, and the handler's own transaction stored that offset.
 * - `stale`: the stored offset disagrees with this batch (another member moved it, or the log was rewound); nothing
 *   was done. Consumption continues from `nextOffset`, or from the start of the partition when null.
 */
export type BatchResult = { outcome: 'done'; nextOffset: bigint } | { outcome: 'stale'; nextOffset: bigint | null };

export interface ConsumeOptions {
  topic: string;
  group: string;
  /** At most this many records in one batch. */
  maxBatchRecords: number;
  /** A batch is cut once its values reach this many bytes (it holds at least one record). */
  maxBatchBytes: number;
  /** How many partitions of this member are worked on at once; one partition is always sequential. */
  partitionConcurrency: number;
  /**
   * Where to begin a partition that was just assigned, or whose log is another one now: what is stored for this log, or null
   * for its start. When the log has not got that far, or has another record before it, the log was truncated: the partition
   * waits until something else is stored, with an error logged and `millrace_log_truncated_partitions`.
   */
  startOffset(partition: number, log: string): Promise<StoredOffset | null>;
  /**
   * Handles one batch. When it throws, nothing is skipped: the adapter waits (exponentially, at most 5 s, until the
   * member stops) and delivers from the stored offset again.
   */
  handler(batch: LogBatch, context: BatchContext): Promise<BatchResult>;
  /** Called once when consumption has ended for a reason other than `stop()`; the process should exit non-zero. */
  onFatal(error: Error): void;
}

export interface LogConsumer {
  /** Resolves once the member has joined its group and its first assignment is known, or when it is stopped before. */
  ready: Promise<void>;
  /** Waits for the batches under way, gives up the partitions, leaves the group. */
  stop(): Promise<void>;
}

export interface PartitionEnd {
  partition: number;
  /** See `LogBatch.log`. */
  log: string;
  /** Offset the next appended record gets. */
  endOffset: bigint;
}

export interface EventLog {
  /** Creates missing topics; leaves existing ones as they are. */
  ensureTopics(topics: { topic: string; partitions: number }[]): Promise<void>;
  /**
   * Resolves when every record is durable. Rejects with AppError:
   * - `unavailable`: not acknowledged within the time limit (3 s at most), or the byte budget for records in flight is
   *   used up. The records may or may not be in the log: a client's repetition is recognised by the event uuid.
   * - `too_large`: one record is larger than the log takes; nothing of the call is appended.
   */
  append(records: AppendRecord[]): Promise<void>;
  consume(options: ConsumeOptions): Promise<LogConsumer>;
  /** By partition. For lag metrics, tests and tools. Rejects with `unavailable`, also when there is no such topic. */
  endOffsets(topic: string): Promise<PartitionEnd[]>;
  /** False while the last attempts to reach the log failed; for readiness. */
  isHealthy(): boolean;
  /** Sends what is still in hand, then closes. Consumers must be stopped before. */
  close(): Promise<void>;
}
