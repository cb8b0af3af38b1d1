// The interface between the sender and a log's server, and the settings of appending.

import type { AppendRecord } from '../log.ts';

/** A record to be sent. Its key is encoded once, for both partitioning and the wire format. */
export interface OutgoingRecord extends AppendRecord {
  keyBytes: Buffer | null;
}

/** Records for one partition, in log order. */
export interface PartitionBatch {
  topic: string;
  partition: number;
  records: OutgoingRecord[];
}

/**
 * Why a batch was not written. `too_large` is permanent. After `not_now`, the batch is retried until its records
 * expire.
 */
export interface BatchRefusal {
  reason: 'too_large' | 'not_now';
  error: Error;
}

/**
 * How an adapter writes batches. The sender is responsible for order, batching, retries, time limits and the byte
 * budget.
 */
export interface AppendTransport {
  /**
   * Returns the leader of each partition of a topic, indexed by partition. For Kafka, this is the node ID. Partitions
   * with the same leader share a request, and a slow leader does not delay others. Throws when the leaders cannot be
   * looked up.
   */
  leadersOf(topic: string): Promise<number[]>;
  /**
   * Writes all batches durably. Returns one result per batch in the same order, null for success. Throws when the
   * outcome of all batches is unknown. Must settle within the time limit it was created with.
   */
  send(batches: PartitionBatch[]): Promise<(BatchRefusal | null)[]>;
}

/** Settings shared by both adapters. Sizes include keys, values, headers and a small framing overhead. */
export interface AppendSettings {
  /** How long a record may wait for further records before it is sent. */
  lingerMs: number;
  /**
   * Maximum size of one partition's records in a request. When reached, the batch is sent before the linger time is
   * over.
   */
  maxBatchBytes: number;
  /** Maximum size of a request. */
  maxRequestBytes: number;
  /** Maximum size of all records that were accepted and are not settled. Beyond this, `append` rejects immediately. */
  maxInFlightBytes: number;
  /**
   * A call is rejected after this time, whatever the state of its records. `EventLog` promises 3 s, which allows at
   * most 2500.
   */
  appendTimeoutMs: number;
  /** Maximum size of a record. A Kafka topic may have a lower limit, which its broker reports. */
  maxRecordBytes: number;
}

/** Bytes that a Kafka record batch adds to a single record. */
const batchHeadBytes = 61;

/** `max.message.bytes` of new Kafka topics. Fits an AI event of 8 MiB including its person, and as a dead letter. */
export const maxMessageBytes = 10 * 1024 * 1024;

/** The largest record that fits into a topic with the broker's default `message.max.bytes` of 1,048,588. */
export const defaultBrokerRecordBytes = 1_048_588 - batchHeadBytes;

export const defaultAppendSettings: AppendSettings = {
  lingerMs: 5,
  maxBatchBytes: 900_000,
  maxRequestBytes: 8 * 1024 * 1024,
  maxInFlightBytes: 64 * 1024 * 1024,
  appendTimeoutMs: 2500,
  maxRecordBytes: maxMessageBytes - batchHeadBytes,
};

/** Picks the append settings from an adapter's options and adds defaults. */
export function toAppendSettings(options: Partial<AppendSettings>): AppendSettings {
  const settings = { ...defaultAppendSettings };
  for (const name of Object.keys(defaultAppendSettings) as (keyof AppendSettings)[]) {
    settings[name] = options[name] ?? defaultAppendSettings[name];
  }
  return settings;
}

/**
 * Time limit of one attempt: shorter than that of a call, which leaves time for a second attempt on a new connection.
 */
export function sendTimeoutOf({ appendTimeoutMs }: AppendSettings): number {
  return Math.max(200, appendTimeoutMs - 400);
}

/** The length of Kafka's variable-length encoding of a non-negative integer, in bytes. */
export function varintSize(value: number): number {
  if (value < 64) return 1;
  if (value < 8192) return 2;
  if (value < 1_048_576) return 3;
  if (value < 134_217_728) return 4;
  return 5;
}

/**
 * Returns the maximum size of a record in the log, in bytes: its encoded size in a Kafka record batch (magic 2) with
 * the largest offset and timestamp deltas of our batches. The PostgreSQL log uses the same measure, so that both
 * adapters have the same limit.
 */
export function recordSize(record: OutgoingRecord): number {
  const keyLength = record.keyBytes?.length ?? 0;
  // 1 byte of attributes, 1 of timestamp delta (all records of a batch have the same timestamp), and 3 of offset delta.
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
