/** Most COPYs are small. */
const firstChunkBytes = 8 * 1024;
/** Larger buffers come new from the operating system each time, which costs more than filling them. */
const chunkBytes = 64 * 1024;
/** The bytes of a longer text are counted; a shorter one is given the most room it can need. */
const maxUncounted = 8 * 1024;
const largestFixed = 16;
export const lengthBytes = 4;

/** Chunks that are not needed any more, to be written again. */
const spareChunks: ArrayBufferLike[] = [];
const maxSpareChunks = 64;

function takeChunk(): Buffer {
  const spare = spareChunks.pop();
  return spare === undefined ? Buffer.allocUnsafeSlow(chunkBytes) : Buffer.from(spare);
}

/**
 * Takes back chunks of `copyRows` when the server has answered; nobody may read them any more. Memory outside the heap
 * that lives as long as a batch makes the garbage collector search the whole heap about twice as often.
 */
export function releaseChunks(chunks: readonly Buffer[]): void {
  for (const { buffer } of chunks) {
    if (buffer.byteLength === chunkBytes && spareChunks.length < maxSpareChunks) spareChunks.push(buffer);
  }
}

/** What is written, chunk by chunk. An object that functions are given: they run for every field of every row. */
export interface CopyBuffer {
  buffer: Buffer;
  /** Where the next byte of it goes. */
  at: number;
  full: Buffer[];
}

export function createCopyBuffer(): CopyBuffer {
  return { buffer: Buffer.allocUnsafeSlow(firstChunkBytes), at: 0, full: [] };
}

export function makeRoom(into: CopyBuffer, bytes: number): void {
  if (into.buffer.length - into.at >= bytes) return;
  into.full.push(into.buffer.subarray(0, into.at));
  into.buffer = bytes <= chunkBytes ? takeChunk() : Buffer.allocUnsafeSlow(bytes);
  into.at = 0;
}

/** Writes a text with its length, and `prefix` before it when that is not null. */
export function writeText(into: CopyBuffer, value: string, prefix: number | null): void {
  const room = value.length > maxUncounted ? Buffer.byteLength(value) : value.length * 3;
  makeRoom(into, lengthBytes + 1 + room);
  const { buffer, at } = into;
  const start = at + lengthBytes;
  let end = start;
  if (prefix !== null) {
    buffer[end] = prefix;
    end += 1;
  }
  end += buffer.write(value, end);
  buffer.writeInt32BE(end - start, at);
  into.at = end;
}

/** Writes the length of a field of fixed size, for which there is room then. */
export function startFixed(into: CopyBuffer, bytes: number): void {
  makeRoom(into, lengthBytes + largestFixed);
  into.at = into.buffer.writeInt32BE(bytes, into.at);
}

export function writeBytes(into: CopyBuffer, bytes: Buffer): void {
  makeRoom(into, bytes.length);
  into.at += bytes.copy(into.buffer, into.at);
}

/** The number of columns of a row. */
export function writeCount(into: CopyBuffer, columns: number): void {
  makeRoom(into, 2);
  into.at = into.buffer.writeInt16BE(columns, into.at);
}

/** The chunks that are full since it was last asked. */
export function takeFull(into: CopyBuffer): Buffer[] {
  const taken = into.full;
  if (taken.length > 0) into.full = [];
  return taken;
}

export function takeRest({ buffer, at }: CopyBuffer): Buffer {
  return buffer.subarray(0, at);
}
