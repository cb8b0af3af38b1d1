import Encoder from 'kafkajs/src/protocol/encoder.js';

/**
 * kafkajs 2.2.4 frames a request by copying it twice, each time into fresh memory of the next power of two that is
 * filled with zeros first. This gives its encoder exactly the room that something large needs, unfilled: it reads only
 * what it has written. Small things go on as before.
 */

const largeBytes = 4096;
let isCorrected = false;

/** @throws Error when kafkajs is not the one this was written for. */
export function makeRoomExactly(): void {
  if (isCorrected) return;
  const { prototype } = Encoder;
  const ensureAvailable = prototype?.ensureAvailable;
  if (typeof ensureAvailable !== 'function') {
    throw new Error('kafkajs has changed its encoder; the room it takes needs to be looked at.');
  }
  prototype.ensureAvailable = function ensureExactly(this: Encoder, length: number) {
    if (length < largeBytes || this.offset + length <= this.buf.length) {
      ensureAvailable.call(this, length);
      return;
    }
    const larger = Buffer.allocUnsafe(this.offset + length);
    this.buf.copy(larger, 0, 0, this.offset);
    this.buf = larger;
  };
  isCorrected = true;
}
