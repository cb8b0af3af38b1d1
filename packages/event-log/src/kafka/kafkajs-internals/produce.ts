import { crc32c } from '@node-rs/crc32';
import type { Message, Partitioners } from 'kafkajs';
import Encoder from 'kafkajs/src/protocol/encoder.js';
import type { ProduceRequest } from 'kafkajs/src/protocol/requests/produce/index.js';
import produce from 'kafkajs/src/protocol/requests/produce/index.js';
import { type OutgoingRecord, varintSize } from '../../append/transport.ts';

/**
 * Reason for this workaround: kafkajs 2.2.4 encodes a produce request with one growing buffer per field and record, and
 * computes the CRC in JavaScript. The time to collect messages grows with the square of their number, and after an
 * error of one partition all partitions fail and are sent again. This encoder uses one buffer per request, computes the
 * CRC in native code, and reports errors per partition. kafkajs still handles connections, metadata and leaders. Relies
 * on: kafkajs looking up its encoder by version in a plain exported object each time, and passing on the messages of a
 * partition unchanged. Test: produce-protocol.test.ts, and with real brokers event-log.contract.kafka.test.ts. If
 * kafkajs changes, `installProduceEncoder` throws at start. In a bundle with a second copy of kafkajs, the original
 * encoder would reject our messages as invalid. Neither can write wrong bytes. Remove this workaround when a client
 * accepts a partition's records as a unit, at this cost, and reports the outcome of each partition.
 */

/** The minimum version of produce requests that supports the record batches used here (magic 2). */
const oldestVersion = 3;
let isInstalled = false;

/** Installs our encoder in kafkajs, once per process. @throws Error if the version of kafkajs is not supported */
export function installProduceEncoder(): void {
  if (isInstalled) return;
  if (typeof produce?.protocol !== 'function' || !produce.versions?.includes('7')) {
    throw new Error('kafkajs changed its produce request. Review the encoding in produce.ts.');
  }
  frameInPlace();
  const original = produce.protocol;
  produce.protocol = ({ version }) => {
    const build = original({ version });
    return (request) => {
      const { request: theirs, response } = build(request);
      if (version < oldestVersion || !hasWrappedRecords(request)) return { request: theirs, response };
      let frame: RequestFrame | undefined;
      return {
        request: {
          ...theirs,
          encode() {
            frame = encodeProduceRequest(request);
            return frame;
          },
        },
        response: {
          decode: response.decode,
          // Returns the response without checking for errors, because the caller checks the error code of each
          // partition.
          async parse(data) {
            frame?.release();
            return data;
          },
        },
      };
    };
  };
  isInstalled = true;
}

/** Wraps all records for one partition in a single kafkajs message, which kafkajs passes unchanged to our encoder. */
export function wrapRecords(partition: number, records: OutgoingRecord[]): Message {
  return { partition, value: records as unknown as Buffer };
}

/** A kafkajs partitioner that returns the partition that the caller has already chosen. */
export const presetPartitioner: (typeof Partitioners)['DefaultPartitioner'] =
  () =>
  ({ message }) =>
    message.partition ?? 0;

function unwrapRecords(messages: Message[]): OutgoingRecord[] | null {
  const value: unknown = messages[0]?.value;
  return messages.length === 1 && Array.isArray(value) ? value : null;
}

function hasWrappedRecords({ topicData }: ProduceRequest): boolean {
  return topicData.every(({ partitions }) => partitions.every(({ messages }) => unwrapRecords(messages) !== null));
}

/** Encodes a produce request of versions 3 to 7 (https://kafka.apache.org/protocol#The_Messages_Produce). */
function encodeProduceRequest({ acks, timeout, topicData }: ProduceRequest): RequestFrame {
  const now = Date.now();
  const topics = topicData.map(({ topic, partitions }) => ({
    name: Buffer.from(topic, 'utf8'),
    partitions: partitions.map(({ partition, messages }) => ({
      partition,
      batch: measureRecordBatch(unwrapRecords(messages) ?? []),
    })),
  }));
  let size = 12;
  for (const { name, partitions } of topics) {
    size += 2 + name.length + 4;
    for (const { batch } of partitions) size += 8 + batch.size;
  }
  return createRequestFrame(size, (buffer) => {
    buffer.writeInt16BE(-1, 0); // no transactional ID
    buffer.writeInt16BE(acks, 2);
    buffer.writeInt32BE(timeout, 4);
    let at = buffer.writeInt32BE(topics.length, 8);
    for (const { name, partitions } of topics) {
      at = buffer.writeInt16BE(name.length, at);
      at += name.copy(buffer, at);
      at = buffer.writeInt32BE(partitions.length, at);
      for (const { partition, batch } of partitions) {
        at = buffer.writeInt32BE(partition, at);
        at = buffer.writeInt32BE(batch.size, at);
        writeRecordBatch(buffer.subarray(at, at + batch.size), batch, now);
        at += batch.size;
      }
    }
  });
}

/**
 * Encodes Kafka's record batches. The code does not depend on kafkajs, but is needed only while this package encodes
 * produce requests. Test: record-batch.test.ts decodes the result with kafkajs.
 */

/** The number of bytes in a record batch before its first record. */
const batchHeaderSize = 61;
/** The offset of the attributes field in a record batch. The checksum covers everything from this field to the end. */
const checksummedFrom = 21;

interface MeasuredBatch {
  records: OutgoingRecord[];
  /** The size of each record in bytes, without the record's length prefix. */
  bodies: number[];
  size: number;
}

export function measureRecordBatch(records: OutgoingRecord[]): MeasuredBatch {
  const bodies = records.map(bodySize);
  return { records, bodies, size: bodies.reduce((sum, body) => sum + varintSize(body) + body, batchHeaderSize) };
}

/**
 * Writes one Kafka record batch (magic 2, neither compressed nor idempotent), in which all records have the timestamp
 * `timestampMs`. The format is described in https://kafka.apache.org/documentation/#recordbatch.
 * @param buffer a buffer of exactly the batch's size
 */
export function writeRecordBatch(buffer: Buffer, { records, bodies, size }: MeasuredBatch, timestampMs: number): void {
  buffer.writeBigInt64BE(0n, 0); // base offset, assigned by the broker
  buffer.writeInt32BE(size - 12, 8); // length of the batch after this field
  buffer.writeInt32BE(-1, 12); // partition leader epoch, set by the broker
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

/** Writes a zigzag varint: seven bits per byte, low bits first. */
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

/**
 * Reason for this workaround: kafkajs 2.2.4 frames a request by copying its body twice into new memory, first to add
 * the header and then to add the size. For produce requests, each byte sent therefore leaves two bytes of garbage,
 * which is the main cause of full garbage collections. In this code, a request's body is written once, into the buffer
 * that is sent. The buffer has room for the size and the header, and is reused after the response. Relies on: the
 * encoder's `buf`, `offset` and `writeEncoder`, which kafkajs uses to append the body to the header, and both to their
 * size. Test: produce-protocol.test.ts ("a request is written once"). Remove this workaround together with the produce
 * encoding in this file.
 */
interface RequestFrame {
  /** kafkajs reads only this field before it passes on a body. */
  readonly buf: Buffer;
  /**
   * Returns the buffer to the pool after the broker has responded. If the broker never responds, the garbage collector
   * frees the memory.
   */
  release(): void;
}

/** The size of the length field at the start of a request, in bytes. */
const sizeBytes = 4;
const nothing = Buffer.alloc(0);
const memory = createRequestMemory();

/**
 * Creates the frame of a request.
 * @param write a function that writes the body into exactly `size` bytes. Called once, after kafkajs has written the
 * header.
 */
function createRequestFrame(size: number, write: (body: Buffer) => void): RequestFrame {
  return new Frame(size, write);
}

class Frame implements RequestFrame {
  readonly buf = nothing;
  #room: Buffer | undefined;
  readonly #size: number;
  readonly #write: (body: Buffer) => void;

  constructor(size: number, write: (body: Buffer) => void) {
    this.#size = size;
    this.#write = write;
  }

  /**
   * Writes the size and the header before the body.
   * @returns a buffer with room for the size, then the header and the body
   */
  put(head: Buffer): Buffer {
    const bodyAt = sizeBytes + head.length;
    const size = bodyAt + this.#size;
    this.#room = memory.take(size);
    const whole = this.#room.subarray(0, size);
    head.copy(whole, sizeBytes);
    this.#write(whole.subarray(bodyAt));
    return whole;
  }

  release(): void {
    if (this.#room !== undefined) memory.release(this.#room);
    this.#room = undefined;
  }
}

/** Maps each encoder that has a complete header and body to its request buffer. */
const wholeOf = new WeakMap<object, Buffer>();

/**
 * Makes kafkajs frame these request bodies without copying them. Call it only once.
 * @throws Error if the version of kafkajs is not supported
 */
function frameInPlace(): void {
  const { prototype } = Encoder;
  const writeEncoder = prototype?.writeEncoder;
  if (typeof writeEncoder !== 'function') {
    throw new Error('kafkajs changed its encoder. Review the request framing in produce.ts.');
  }
  prototype.writeEncoder = function writeInPlace(this: Encoder, value: object) {
    if (value instanceof Frame) {
      const whole = value.put(this.buf.subarray(0, this.offset));
      wholeOf.set(this, whole);
      take(this, whole.subarray(sizeBytes));
      return this;
    }
    const whole = wholeOf.get(value);
    if (whole === undefined || this.offset !== sizeBytes) return writeEncoder.call(this, value);
    this.buf.copy(whole, 0, 0, sizeBytes);
    take(this, whole);
    return this;
  };
}

function take(encoder: Encoder, written: Buffer): void {
  encoder.buf = written;
  encoder.offset = written.length;
}

interface RequestMemory {
  /** Returns a buffer of at least `size` bytes with arbitrary content. */
  take(size: number): Buffer;
  release(room: Buffer): void;
}

const smallestBytes = 64 * 1024;
/** The maximum size in bytes of unused buffers that are kept. Larger buffers are rarely needed. */
const largestKeptBytes = 2 * 1024 * 1024;
/** The maximum number of unused buffers, which is enough for concurrent requests to the usual number of brokers. */
const maxKept = 4;

/** Creates a pool that keeps a few unused buffers for requests of similar sizes. */
export function createRequestMemory(): RequestMemory {
  const freeBuffers: Buffer[] = [];
  return {
    take(size) {
      const index = freeBuffers.findIndex((room) => room.length >= size);
      const [room] = index < 0 ? [] : freeBuffers.splice(index, 1);
      return room ?? Buffer.allocUnsafeSlow(size > largestKeptBytes ? size : roundedUp(size));
    },
    release(room) {
      if (room.length > largestKeptBytes) return;
      if (freeBuffers.length === maxKept) freeBuffers.shift();
      freeBuffers.push(room);
    },
  };
}

/** Rounds a size up to a power of two, so that requests of different sizes can reuse a buffer. */
function roundedUp(size: number): number {
  return Math.max(smallestBytes, 2 ** Math.ceil(Math.log2(size)));
}
