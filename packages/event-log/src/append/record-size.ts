import type { OutgoingRecord } from './append-transport.ts';

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
