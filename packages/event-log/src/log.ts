/**
 * Defines the interface of the event log, which has two adapters: Kafka (`kafka/`) and PostgreSQL (`postgres/`). A
 * topic has partitions. Records with the same key are in the same partition, in append order.
 */

export interface AppendRecord {
  topic: string;
  /** Records with the same key keep their order. Records with a null key are spread over the partitions. */
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

export interface StoredOffset {
  /** The effects of all records below this offset are stored. */
  nextOffset: bigint;
  /**
   * The fingerprint (`computeRecordFingerprint`) of the record before `nextOffset`, or null if unknown. The log must still
   * contain that record.
   */
  lastRecordFingerprint: string | null;
}

/** Consecutive records from one partition, oldest first. Never empty. */
export interface LogBatch {
  topic: string;
  partition: number;
  /**
   * The ID of the log that contains the records. For Kafka, it identifies the cluster and the topic. A topic that was
   * deleted and created again, or a topic of the same name on other servers, is a different log. Offsets that were
   * stored for one log have no meaning in a different one.
   */
  log: string;
  /**
   * The stored offset where this batch continues: the previous `nextOffset` or the result of `startOffset`, or null if
   * no offset was stored. The handler compares it with the currently stored offset. If the two differ, the batch is
   * stale. If retention has deleted records in between, `continuesFrom` is lower than the first record's offset.
   */
  continuesFrom: bigint | null;
  records: LogRecord[];
}

export interface BatchContext {
  /**
   * A signal that is aborted when the member is stopping or has lost the partition. The handler should start nothing
   * new after that.
   */
  signal: AbortSignal;
  /** Keeps the member in its group during long work. Calls are cheap and never throw. */
  heartbeat(): Promise<void>;
}

/**
 * The result of a handler:
 *
 * - `done`: the effects of all records below `nextOffset` are stored, and the handler's transaction has stored that
 *   offset too.
 * - `stale`: the stored offset differs from the batch's, because another member advanced it or an operator moved it.
 *   The handler did nothing. Consuming continues from `nextOffset`, or from the start of the partition if it is null.
 */
export type BatchResult = { outcome: 'done'; nextOffset: bigint } | { outcome: 'stale'; nextOffset: bigint | null };

export interface ConsumeOptions {
  topic: string;
  group: string;
  maxBatchRecords: number;
  /** A batch ends when its values have this total size in bytes. It contains at least one record. */
  maxBatchBytes: number;
  /** The maximum number of partitions processed at the same time. Each partition is always processed sequentially. */
  partitionConcurrency: number;
  /**
   * Returns the position where a partition starts after an assignment, or when its log was replaced. Returns null for
   * the start of the log. If the log ends before that position or has a different record before it, the log was
   * truncated. The member then logs an error, sets `millrace_log_truncated_partitions`, and pauses the partition until
   * the stored position changes.
   */
  startOffset(partition: number, log: string): Promise<StoredOffset | null>;
  /**
   * Processes one batch. If it throws, nothing is skipped: after a delay (exponential, 5 s at most), delivery continues
   * from the stored offset, until the member stops.
   */
  handler(batch: LogBatch, context: BatchContext): Promise<BatchResult>;
  /** Called once if consuming ends for any reason other than `stop()`. The process should then exit with an error. */
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
  log: string;
  endOffset: bigint;
}

export interface EventLog {
  ensureTopics(topics: { topic: string; partitions: number }[]): Promise<void>;
  /**
   * Appends records. Resolves when all of them are durable. Rejects with an AppError:
   *
   * - `unavailable`: the records were not acknowledged within the time limit (3 s at most), or in-flight records use up
   *   the byte budget. The records may or may not be in the log. If the client retries, duplicates are recognized by
   *   the event uuid.
   * - `too_large`: a record is larger than the log allows. No record of the call is appended.
   */
  append(records: AppendRecord[]): Promise<void>;
  consume(options: ConsumeOptions): Promise<LogConsumer>;
  /**
   * Returns the end of each partition, for lag metrics, tests and tools. Rejects with `unavailable` if the log does not
   * respond or the topic does not exist.
   */
  endOffsets(topic: string): Promise<PartitionEnd[]>;
  /** Returns false if the last attempts to reach the log failed. Used for readiness checks. */
  isHealthy(): boolean;
  /** Sends queued records, and then closes the log. Stop its consumers first. */
  close(): Promise<void>;
}
