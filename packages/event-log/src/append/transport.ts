import type { AppendRecord } from '../log.ts';

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

/** Settings that both adapters share. Bytes are those of keys, values and headers with a little for framing. */
export interface AppendSettings {
  /** How long a record may wait for company before it is sent. */
  lingerMs: number;
  /** Bytes of one partition in one request at most; also sends before the linger is over. */
  maxBatchBytes: number;
  /** Bytes of one request at most. */
  maxRequestBytes: number;
  /** Bytes accepted and not yet settled, over all calls. Beyond it `append` rejects at once. */
  maxInFlightBytes: number;
  /** After this a call is rejected, whatever has become of its records. More than 2500 breaks the port's promise of 3 s. */
  appendTimeoutMs: number;
  /** Bytes of one record at most. A topic of Kafka may take less, which its broker reports. */
  maxRecordBytes: number;
}

/** Bytes that Kafka's record batch adds around a single record. */
const batchHeadBytes = 61;

/** `max.message.bytes` of new Kafka topics: an AI event of 8 MiB fits in, also with its person or as a dead letter. */
export const maxMessageBytes = 10 * 1024 * 1024;

/** The largest record that fits into a topic with a broker's default `message.max.bytes` (1,048,588). */
export const defaultBrokerRecordBytes = 1_048_588 - batchHeadBytes;

export const defaultAppendSettings: AppendSettings = {
  lingerMs: 5,
  maxBatchBytes: 900_000,
  maxRequestBytes: 8 * 1024 * 1024,
  maxInFlightBytes: 64 * 1024 * 1024,
  appendTimeoutMs: 2500,
  maxRecordBytes: maxMessageBytes - batchHeadBytes,
};

/** The settings among an adapter's options, completed by the defaults. */
export function toAppendSettings(options: Partial<AppendSettings>): AppendSettings {
  const settings = { ...defaultAppendSettings };
  for (const name of Object.keys(defaultAppendSettings) as (keyof AppendSettings)[]) {
    settings[name] = options[name] ?? defaultAppendSettings[name];
  }
  return settings;
}

/** How long one attempt may take: less than a call, so that its records get a second attempt on a new connection. */
export function sendTimeoutOf({ appendTimeoutMs }: AppendSettings): number {
  return Math.max(200, appendTimeoutMs - 400);
}

/** The length of the variable-length integer that Kafka writes for a non-negative number. */
export function varintSize(value: number): number {
  if (value < 64) return 1;
  if (value < 8192) return 2;
  if (value < 1_048_576) return 3;
  if (value < 134_217_728) return 4;
  return 5;
}

/**
 * Bytes a record takes in the log at most: its encoded form in a Kafka record batch (magic 2) with the largest offset
 * and timestamp deltas our batches can have. The embedded log uses the same measure, so that both refuse alike.
 */
export function recordSize(record: OutgoingRecord): number {
  const keyLength = record.keyBytes?.length ?? 0;
  // Attributes 1, timestamp delta 1 (all records of a batch carry one time), offset delta 3.
  let body = 5 + varintSize(keyLength) + keyLength + varintSize(record.value.length) + record.value.length;
  if (record.headers === undefined) {
    body += 1;
  } else {
    const names = Object.keys(record.headers);
    body += varintSize(names.length);
    for (const name of names) {
      const nameLength = Buffer.byteLength(name);
      const valueLength = Buffer.byteLength(record.headers[name] ?? '');
      body += varintSize(nameLength) + nameLength + varintSize(valueLength) + valueLength;
    }
  }
  return varintSize(body) + body;
}
