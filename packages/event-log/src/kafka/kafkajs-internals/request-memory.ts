/** Memory that requests are written to, one after the other; only for request-frame.ts, and goes with it. */
export interface RequestMemory {
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
