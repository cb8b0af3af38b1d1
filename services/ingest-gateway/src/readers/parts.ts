import { isUtf8 } from 'node:buffer';
import { Busboy, type BusboyFileStream } from '@fastify/busboy';
import { isDeeperThan, isObject, type JsonObject } from '@millrace/contracts';
import { AppError } from '@millrace/runtime';
import type { ByteLease } from '../body/byte-budget.ts';
import { gunzip, hasGzipMagic } from '../body/inflate.ts';
import { outlineJson } from '../body/outline.ts';
import { repairEmptyObjects } from '../json/event-fields.ts';
import { describeJsonFault, tryParseJson } from '../json/parse.ts';

/** A multipart body as it came. */
export interface PartsBody {
  raw: Buffer;
  /** As it was sent. */
  contentType: string;
  /** The project API key beside the body; it counts before one in the event. */
  bearer: string | null;
}

interface DecodedParts {
  /** One event. */
  json: Buffer;
  /** Parts that are not stored (`assembleEvent`). */
  leftOut: string[];
}

/** Smaller parts are parsed faster than looked over. */
const largeBytes = 128 * 1024;

/**
 * From a multipart body to the JSON text of its event; as a whole it may be gzip.
 *
 * @throws AppError see `gunzip`, `readParts`, `assembleEvent`; `too_large` (`too_many_values`).
 */
export async function decodeParts(
  { raw, contentType, bearer }: PartsBody,
  {
    maxDecompressedBytes,
    maxRecordBytes,
    lease,
  }: {
    maxDecompressedBytes: number;
    maxRecordBytes: number;
    lease: ByteLease;
  },
): Promise<DecodedParts> {
  const bytes = hasGzipMagic(raw) ? await gunzip(raw, maxDecompressedBytes, lease) : raw;
  const parts = await readParts(bytes, contentType, lease);
  for (const part of parts) if (part.bytes.length >= largeBytes) await outlineJson(part.bytes, lease);
  const { event, leftOut } = assembleEvent(parts, maxRecordBytes);
  if (bearer !== null) event.api_key = bearer;
  const json = Buffer.from(JSON.stringify(event), 'utf8');
  lease.take(json.length);
  return { json, leftOut };
}

/** One part of a multipart body. */
interface Part {
  name: string;
  /** Its Content-Type without parameters, lower case; `text/plain` when it names none. */
  type: string;
  bytes: Buffer;
}

/** Far above what clients send; each has headers to be read. */
const maxParts = 200;
const maxHeaderPairs = 20;
const maxHeaderBytes = 8 * 1024;

export function isMultipart(contentType: string): boolean {
  return contentType.startsWith('multipart/form-data');
}

/**
 * The parts of a form (RFC 7578), in their order. A part without a name is left out.
 *
 * @param contentType as it was sent: the boundary in it may have capitals.
 * @throws AppError `invalid` (`invalid_multipart`), `too_large` (`too_many_parts`), `unavailable` when the memory budget
 * is used up.
 */
function readParts(raw: Buffer, contentType: string, lease: ByteLease): Promise<Part[]> {
  return new Promise((resolve, reject) => {
    const form = openForm(contentType);
    const parts: Promise<Part | null>[] = [];
    let hasFailed = false;
    const fail = (error: unknown) => {
      hasFailed = true;
      form.destroy();
      reject(error);
    };
    /** A form that has failed may still give pieces, and its request has given back its memory. */
    const take = (bytes: number) => {
      if (!hasFailed) lease.take(bytes);
    };
    form.on('file', (name: string | undefined, stream, _filename, _encoding, type) => {
      const part = gather(stream, take).then((bytes) => (name === undefined ? null : { name, type, bytes }));
      part.catch(fail);
      parts.push(part);
    });
    form.on('partsLimit', () => {
      fail(
        new AppError('too_large', `The form has more than ${maxParts} parts. Send fewer parts.`, {
          code: 'too_many_parts',
        }),
      );
    });
    form.on('error', (cause) => fail(brokenForm(cause)));
    form.on('finish', () => {
      Promise.all(parts).then((all) => resolve(all.filter((part) => part !== null)), reject);
    });
    form.end(raw);
  });
}

function openForm(contentType: string) {
  try {
    return new Busboy({
      headers: { 'content-type': contentType },
      limits: { parts: maxParts, headerPairs: maxHeaderPairs, headerSize: maxHeaderBytes },
      // Their bytes as they are: what a part is, its name and type say.
      isPartAFile: () => true,
    });
  } catch (cause) {
    throw brokenForm(cause);
  }
}

/** @param take asks for memory, and throws when there is none. */
function gather(stream: BusboyFileStream, take: (bytes: number) => void): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const pieces: Buffer[] = [];
    let total = 0;
    stream.on('data', (piece: Buffer) => {
      total += piece.length;
      try {
        take(piece.length);
        pieces.push(piece);
      } catch (error) {
        reject(error);
      }
    });
    stream.on('end', () => resolve(Buffer.concat(pieces, total)));
    stream.on('error', (cause) => reject(brokenForm(cause)));
  });
}

function brokenForm(cause: unknown): AppError {
  return new AppError('invalid', 'The body is not a complete multipart form, or its Content-Type has no boundary.', {
    code: 'invalid_multipart',
    cause,
  });
}

/** An event that was sent in parts, in one again. */
interface AssembledEvent {
  event: JsonObject;
  /** Names of the parts that are replaced by a note, because they are not text or do not fit. */
  leftOut: string[];
}

const eventPart = 'event';
const propertiesPart = 'event.properties';
const blobPrefix = 'event.properties.';
const maxNesting = 64;
/** What a record holds beside what was sent. */
const recordRoomBytes = 16 * 1024;

/**
 * Puts an event together: the part `event`, its properties in it or in the part `event.properties`, and single properties
 * in parts `event.properties.<path>`. JSON becomes what it is, other text a string. What is no text is left out, and
 * what does not fit into a record as well: the event itself, with what it cost and how long it took, is worth more than
 * to be refused with them. Parts of other names mean nothing.
 *
 * @param maxRecordBytes what a record of the log may hold.
 * @throws AppError `invalid` naming the part (`missing_part`, `duplicate_part`, `invalid_part`), too deep ones
 * (`too_deep`) included.
 */
function assembleEvent(parts: readonly Part[], maxRecordBytes: number): AssembledEvent {
  const known = byName(parts);
  const eventJson = known.get(eventPart);
  if (eventJson === undefined) throw refused('missing_part', eventPart, 'is missing');
  // With a field `batch` it would be taken for another kind of request.
  const { batch: _, ...event } = readObject(eventJson);
  repairEmptyObjects(event);
  const propertiesJson = known.get(propertiesPart);
  if (propertiesJson !== undefined && event.properties !== undefined) {
    throw refused('duplicate_part', propertiesPart, 'must not be sent if the part `event` has `properties`');
  }
  if (propertiesJson !== undefined) event.properties = readObject(propertiesJson);
  const blobs = [...known.values()].filter(({ name }) => name.startsWith(blobPrefix));
  if (blobs.length === 0) return { event, leftOut: [] };
  event.properties ??= {};
  if (!isObject(event.properties)) throw refused('invalid_part', eventPart, 'must have an object in `properties`');
  const room = maxRecordBytes - recordRoomBytes - eventJson.bytes.length - (propertiesJson?.bytes.length ?? 0);
  return { event, leftOut: putBlobs(event.properties, blobs, room) };
}

/** @param room bytes there are for blobs; they are taken in while they fit. @returns names of those left out. */
function putBlobs(properties: JsonObject, blobs: readonly Part[], room: number): string[] {
  const leftOut: string[] = [];
  let left = room;
  for (const blob of blobs) {
    const path = parsePropertyPath(blob.name.slice(blobPrefix.length));
    if (path === null) throw refused('invalid_part', blob.name, 'must have a name with a valid property path');
    const value = isText(blob) ? readText(blob) : undefined;
    const written = value === undefined ? 0 : Buffer.byteLength(JSON.stringify(value));
    const isStored = value !== undefined && written <= left;
    if (isStored) left -= written;
    else leftOut.push(blob.name);
    if (!setAtPath(properties, path, isStored ? value : noteOf(blob))) {
      throw refused(
        'invalid_part',
        blob.name,
        'has a property path that leads through a value that is neither an object nor an array',
      );
    }
  }
  return leftOut;
}

function byName(parts: readonly Part[]): Map<string, Part> {
  const known = new Map<string, Part>();
  for (const part of parts) {
    if (known.has(part.name)) throw refused('duplicate_part', part.name, 'is sent twice');
    known.set(part.name, part);
  }
  return known;
}

/** The note instead of a part that is not stored. */
function noteOf({ type, bytes }: Part): string {
  return `[left out: ${type.slice(0, 100)}, ${bytes.length} bytes]`;
}

/** Whether it is stored: anything that is text, unless it declares another type. */
function isText({ type, bytes }: Part): boolean {
  if (isJsonType(type)) return true;
  const mayBe = type.startsWith('text/') || type === 'application/octet-stream';
  return mayBe && isUtf8(bytes) && !bytes.includes(0);
}

function isJsonType(type: string): boolean {
  return type === 'application/json' || type.endsWith('+json');
}

function readText(part: Part): unknown {
  return isJsonType(part.type) ? readJson(part) : part.bytes.toString('utf8');
}

function readObject(part: Part): JsonObject {
  const value = readJson(part);
  if (!isObject(value)) throw refused('invalid_part', part.name, 'must be a JSON object');
  return value;
}

function readJson({ name, bytes }: Part): unknown {
  if (hasGzipMagic(bytes)) throw refused('invalid_part', name, 'is compressed. Compress the complete body instead');
  if (!isUtf8(bytes)) throw refused('invalid_part', name, 'is not UTF-8 text');
  const text = bytes.toString('utf8');
  const value = tryParseJson(text);
  if (value === undefined) throw refused('invalid_part', name, `is not valid JSON: ${describeJsonFault(text)}`);
  if (isDeeperThan(value, maxNesting)) throw refused('too_deep', name, `is nested deeper than ${maxNesting} levels`);
  return value;
}

function refused(code: string, part: string, problem: string): AppError {
  const name = part.slice(0, 200);
  return new AppError('invalid', `The part \`${name}\` ${problem}.`, { code, attr: name });
}

/** Names of objects and indexes of arrays, from the outside in. */
type PropertyPath = readonly (string | number)[];

const maxSteps = 16;
const maxIndex = 1000;
const step = /(?:^|\.)([^.[\]]+)|\[(\d{1,4})\]/y;

/**
 * Where a property stands: `$ai_input[0].content` is the field `content` of the first thing in `$ai_input`. Null for text
 * that is no such path, or too long a one.
 */
function parsePropertyPath(text: string): PropertyPath | null {
  const path: (string | number)[] = [];
  step.lastIndex = 0;
  while (step.lastIndex < text.length) {
    const [, name, index] = step.exec(text) ?? [];
    if (name !== undefined) path.push(name);
    else if (index !== undefined && Number(index) < maxIndex && path.length > 0) path.push(Number(index));
    else return null;
  }
  return path.length === 0 || path.length > maxSteps ? null : path;
}

/**
 * Puts a value where a path leads, and makes the objects and arrays on the way that are missing (null counts as missing).
 *
 * @returns false when something else is in the way; then nothing was changed.
 */
function setAtPath(properties: JsonObject, path: PropertyPath, value: unknown): boolean {
  let at: unknown = properties;
  let made: { in: object; key: string | number; value: unknown } | undefined;
  for (const [depth, key] of path.entries()) {
    if (typeof at !== 'object' || at === null || Array.isArray(at) !== (typeof key === 'number')) return false;
    const isLast = depth === path.length - 1;
    const there: unknown = Object.hasOwn(at, key) ? (at as Record<string | number, unknown>)[key] : undefined;
    if (isLast || there === undefined || there === null) {
      const next: unknown = isLast ? value : typeof path[depth + 1] === 'number' ? [] : {};
      // The first thing that is missing is put in its place when all that goes into it is known to fit.
      if (made === undefined) made = { in: at, key, value: next };
      else put(at, key, next);
      at = next;
    } else {
      at = there;
    }
  }
  if (made !== undefined) put(made.in, made.key, made.value);
  return true;
}

/** Not an assignment: a name may be `__proto__`, which must stay data. Places before it in an array become null. */
function put(into: object, key: string | number, value: unknown): void {
  if (Array.isArray(into)) while (into.length < Number(key)) into.push(null);
  Object.defineProperty(into, key, { value, enumerable: true, configurable: true, writable: true });
}
