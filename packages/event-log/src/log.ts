/**
 * The interface of the event log, which has two adapters: Kafka (`kafka/`) and PostgreSQL (`postgres/`). A topic has
 * partitions. Records with the same key are in the same partition, in the order they were appended.
 */

export interface AppendRecord {
  topic: string;
  /** Records with the same key keep their order. Records with the key `null` are spread over the partitions. */
  key: string | null;
  value: Buffer;
  headers?: Record<string, string>;
}

export interface LogRecord {
  offset: bigint;
  key: string | null;
  value: Buffer;
  headers: Record<string, string>;
  /** When the record was appended, in milliseconds since the epoch. */
  appendedAtMs: number;
}

/** The position a group has stored for a partition of a log. */
export interface StoredOffset {
  /** Records below this offset have taken effect. */
  nextOffset: bigint;
  /**
   * Fingerprint (`recordFingerprint`) of the record before `nextOffset`, which the log must still contain. Null when
   * unknown.
   */
  lastRecordFingerprint: string | null;
}

/** Consecutive records of one partition, oldest first. Never empty. */
export interface LogBatch {
  topic: string;
  partition: number;
  /**
   * ID of the log that contains the records. For Kafka, it identifies the cluster and the topic. A topic that was
   * deleted and created again, or a topic of the same name on other servers, is a different log. Offsets stored for one
   * log are meaningless in another.
   */
  log: string;
  /**
   * The stored offset this batch continues from: the previous `nextOffset` or the result of `startOffset`. Null if
   * nothing was stored. The handler compares it with the offset stored now; if they differ, the batch is stale. It is
   * lower than the first record's offset when retention has deleted records in between.
   */
  continuesFrom: bigint | null;
  records: LogRecord[];
}

export interface BatchContext {
  /** Aborted when the member is stopping or has lost the partition. The handler should then start nothing new. */
  signal: AbortSignal;
  /** Keeps the group membership alive during long work. Cheap to call often. Never throws. */
  heartbeat(): Promise<void>;
}

/**
 * Result of a handler:
 * - `done`: records below `nextOffset` have taken effect, and the handler's own transaction stored that offset.
 * - `stale`: the stored offset differs from the batch's, because another member advanced it or it was moved. Nothing
 *   was done. Consuming continues from `nextOffset`, or from the start of the partition when it is null.
 */
export type BatchResult = { outcome: 'done'; nextOffset: bigint } | { outcome: 'stale'; nextOffset: bigint | null };

export interface ConsumeOptions {
  topic: string;
  group: string;
  /** Maximum number of records in a batch. */
  maxBatchRecords: number;
  /** A batch ends once its values reach this many bytes. It contains at least one record. */
  maxBatchBytes: number;
  /** Maximum number of partitions processed at the same time. Each partition is always processed sequentially. */
  partitionConcurrency: number;
  /**
   * Returns the position where a partition starts after an assignment or when its log is a different one. Null for the
   * start of the log. If the log ends before that position or has a different record before it, the log was truncated.
   * The partition then waits until another position is stored, logs an error, and sets
   * `millrace_log_truncated_partitions`.
   */
  startOffset(partition: number, log: string): Promise<StoredOffset | null>;
  /**
   * Processes one batch. When it throws, nothing is skipped: after a pause (exponential, 5 s at most), delivery
   * continues from the stored offset, until the member stops.
   */
  handler(batch: LogBatch, context: BatchContext): Promise<BatchResult>;
  /** Called once when consuming ends for a reason other than `stop()`. The process should then exit with an error. */
  onFatal(error: Error): void;
}

export interface LogConsumer {
  /** Resolves when the member has joined its group and has its first assignment, or when it is stopped before that. */
  ready: Promise<void>;
  /** Waits for in-flight batches, releases the partitions, and leaves the group. */
  stop(): Promise<void>;
}

export interface PartitionEnd {
  partition: number;
  /** See `LogBatch.log`. */
  log: string;
  /** The end of the log: offset of the next record to be appended. */
  endOffset: bigint;
}

export interface EventLog {
  /** Creates missing topics, and leaves existing ones unchanged. */
  ensureTopics(topics: { topic: string; partitions: number }[]): Promise<void>;
  /**
   * Resolves when all records are durable. Rejects with an AppError:
   * - `unavailable`: not acknowledged within the time limit (3 s at most), or the byte budget for in-flight records is
   *   used up. The records may or may not be in the log. If the client retries, duplicates are recognized by the event
   *   uuid.
   * - `too_large`: a record is larger than the log allows. No record of the call is appended.
   */
  append(records: AppendRecord[]): Promise<void>;
  consume(options: ConsumeOptions): Promise<LogConsumer>;
  /**
   * Returns the end of each partition, for lag metrics, tests and tools. Rejects with `unavailable`, also when the
   * topic does not exist.
   */
  endOffsets(topic: string): Promise<PartitionEnd[]>;
  /** False while the latest attempts to reach the log failed. For readiness checks. */
  isHealthy(): boolean;
  /** Sends waiting records, then closes. Consumers must be stopped first. */
  close(): Promise<void>;
}
