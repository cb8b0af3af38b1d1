import {
  type CopyBuffer,
  createCopyBuffer,
  lengthBytes,
  makeRoom,
  startFixed,
  takeFull,
  takeRest,
  writeBytes,
  writeCount,
  writeText,
} from './copy-buffer.ts';

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

const jsonbVersion = 1;
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
  const into = createCopyBuffer();
  const row = createRow(into);
  writeBytes(into, header);
  for (const item of items) {
    writeCount(into, columns);
    write(row, item);
    yield* takeFull(into);
  }
  writeCount(into, -1);
  yield* takeFull(into);
  yield takeRest(into);
}

function createRow(into: CopyBuffer): CopyRow {
  return {
    null() {
      startFixed(into, -1);
    },
    boolean(value) {
      startFixed(into, 1);
      into.buffer[into.at] = value ? 1 : 0;
      into.at += 1;
    },
    smallint(value) {
      startFixed(into, 2);
      into.at = into.buffer.writeInt16BE(value, into.at);
    },
    integer(value) {
      startFixed(into, 4);
      into.at = into.buffer.writeInt32BE(value, into.at);
    },
    text: (value) => writeText(into, value, null),
    jsonb: (json) => writeText(into, json, jsonbVersion),
    jsonbBytes(bytes, start, end, rest) {
      makeRoom(into, lengthBytes + 1 + end - start + rest.length * 3);
      const { buffer, at: lengthAt } = into;
      let at = lengthAt + lengthBytes;
      buffer[at] = jsonbVersion;
      at += 1;
      at += bytes.copy(buffer, at, start, end);
      at += buffer.write(rest, at);
      buffer.writeInt32BE(at - lengthAt - lengthBytes, lengthAt);
      into.at = at;
    },
    uuid(value) {
      startFixed(into, 16);
      into.at = writeUuid(value, into.buffer, into.at);
    },
    time(ms) {
      startFixed(into, 8);
      into.at = writeTime(ms, into.buffer, into.at);
    },
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
