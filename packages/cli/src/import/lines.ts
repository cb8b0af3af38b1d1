// Splits an import file into lines, and checks that each line is a valid event.

import { isUtf8 } from 'node:buffer';
import { createHash } from 'node:crypto';
import { isObject } from '@millrace/contracts';

export interface Line {
  number: number;
  /**
   * The bytes of the line, or null if the line is longer than `maxLineBytes`. Only the beginning of an overlong line is
   * kept in memory.
   */
  bytes: Buffer | null;
  /**
   * The bytes of which to compute the hash: the line as it is in the file, or the beginning and the length of an
   * overlong line.
   */
  raw: readonly Buffer[];
  /** Offset of the next line in the (decompressed) file, in bytes. */
  endOffset: number;
}

const lineBreak = 0x0a;
const carriageReturn = 0x0d;
const byteOrderMark = Buffer.from([0xef, 0xbb, 0xbf]);

/** Splits a file into lines. Yields the lines that end in each chunk. The last line need not end with a line break. */
export async function* readLines(chunks: AsyncIterable<Buffer>, maxLineBytes: number): AsyncGenerator<Line[]> {
  let number = 0;
  let offset = 0;
  let parts: Buffer[] = [];
  let length = 0;

  function add(part: Buffer): void {
    if (length <= maxLineBytes) parts.push(part);
    length += part.length;
  }

  function finish(): Line {
    number += 1;
    offset += length;
    const isTooLong = length > maxLineBytes;
    const raw = isTooLong ? [...parts, Buffer.from(String(length))] : parts;
    const bytes = isTooLong ? null : withoutEnds(raw.length === 1 ? raw[0] : Buffer.concat(raw), number);
    parts = [];
    length = 0;
    return { number, bytes, raw, endOffset: offset };
  }

  for await (const chunk of chunks) {
    const lines: Line[] = [];
    let from = 0;
    for (let end = chunk.indexOf(lineBreak); end !== -1; end = chunk.indexOf(lineBreak, from)) {
      add(chunk.subarray(from, end + 1));
      from = end + 1;
      lines.push(finish());
    }
    if (from < chunk.length) add(chunk.subarray(from));
    if (lines.length > 0) yield lines;
  }
  if (length > 0) yield [finish()];
}

function withoutEnds(line: Buffer | undefined, number: number): Buffer {
  if (line === undefined) return Buffer.alloc(0);
  const from = number === 1 && line.subarray(0, 3).equals(byteOrderMark) ? 3 : 0;
  let to = line.length;
  if (line[to - 1] === lineBreak) to -= 1;
  if (line[to - 1] === carriageReturn) to -= 1;
  return line.subarray(from, Math.max(from, to));
}

export interface Fault {
  line: number;
  /** The path of the invalid field, or null if the whole line is invalid. */
  field: string | null;
  reason: string;
}

type CheckedLine =
  | { kind: 'blank' }
  | { kind: 'event'; event: JsonObject; text: string }
  | { kind: 'invalid'; fault: Fault };

type JsonObject = Record<string, unknown>;

const isoTime =
  /^\d{4}-\d{2}-\d{2}(?:[T ]\d{2}:\d{2}(?::\d{2}(?:[.,]\d{1,9})?)?(?: ?Z|(?: ?[+-]\d{2}(?::?\d{2})?))?)?$/i;
const uuidForm =
  /^(?:[0-9a-f]{8}(?:-?[0-9a-f]{4}){3}-?[0-9a-f]{12}|\{[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\}|urn:uuid:[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})$/i;

/**
 * Parses a line as an event of a historical migration, which requires a name, a distinct ID and a timestamp. Only live
 * events can omit the timestamp (docs/ingestion-rules.md#historical-migrations). Also rejects events that the ingest
 * host would drop without an error, so that every missing event is reported.
 */
export function checkLine(line: Line): CheckedLine {
  const fault = (field: string | null, reason: string): CheckedLine => ({
    kind: 'invalid',
    fault: { line: line.number, field, reason },
  });
  if (line.bytes === null) return fault(null, 'too large for a request');
  if (!isUtf8(line.bytes)) return fault(null, 'not valid UTF-8');
  const text = line.bytes.toString('utf8').trim();
  if (text === '') return { kind: 'blank' };
  const event = parse(text);
  if (event === undefined) return fault(null, 'not valid JSON');
  if (!isObject(event)) return fault(null, 'not a JSON object (one event per line)');
  const problem = findProblem(event);
  return problem === null ? { kind: 'event', event, text } : fault(...problem);
}

function findProblem(event: JsonObject): [field: string, reason: string] | null {
  if (typeof event.event !== 'string') return ['event', event.event === undefined ? 'missing' : 'must be a string'];
  if (event.event === '') return ['event', 'empty'];
  for (const name of ['properties', '$set', '$set_once'] as const) {
    const value = event[name];
    const mayBeNull = name !== 'properties';
    if (value !== undefined && !isObject(value) && !(mayBeNull && value === null)) return [name, 'must be an object'];
  }
  const distinctId = distinctIdOf(event);
  if (distinctId === undefined) return ['distinct_id', 'missing'];
  if (typeof distinctId !== 'string' && typeof distinctId !== 'number') {
    return ['distinct_id', 'must be a string or a number'];
  }
  if (String(distinctId).trim() === '') return ['distinct_id', 'empty'];
  if (event.timestamp === undefined || event.timestamp === null) return ['timestamp', 'missing'];
  if (!isTime(event.timestamp)) return ['timestamp', 'must be an ISO 8601 time, such as 2024-01-31T12:00:00Z'];
  if (event.uuid && !(typeof event.uuid === 'string' && uuidForm.test(event.uuid))) return ['uuid', 'must be a UUID'];
  return null;
}

/**
 * Finds the distinct ID in the fields that the ingest host checks, in the same order (docs/wire-rules.md#distinct-ids).
 */
function distinctIdOf(event: JsonObject): unknown {
  const properties = (event.properties ?? {}) as JsonObject;
  return event.distinct_id ?? event.$distinct_id ?? properties.distinct_id ?? properties.$distinct_id ?? undefined;
}

function isTime(value: unknown): boolean {
  if (typeof value !== 'string' || !isoTime.test(value)) return false;
  const [year = 0, month = 0, day = 0, hour = 0, minute = 0, second = 0] = (value.match(/\d+/g) ?? []).map(Number);
  // If the month does not have this day, `Date` returns a day in the next month.
  const date = new Date(Date.UTC(year, month - 1, day));
  const isDay = date.getUTCMonth() === month - 1 && date.getUTCDate() === day;
  const hasTime = value.length > 10;
  return isDay && (!hasTime || (hour <= 24 && minute <= 59 && second <= 60));
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/**
 * Collects the lines that cannot be imported. Keeps only the first 10,000, so that a file with many invalid lines does
 * not fill the memory.
 */
export interface Rejections {
  count(): number;
  faults(): readonly Fault[];
  add(fault: Fault): void;
}

const maxFaults = 10_000;

export function createRejections(): Rejections {
  const faults: Fault[] = [];
  let count = 0;
  return {
    count: () => count,
    faults: () => faults,
    add(fault) {
      count += 1;
      if (faults.length < maxFaults) faults.push(fault);
    },
  };
}

/** Formats a fault, for example as `line 12: timestamp: missing`. */
export function describeFault({ line, field, reason }: Fault): string {
  return `line ${line}: ${field === null ? '' : `${field}: `}${reason}`;
}

/**
 * Returns the JSON text of an event with its UUID. Derives a missing UUID from the text and the line number, so that
 * each event is stored once even if the file, or some of it, is sent twice. Two equal lines become two events, because
 * their line numbers differ.
 */
export function addUuid(event: JsonObject, text: string, lineNumber: number): string {
  if (event.uuid) return text;
  const uuid = deriveUuid(text, lineNumber);
  // Insert the UUID into the original text, because parsing could change numbers with many digits.
  if (!('uuid' in event)) return `{"uuid":"${uuid}",${text.slice(1)}`;
  return JSON.stringify({ ...event, uuid });
}

/** Creates a version 8 UUID (RFC 9562) from 122 bits of a SHA-256 hash. */
function deriveUuid(text: string, lineNumber: number): string {
  const hash = createHash('sha256').update(`${lineNumber}\n`).update(text).digest();
  hash.writeUInt8((hash.readUInt8(6) & 0x0f) | 0x80, 6);
  hash.writeUInt8((hash.readUInt8(8) & 0x3f) | 0x80, 8);
  return hash.toString('hex', 0, 16).replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');
}
