import type { AppendRecord } from '../port/event-log.ts';

/** A record on its way: the key's bytes are computed once, they serve partitioning and encoding. */
export interface OutgoingRecord extends AppendRecord {
  keyBytes: Buffer | null;
}

/** Records for one partition, in the order they must have in the log. */
export interface PartitionBatch {
  topic: string;
  partition: number;
  records: OutgoingRecord[];
}

/** The log did not take a batch. `too_large` is final, everything else is tried again until the records expire. */
export interface BatchRefusal {
  reason: 'too_large' | 'not_now';
  error: Error;
}

/** How an adapter writes. The pipeline owns order, batching, retries, time limits and the byte budget. */
export interface AppendTransport {
  /**
   * The leader of each partition of a topic, indexed by partition (Kafka: its node id). Partitions of one leader travel in
   * one request, and a slow leader does not hold up another. Throws when the topic cannot be looked up now.
   */
  leadersOf(topic: string): Promise<number[]>;
  /**
   * Writes all batches durably; one answer per batch, in their order: null when it is in the log. Throws when nothing
   * is known about any of them. Must settle within the time limit it was built with.
   */
  send(batches: PartitionBatch[]): Promise<(BatchRefusal | null)[]>;
}
