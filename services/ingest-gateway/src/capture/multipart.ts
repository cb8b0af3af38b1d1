// Reads multipart requests, which AI clients use for large events.

import { isUtf8 } from 'node:buffer';
import { Busboy, type BusboyFileStream } from '@fastify/busboy';
import { isDeeperThan, isObject, type JsonObject } from '@millrace/contracts';
import { AppError } from '@millrace/runtime';
import type { ByteLease } from '../body/byte-budget.ts';
import { gunzip, hasGzipMagic } from '../body/inflate.ts';
import { outlineJson } from '../body/outline.ts';
import { repairEmptyObjects } from '../json/event-fields.ts';
import { describeJsonFault, tryParseJson } from '../json/parse.ts';
import { requireParsableLength } from '../json/parse-limit.ts';

export interface MultipartBody {
  raw: Buffer;
  /** The `Content-Type` header in its original case, because the boundary is case-sensitive. */
  contentType: string;
  /** The project API key from the `Authorization` header. It takes precedence over a key in the event. */
  bearer: string | null;
}

/** Only parts of at least this size are scanned before parsing. Smaller ones are parsed faster than scanned. */
const largeBytes = 128 * 1024;

/**
 * Decodes a multipart body to the JSON of its event. The whole body can be compressed with gzip.
 * @returns the JSON of one event, and the names of the parts that are not stored (`assembleEvent`)
 * @throws the errors of `gunzip`, `readParts` and `assembleEvent`, or AppError `too_large` (`too_many_values`)
 */
export async function decodeMultipart(
  { raw, contentType, bearer }: MultipartBody,
  {
    maxDecompressedBytes,
    maxRecordBytes,
    lease,
  }: {
    maxDecompressedBytes: number;
    maxRecordBytes: number;
    lease: ByteLease;
  },
): Promise<{ json: Buffer; omittedParts: string[] }> {
  const bytes = hasGzipMagic(raw) ? await gunzip(raw, maxDecompressedBytes, lease) : raw;
  const parts = await readParts(bytes, contentType, lease);
  for (const part of parts) if (part.bytes.length >= largeBytes) await outlineJson(part.bytes, lease);
  const { event, omittedParts } = assembleEvent(parts, maxRecordBytes);
  if (bearer !== null) event.api_key = bearer;
  const json = Buffer.from(JSON.stringify(event), 'utf8');
  lease.take(json.length);
  return { json, omittedParts };
}

interface Part {
  name: string;
  /** The part's content type in lower case, without parameters. Defaults to `text/plain`. */
  type: string;
  bytes: Buffer;
}

/**
 * The maximum number of parts, because parsing each part's headers takes time. Real requests have only a few parts.
 */
const maxParts = 200;
const maxHeaderPairs = 20;
const maxHeaderBytes = 8 * 1024;

/**
 * Reads the parts of a form (RFC 7578) in order. Ignores parts without a name.
 * @throws AppError `invalid` (`invalid_multipart`), `too_large` (`too_many_parts`), or `unavailable` if the memory
 * budget is used up
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
    /** The parser can still emit data after it has failed and the request has released its memory. */
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
      // Treat all parts as files, because the parser must not decode fields. `isText` checks the part's content type.
      isPartAFile: () => true,
    });
  } catch (cause) {
    throw brokenForm(cause);
  }
}

/** Collects a part in memory. @param take a function that reserves memory. It throws if the budget is used up. */
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

interface AssembledEvent {
  event: JsonObject;
  /** Parts that are replaced with a note, because they are not text or do not fit into a record. */
  omittedParts: string[];
}

const eventPart = 'event';
const propertiesPart = 'event.properties';
const blobPrefix = 'event.properties.';
const maxNesting = 64;
const recordRoomBytes = 16 * 1024;

/**
 * Assembles an event from three types of parts: the event in `event`, its properties in `event.properties` (or in
 * `event` itself), and single properties in `event.properties.<path>`. JSON parts are parsed, and other text becomes a
 * string. Parts that are not text or do not fit into a record are omitted, because the remaining event is still useful:
 * for example, it contains the cost and the duration. Parts with other names are ignored.
 *
 * @param maxRecordBytes the maximum size of a log record
 * @throws AppError `invalid` naming the part (`missing_part`, `duplicate_part`, `invalid_part`, `too_deep`)
 */
function assembleEvent(parts: readonly Part[], maxRecordBytes: number): AssembledEvent {
  const known = byName(parts);
  const eventJson = known.get(eventPart);
  if (eventJson === undefined) throw refused('missing_part', eventPart, 'is missing');
  // Remove `batch`, because an event with this field would be treated as a batch.
  const { batch: _, ...event } = readObject(eventJson);
  repairEmptyObjects(event);
  const propertiesJson = known.get(propertiesPart);
  if (propertiesJson !== undefined && event.properties !== undefined) {
    throw refused('duplicate_part', propertiesPart, 'must not be sent if the part `event` has `properties`');
  }
  if (propertiesJson !== undefined) event.properties = readObject(propertiesJson);
  const blobs = [...known.values()].filter(({ name }) => name.startsWith(blobPrefix));
  if (blobs.length === 0) return { event, omittedParts: [] };
  event.properties ??= {};
  if (!isObject(event.properties)) throw refused('invalid_part', eventPart, 'must have an object in `properties`');
  const room = maxRecordBytes - recordRoomBytes - eventJson.bytes.length - (propertiesJson?.bytes.length ?? 0);
  return { event, omittedParts: putBlobs(event.properties, blobs, room) };
}

/**
 * Adds the blobs that fit into the record to the properties.
 * @param room how many bytes of blobs fit into the record
 * @returns the names of the omitted blobs
 */
function putBlobs(properties: JsonObject, blobs: readonly Part[], room: number): string[] {
  const omittedParts: string[] = [];
  let left = room;
  for (const blob of blobs) {
    const path = parsePropertyPath(blob.name.slice(blobPrefix.length));
    if (path === null) throw refused('invalid_part', blob.name, 'must have a name with a valid property path');
    const value = isText(blob) ? readText(blob) : undefined;
    const written = value === undefined ? 0 : Buffer.byteLength(JSON.stringify(value));
    const isStored = value !== undefined && written <= left;
    if (isStored) left -= written;
    else omittedParts.push(blob.name);
    if (!setAtPath(properties, path, isStored ? value : noteOf(blob))) {
      throw refused(
        'invalid_part',
        blob.name,
        'has a property path that leads through a value that is neither an object nor an array',
      );
    }
  }
  return omittedParts;
}

function byName(parts: readonly Part[]): Map<string, Part> {
  const known = new Map<string, Part>();
  for (const part of parts) {
    if (known.has(part.name)) throw refused('duplicate_part', part.name, 'is sent twice');
    known.set(part.name, part);
  }
  return known;
}

function noteOf({ type, bytes }: Part): string {
  return `[left out: ${type.slice(0, 100)}, ${bytes.length} bytes]`;
}

/** Returns true if a part can be stored: JSON, or UTF-8 text that does not declare another content type. */
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
  requireParsableLength(bytes.length);
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

type PropertyPath = readonly (string | number)[];

const maxSteps = 16;
const maxIndex = 1000;
const step = /(?:^|\.)([^.[\]]+)|\[(\d{1,4})\]/y;

/**
 * Parses a property path. For example, `$ai_input[0].content` is the field `content` of the first item in `$ai_input`.
 * Returns null if the path is invalid or too long.
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
 * Sets a property at a path, and creates missing objects and arrays on the way. Null counts as missing.
 * @returns false, without any change, if the path leads through a value that is not an object or array
 */
function setAtPath(properties: JsonObject, path: PropertyPath, value: unknown): boolean {
  let at: unknown = properties;
  let created: { in: object; key: string | number; value: unknown } | undefined;
  for (const [depth, key] of path.entries()) {
    if (typeof at !== 'object' || at === null || Array.isArray(at) !== (typeof key === 'number')) return false;
    const isLast = depth === path.length - 1;
    const existing: unknown = Object.hasOwn(at, key) ? (at as Record<string | number, unknown>)[key] : undefined;
    if (isLast || existing === undefined || existing === null) {
      const next: unknown = isLast ? value : typeof path[depth + 1] === 'number' ? [] : {};
      // Insert the first created object only when the whole path is known to be valid.
      if (created === undefined) created = { in: at, key, value: next };
      else put(at, key, next);
      at = next;
    } else {
      at = existing;
    }
  }
  if (created !== undefined) put(created.in, created.key, created.value);
  return true;
}

/** Defines the property without an assignment, because its name may be `__proto__`. Skipped array items become null. */
function put(into: object, key: string | number, value: unknown): void {
  if (Array.isArray(into)) while (into.length < Number(key)) into.push(null);
  Object.defineProperty(into, key, { value, enumerable: true, configurable: true, writable: true });
}
