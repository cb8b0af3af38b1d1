/**
 * The binary format of COPY (PostgreSQL, COPY, "Binary Format"). PostgreSQL reads a row of it at two thirds of the cost
 * of the text format: it searches for no line ends and escapes, and times and UUIDs are sent as they are stored. The
 * types of the fields must be exactly those of the columns.
 */

/** One row, field by field in the order of the statement's columns. */
export interface CopyRow {
  null(): void;
  boolean(value: boolean): void;
  smallint(value: number): void;
  integer(value: number): void;
  /** Without NUL. */
  text(value: string): void;
  /** JSON text for a column of type `jsonb`. */
  jsonb(json: string): void;
  /** JSON text in two parts: bytes of UTF-8, from `start` to `end`, and what follows them. */
  jsonbBytes(bytes: Buffer, start: number, end: number, rest: string): void;
  /** With hyphens. */
  uuid(value: string): void;
  /** `timestamptz` of a moment in milliseconds since 1970, whole ones. */
  time(ms: number): void;
}

/** Most COPYs are small. */
const firstChunkBytes = 8 * 1024;
/** Larger buffers come new from the operating system each time, which costs more than filling them. */
const chunkBytes = 64 * 1024;
/** The bytes of a longer text are counted; a shorter one is given the most room it can need. */
const maxUncounted = 8 * 1024;
const largestFixed = 16;
const lengthBytes = 4;
const jsonbVersion = 1;

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

const signature = Buffer.from('PGCOPY\n\xff\r\n\0', 'latin1');
const header = Buffer.concat([signature, Buffer.alloc(8)]);

/**
 * Everything that COPY … FROM STDIN (FORMAT binary) sends for these items, in chunks that are made when they are asked
 * for.
 *
 * @param columns of the statement.
 * @param write writes as many fields of each item.
 */
export function* copyRows<Item>(
  columns: number,
  items: Iterable<Item>,
  write: (row: CopyRow, item: Item) => void,
): Generator<Buffer> {
  const writer = createWriter();
  writer.bytes(header);
  for (const item of items) {
    writer.count(columns);
    write(writer.row, item);
    yield* writer.takeFull();
  }
  writer.count(-1);
  yield* writer.takeFull();
  yield writer.takeRest();
}

function createWriter() {
  let buffer: Buffer = Buffer.allocUnsafeSlow(firstChunkBytes);
  let at = 0;
  let full: Buffer[] = [];

  function makeRoom(bytes: number): void {
    if (buffer.length - at >= bytes) return;
    full.push(buffer.subarray(0, at));
    buffer = bytes <= chunkBytes ? takeChunk() : Buffer.allocUnsafeSlow(bytes);
    at = 0;
  }

  /** Writes a text with its length, and `prefix` before it when that is not null. */
  function text(value: string, prefix: number | null): void {
    const room = value.length > maxUncounted ? Buffer.byteLength(value) : value.length * 3;
    makeRoom(lengthBytes + 1 + room);
    const start = at + lengthBytes;
    let end = start;
    if (prefix !== null) {
      buffer[end] = prefix;
      end += 1;
    }
    end += buffer.write(value, end);
    buffer.writeInt32BE(end - start, at);
    at = end;
  }

  function fixed(bytes: number): void {
    makeRoom(lengthBytes + largestFixed);
    at = buffer.writeInt32BE(bytes, at);
  }

  const row: CopyRow = {
    null() {
      fixed(-1);
    },
    boolean(value) {
      fixed(1);
      buffer[at] = value ? 1 : 0;
      at += 1;
    },
    smallint(value) {
      fixed(2);
      at = buffer.writeInt16BE(value, at);
    },
    integer(value) {
      fixed(4);
      at = buffer.writeInt32BE(value, at);
    },
    text: (value) => text(value, null),
    jsonb: (json) => text(json, jsonbVersion),
    jsonbBytes(bytes, start, end, rest) {
      makeRoom(lengthBytes + 1 + end - start + rest.length * 3);
      const lengthAt = at;
      at += lengthBytes;
      buffer[at] = jsonbVersion;
      at += 1;
      at += bytes.copy(buffer, at, start, end);
      at += buffer.write(rest, at);
      buffer.writeInt32BE(at - lengthAt - lengthBytes, lengthAt);
    },
    uuid(value) {
      fixed(16);
      at = writeUuid(value, buffer, at);
    },
    time(ms) {
      fixed(8);
      at = writeTime(ms, buffer, at);
    },
  };

  return {
    row,
    bytes(bytes: Buffer) {
      makeRoom(bytes.length);
      at += bytes.copy(buffer, at);
    },
    count(columns: number) {
      makeRoom(2);
      at = buffer.writeInt16BE(columns, at);
    },
    takeFull(): Buffer[] {
      if (full.length === 0) return full;
      const taken = full;
      full = [];
      return taken;
    },
    takeRest: () => buffer.subarray(0, at),
  };
}

const hyphen = 45;

/** The value of each hexadecimal digit by its character code. */
const digits = new Uint8Array(128);
for (const [value, digit] of [...'0123456789abcdef'].entries()) {
  digits[digit.charCodeAt(0)] = value;
  digits[digit.toUpperCase().charCodeAt(0)] = value;
}

function writeUuid(uuid: string, buffer: Buffer, start: number): number {
  let at = start;
  for (let index = 0; index < 36; index += 2) {
    if (uuid.charCodeAt(index) === hyphen) index += 1;
    buffer[at] = ((digits[uuid.charCodeAt(index)] ?? 0) << 4) | (digits[uuid.charCodeAt(index + 1)] ?? 0);
    at += 1;
  }
  return at;
}

const year2000Ms = Date.UTC(2000, 0, 1);
const twoTo32 = 2 ** 32;

/** Microseconds since 2000 in 64 bits, by halves: their number is beyond what a double holds. */
function writeTime(ms: number, buffer: Buffer, at: number): number {
  const since2000 = ms - year2000Ms;
  const high = Math.floor(since2000 / twoTo32);
  const lowMicros = (since2000 - high * twoTo32) * 1000;
  const carry = Math.floor(lowMicros / twoTo32);
  buffer.writeInt32BE(high * 1000 + carry, at);
  return buffer.writeUInt32BE(lowMicros - carry * twoTo32, at + 4);
}
