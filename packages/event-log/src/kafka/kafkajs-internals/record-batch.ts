import { crc32c } from '@node-rs/crc32';
import type { OutgoingRecord } from '../../append/append-transport.ts';
import { varintSize } from '../../append/record-size.ts';

/**
 * The format of Kafka, not of kafkajs; it is here because only produce-protocol.ts needs it, and it goes with that.
 * Witness: record-batch.test.ts has kafkajs read what is written here.
 */

/** Bytes of a record batch before its first record. */
const batchHeaderSize = 61;
/** The checksum covers everything from the attributes on. */
const checksummedFrom = 21;

/** Records of one partition, measured before they are written. */
export interface MeasuredBatch {
  records: OutgoingRecord[];
  /** Bytes of each record after its length. */
  bodies: number[];
  /** Bytes of the whole batch. */
  size: number;
}

export function measureRecordBatch(records: OutgoingRecord[]): MeasuredBatch {
  const bodies = records.map(bodySize);
  return { records, bodies, size: bodies.reduce((sum, body) => sum + varintSize(body) + body, batchHeaderSize) };
}

/**
 * Writes one Kafka record batch (magic 2, no compression, not idempotent). All records carry `timestampMs`.
 * Format: https://kafka.apache.org/documentation/#recordbatch
 *
 * @param buffer exactly the room of the batch.
 */
export function writeRecordBatch(buffer: Buffer, { records, bodies, size }: MeasuredBatch, timestampMs: number): void {
  buffer.writeBigInt64BE(0n, 0); // base offset: the broker assigns it
  buffer.writeInt32BE(size - 12, 8); // length of what follows this field
  buffer.writeInt32BE(-1, 12); // partition leader epoch: the broker's business
  buffer.writeInt8(2, 16); // magic
  buffer.writeInt16BE(0, 21); // attributes: no compression, create time
  buffer.writeInt32BE(records.length - 1, 23); // last offset delta
  buffer.writeBigInt64BE(BigInt(timestampMs), 27); // first timestamp
  buffer.writeBigInt64BE(BigInt(timestampMs), 35); // max timestamp
  buffer.writeBigInt64BE(-1n, 43); // producer id
  buffer.writeInt16BE(-1, 51); // producer epoch
  buffer.writeInt32BE(-1, 53); // base sequence
  buffer.writeInt32BE(records.length, 57);
  let at = batchHeaderSize;
  records.forEach((record, index) => {
    at = writeVarint(buffer, at, bodies[index] ?? 0);
    at = writeRecord(buffer, at, record, index);
  });
  buffer.writeUInt32BE(crc32c(buffer.subarray(checksummedFrom)), 17);
}

function bodySize(record: OutgoingRecord, offsetDelta: number): number {
  let size = 2 + varintSize(offsetDelta) + bytesSize(record.keyBytes) + bytesSize(record.value);
  const headers = record.headers;
  if (headers === undefined) return size + 1;
  const names = Object.keys(headers);
  size += varintSize(names.length);
  for (const name of names) size += textSize(name) + textSize(headers[name] ?? '');
  return size;
}

function bytesSize(bytes: Buffer | null): number {
  return bytes === null ? 1 : varintSize(bytes.length) + bytes.length;
}

function textSize(text: string): number {
  const length = Buffer.byteLength(text);
  return varintSize(length) + length;
}

function writeRecord(buffer: Buffer, start: number, record: OutgoingRecord, offsetDelta: number): number {
  let at = start;
  buffer[at++] = 0; // attributes: none defined
  buffer[at++] = 0; // timestamp delta
  at = writeVarint(buffer, at, offsetDelta);
  at = writeBytes(buffer, at, record.keyBytes);
  at = writeBytes(buffer, at, record.value);
  const headers = record.headers ?? {};
  const names = Object.keys(headers);
  at = writeVarint(buffer, at, names.length);
  for (const name of names) {
    at = writeText(buffer, at, name);
    at = writeText(buffer, at, headers[name] ?? '');
  }
  return at;
}

function writeBytes(buffer: Buffer, start: number, bytes: Buffer | null): number {
  if (bytes === null) return writeVarint(buffer, start, -1);
  const at = writeVarint(buffer, start, bytes.length);
  return at + bytes.copy(buffer, at);
}

function writeText(buffer: Buffer, start: number, text: string): number {
  const at = writeVarint(buffer, start, Buffer.byteLength(text));
  return at + buffer.write(text, at, 'utf8');
}

/** Zigzag, seven bits a byte, low bits first. */
function writeVarint(buffer: Buffer, start: number, value: number): number {
  let rest = ((value << 1) ^ (value >> 31)) >>> 0;
  let at = start;
  while (rest > 0x7f) {
    buffer[at++] = (rest & 0x7f) | 0x80;
    rest >>>= 7;
  }
  buffer[at++] = rest;
  return at;
}
