import Encoder from 'kafkajs/src/protocol/encoder.js';
import { createRequestMemory } from './request-memory.ts';

/**
 * Reason: kafkajs 2.2.4 frames a request by copying its body twice, each time into fresh memory: once behind the head, once
 * behind the size of both. Of produce requests that is two bytes of garbage for every byte that is sent, and it, not what the
 * process keeps, decides how often all of the heap is collected. Here the body of a request is written once, to where it
 * is sent from: behind room for the size and the head, in memory that is used again after the answer.
 * Relies on: the encoder's `buf`, `offset` and `writeEncoder`, by which kafkajs puts the body behind the head and then both
 * behind their size.
 * Witness: produce-protocol.test.ts ("a request is written once").
 * May go: with produce-protocol.ts.
 */
export interface RequestFrame {
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
export function createRequestFrame(size: number, write: (body: Buffer) => void): RequestFrame {
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

/** Of an encoder whose head and body are in their place: all of its request. */
const wholeOf = new WeakMap<object, Buffer>();

/** Has kafkajs frame such bodies in their place. To be called once. @throws Error when kafkajs is not the one this was written for. */
export function frameInPlace(): void {
  const { prototype } = Encoder;
  const writeEncoder = prototype?.writeEncoder;
  if (typeof writeEncoder !== 'function') {
    throw new Error('kafkajs has changed its encoder; our framing of requests needs to be looked at.');
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
