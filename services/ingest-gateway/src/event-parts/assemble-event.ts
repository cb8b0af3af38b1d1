import { isUtf8 } from 'node:buffer';
import { isDeeperThan, isObject, type JsonObject } from '@millrace/contracts';
import { AppError } from '@millrace/errors';
import { hasGzipMagic } from '../bytes/gunzip.ts';
import { repairEmptyObjects } from '../event/empty-objects.ts';
import { describeJsonFault, tryParseJson } from '../json/parse-json.ts';
import { parsePropertyPath, setAtPath } from './property-path.ts';
import type { Part } from './read-parts.ts';

/** An event that was sent in parts, in one again. */
export interface AssembledEvent {
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
export function assembleEvent(parts: readonly Part[], maxRecordBytes: number): AssembledEvent {
  const known = byName(parts);
  const eventJson = known.get(eventPart);
  if (eventJson === undefined) throw refused('missing_part', eventPart, 'is missing');
  // With a field `batch` it would be taken for another kind of request.
  const { batch: _, ...event } = readObject(eventJson);
  repairEmptyObjects(event);
  const propertiesJson = known.get(propertiesPart);
  if (propertiesJson !== undefined && event.properties !== undefined) {
    throw refused('duplicate_part', propertiesPart, 'stands beside properties in the part `event`');
  }
  if (propertiesJson !== undefined) event.properties = readObject(propertiesJson);
  const blobs = [...known.values()].filter(({ name }) => name.startsWith(blobPrefix));
  if (blobs.length === 0) return { event, leftOut: [] };
  event.properties ??= {};
  if (!isObject(event.properties)) throw refused('invalid_part', eventPart, 'must have an object as `properties`');
  const room = maxRecordBytes - recordRoomBytes - eventJson.bytes.length - (propertiesJson?.bytes.length ?? 0);
  return { event, leftOut: putBlobs(event.properties, blobs, room) };
}

/** @param room bytes there are for blobs; they are taken in while they fit. @returns names of those left out. */
function putBlobs(properties: JsonObject, blobs: readonly Part[], room: number): string[] {
  const leftOut: string[] = [];
  let left = room;
  for (const blob of blobs) {
    const path = parsePropertyPath(blob.name.slice(blobPrefix.length));
    if (path === null) throw refused('invalid_part', blob.name, 'does not name a property');
    const value = isText(blob) ? readText(blob) : undefined;
    const written = value === undefined ? 0 : Buffer.byteLength(JSON.stringify(value));
    const isStored = value !== undefined && written <= left;
    if (isStored) left -= written;
    else leftOut.push(blob.name);
    if (!setAtPath(properties, path, isStored ? value : noteOf(blob))) {
      throw refused('invalid_part', blob.name, 'leads through a property that is no object or array');
    }
  }
  return leftOut;
}

function byName(parts: readonly Part[]): Map<string, Part> {
  const known = new Map<string, Part>();
  for (const part of parts) {
    if (known.has(part.name)) throw refused('duplicate_part', part.name, 'is there twice');
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
  if (hasGzipMagic(bytes)) throw refused('invalid_part', name, 'is compressed, which only the whole body may be');
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
