import { crc32c } from '@node-rs/crc32';
import type { Message, Partitioners } from 'kafkajs';
import Encoder from 'kafkajs/src/protocol/encoder.js';
import type { ProduceRequest } from 'kafkajs/src/protocol/requests/produce/index.js';
import produce from 'kafkajs/src/protocol/requests/produce/index.js';
import { type OutgoingRecord, varintSize } from '../../append/transport.ts';

/**
 * Reason: kafkajs 2.2.4 encodes a produce request with one growing buffer per field and record, sums it with a CRC in
 * JavaScript, collects messages in time that grows with the square of their number, and answers an error of one
 * partition by failing, and sending again, all of them. Here it is one buffer per request, the CRC in native code, and errors
 * reported per partition. Everything around it (connections, metadata, leaders) stays kafkajs's.
 * Relies on: kafkajs looking its encoder up by version in a plain exported object each time, and passing on the messages of a
 * partition as they were given.
 * Witness: produce-protocol.test.ts, and against brokers the contract suite (event-log.contract.kafka.test.ts). If kafkajs changes,
 * `useOwnProduceEncoding` throws at start, and a bundle that reached the original encoder would be refused there as an
 * invalid value: neither can write wrong bytes.
 * May go: when a client takes the records of a partition as a whole, at this cost, and says how each partition fared.
 */

/** Record batches of magic 2 came with version 3 of the request. */
const oldestVersion = 3;
let isInstalled = false;

/** Puts our encoder in place, once per process. @throws Error when kafkajs is not the one this was written for. */
export function useOwnProduceEncoding(): void {
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
      if (version < oldestVersion || !hasBundles(request)) return { request: theirs, response };
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
          // The caller looks at the error code of each partition itself.
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

/** All records of one partition as what kafkajs takes for one message: it must only carry them to our encoder. */
export function toBundle(partition: number, records: OutgoingRecord[]): Message {
  return { partition, value: records as unknown as Buffer };
}

/** Partitions were chosen before: kafkajs only reads them. */
export const chosenPartition: (typeof Partitioners)['DefaultPartitioner'] =
  () =>
  ({ message }) =>
    message.partition ?? 0;

function bundleOf(messages: Message[]): OutgoingRecord[] | null {
  const value: unknown = messages[0]?.value;
  return messages.length === 1 && Array.isArray(value) ? value : null;
}

function hasBundles({ topicData }: ProduceRequest): boolean {
  return topicData.every(({ partitions }) => partitions.every(({ messages }) => bundleOf(messages) !== null));
}

/** Produce request, versions 3 to 7: https://kafka.apache.org/protocol#The_Messages_Produce */
function encodeProduceRequest({ acks, timeout, topicData }: ProduceRequest): RequestFrame {
  const now = Date.now();
  const topics = topicData.map(({ topic, partitions }) => ({
    name: Buffer.from(topic, 'utf8'),
    partitions: partitions.map(({ partition, messages }) => ({
      partition,
      batch: measureRecordBatch(bundleOf(messages) ?? []),
    })),
  }));
  let size = 12;
  for (const { name, partitions } of topics) {
    size += 2 + name.length + 4;
    for (const { batch } of partitions) size += 8 + batch.size;
  }
  return createRequestFrame(size, (buffer) => {
    buffer.writeInt16BE(-1, 0); // no transactional id
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
 * The format of Kafka, not of kafkajs; it is here because only kafka/kafkajs-internals/produce.ts needs it, and it goes with that.
 * Witness: record-batch.test.ts has kafkajs read what is written here.
 */

/** Bytes of a record batch before its first record. */
const batchHeaderSize = 61;
/** The checksum covers everything from the attributes on. */
const checksummedFrom = 21;

/** Records of one partition, measured before they are written. */
interface MeasuredBatch {
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

/**
 * Reason: kafkajs 2.2.4 frames a request by copying its body twice, each time into fresh memory: once behind the head, once
 * behind the size of both. Of produce requests that is two bytes of garbage for every byte that is sent, and it, not what the
 * process keeps, decides how often all of the heap is collected. Here the body of a request is written once, to where it
 * is sent from: behind room for the size and the head, in memory that is used again after the answer.
 * Relies on: the encoder's `buf`, `offset` and `writeEncoder`, by which kafkajs puts the body behind the head and then both
 * behind their size.
 * Witness: produce-protocol.test.ts ("a request is written once").
 * May go: with kafka/kafkajs-internals/produce.ts.
 */
interface RequestFrame {
  /** All that kafkajs looks at before it passes a body on. */
  readonly buf: Buffer;
  /** The broker has answered: nobody reads the request any more. A request without an answer is left to the collector. */
  release(): void;
}

/** Bytes before a request that say how long it is. */
const sizeBytes = 4;
const nothing = Buffer.alloc(0);
const memory = createRequestMemory();

/** @param write writes the body into exactly `size` bytes; called once, when kafkajs has written the head. */
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

  /** @returns room for the size, the head and the body. */
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

/** The whole request of an encoder whose head and body are in place. */
const wholeOf = new WeakMap<object, Buffer>();

/** Has kafkajs frame such bodies in their place. To be called once. @throws Error when kafkajs is not the one this was written for. */
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

/** Memory that requests are written to, one after the other; only for kafka/kafkajs-internals/produce.ts, and goes with it. */
interface RequestMemory {
  /** Room for at least `size` bytes, with anything in it. */
  take(size: number): Buffer;
  release(room: Buffer): void;
}

const smallestBytes = 64 * 1024;
/** Larger ones are rare, and would be kept for nothing. */
const largestKeptBytes = 2 * 1024 * 1024;
/** As many brokers are written to at once, mostly. */
const maxKept = 4;

/** Keeps a few pieces, of sizes that fit requests of about the same size. */
export function createRequestMemory(): RequestMemory {
  const kept: Buffer[] = [];
  return {
    take(size) {
      const index = kept.findIndex((room) => room.length >= size);
      const [room] = index < 0 ? [] : kept.splice(index, 1);
      return room ?? Buffer.allocUnsafeSlow(size > largestKeptBytes ? size : roundedUp(size));
    },
    release(room) {
      if (room.length > largestKeptBytes) return;
      if (kept.length === maxKept) kept.shift();
      kept.push(room);
    },
  };
}

/** To a power of two, so that pieces are found again for the next request. */
function roundedUp(size: number): number {
  return Math.max(smallestBytes, 2 ** Math.ceil(Math.log2(size)));
}
