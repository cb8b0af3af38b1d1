// Defines the interface between the sender and the log server, and the append settings.

import type { AppendRecord } from '../log.ts';

/** A record to send. Its key is encoded once, and the bytes are used for partitioning and for the request. */
export interface OutgoingRecord extends AppendRecord {
  keyBytes: Buffer | null;
}

export interface PartitionBatch {
  topic: string;
  partition: number;
  records: OutgoingRecord[];
}

/**
 * The reason why a batch was not written. `too_large` is permanent. After `not_now`, the batch is retried until its
 * records expire.
 */
export interface BatchRefusal {
  reason: 'too_large' | 'not_now';
  error: Error;
}

/**
 * Writes batches to one kind of server. The sender is responsible for order, batching, retries, time limits and the
 * byte budget.
 */
export interface AppendTransport {
  /**
   * Returns the leader of each partition of a topic, indexed by partition. For Kafka, a leader is a node ID. Partitions
   * with the same leader share a request, and a slow leader does not delay others. Throws when the leaders cannot be
   * looked up.
   */
  leadersOf(topic: string): Promise<number[]>;
  /**
   * Writes all batches durably. Returns one result per batch in the same order, which is null for success. Throws if
   * the outcome is unknown for all batches. Must settle within its time limit.
   */
  send(batches: PartitionBatch[]): Promise<(BatchRefusal | null)[]>;
}

/** The append settings of both adapters. Sizes are in bytes, and include keys, values, headers and a small overhead. */
export interface AppendSettings {
  /** A record can wait this many milliseconds for further records before it is sent. */
  lingerMs: number;
  /** The maximum size of one partition's records in a request. A batch of this size is sent without lingering. */
  maxBatchBytes: number;
  maxRequestBytes: number;
  /** The maximum total size of accepted records that are not settled. Above this size, `append` rejects immediately. */
  maxInFlightBytes: number;
  /**
   * A call is rejected after this many milliseconds, regardless of the state of its records. `EventLog` promises 3 s,
   * so this can be at most 2500.
   */
  appendTimeoutMs: number;
  /** The maximum record size in bytes. A Kafka topic can have a lower limit, which its broker reports. */
  maxRecordBytes: number;
}

/** The number of bytes that a Kafka record batch adds to a single record. */
const batchHeadBytes = 61;

/**
 * `max.message.bytes` of new Kafka topics. An AI event of 8 MiB fits into it together with its person, and also as a
 * dead letter.
 */
export const maxMessageBytes = 10 * 1024 * 1024;

/** The maximum record size in a topic with the broker's default `message.max.bytes` of 1,048,588. */
export const defaultBrokerRecordBytes = 1_048_588 - batchHeadBytes;

export const defaultAppendSettings: AppendSettings = {
  lingerMs: 5,
  maxBatchBytes: 900_000,
  maxRequestBytes: 8 * 1024 * 1024,
  maxInFlightBytes: 64 * 1024 * 1024,
  appendTimeoutMs: 2500,
  maxRecordBytes: maxMessageBytes - batchHeadBytes,
};

export function toAppendSettings(options: Partial<AppendSettings>): AppendSettings {
  const settings = { ...defaultAppendSettings };
  for (const name of Object.keys(defaultAppendSettings) as (keyof AppendSettings)[]) {
    settings[name] = options[name] ?? defaultAppendSettings[name];
  }
  return settings;
}

/**
 * Returns the time limit of one attempt. It is shorter than the time limit of a call, which leaves time for a second
 * attempt on a new connection.
 */
export function computeSendTimeout({ appendTimeoutMs }: AppendSettings): number {
  return Math.max(200, appendTimeoutMs - 400);
}

/** Returns the length of Kafka's variable-length encoding of a non-negative integer, in bytes. */
export function varintSize(value: number): number {
  if (value < 64) return 1;
  if (value < 8192) return 2;
  if (value < 1_048_576) return 3;
  if (value < 134_217_728) return 4;
  return 5;
}

/**
 * Returns a record's encoded size in bytes in a Kafka record batch (magic 2), with the largest offset and timestamp
 * deltas that occur in our batches. The PostgreSQL log uses the same size, so that both adapters have the same limit.
 */
export function recordSize(record: OutgoingRecord): number {
  const keyLength = record.keyBytes?.length ?? 0;
  // The attributes take 1 byte, the timestamp delta takes 1 (all records of a batch have the same timestamp), and the
  // offset delta takes 3.
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
