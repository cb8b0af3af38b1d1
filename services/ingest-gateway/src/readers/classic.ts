import type { JsonObject } from '@millrace/contracts';
import { AppError } from '@millrace/runtime';
import type { CapturePath } from '../head.ts';
import {
  type EventField,
  propertySlots,
  readRawFields,
  repairEmptyObjects,
  slotOf,
  slotsPerEvent,
} from '../json/event-fields.ts';
import { cleanValue, mayNeedCleaning, parseJson, quoteLongNumericIds } from '../json/parse.ts';
import { createScanner } from '../json/scan.ts';
import { rawDistinctId, rawOtherId, readDistinctId } from './distinct-id.ts';
import { readSentAt, unreadableSentAt } from './event-time.ts';
import { findProjectApiKey } from './project-api-key.ts';
import {
  type ClientEvent,
  type EventDrop,
  invalidField,
  readName,
  refusalOf,
  type ValidatedEvents,
  validateEvents,
} from './validate.ts';

/** A request whose form is in order. Single events may still turn out to have no name or no id. */
export interface CaptureRequest {
  /** The project API key, well-shaped; whose it is has not been asked yet. */
  token: string;
  /** In the order they were sent, at least one. */
  events: ClientEvent[];
  /** For a slice of a large request: the index of its first event. */
  firstIndex?: number;
  /** For each event its index in the request, when others were dropped before it. */
  indexes?: Int32Array<ArrayBuffer> | undefined;
  /** Events with a fault, which are dropped alone. */
  drops?: readonly EventDrop[];
  /** True only when the batch says so. */
  isHistorical: boolean;
  /** When the client sent the request by its own clock, milliseconds since the epoch; null when it does not say. */
  sentAtMs: number | null;
  /** What the batch says about it, if that cannot be read and nothing else is said. */
  unreadableSentAt?: string | undefined;
}

/** What a request says outside its JSON text. */
export interface RequestHints {
  path: Pick<CapturePath, 'nameForNameless' | 'takesBatches'>;
  /** Key from a form field, or from the query of a GET. */
  apiKey: string | null;
  /** Query parameter `_`. */
  sentAt: string | null;
}

type Fields = Record<string, unknown>;

/**
 * Step 3: JSON text to a request, by its shape: an array of events, `{api_key, batch: [...]}`, or one event
 * (docs/wire-rules.md#request-shapes; every shape is welcome on every path).
 *
 * @throws AppError `invalid` naming the field (`batch__3__properties`), `unauthenticated` for a missing or malformed key.
 */
export function parseCaptureRequest(json: Buffer, hints: RequestHints): CaptureRequest {
  const scanned = scanShape(json);
  return scanned === null ? parseText(json.toString('utf8'), hints) : toRequest(scanned, hints);
}

/** The way for text that a scan cannot take, and for a request that is refused with a reason. */
function parseText(text: string, hints: RequestHints): CaptureRequest {
  let shape = readShape(parseJson(text));
  if (shape.events.some(hasRoundedId)) shape = readShape(parseJson(quoteLongNumericIds(text)));
  for (const event of shape.events) {
    repairEmptyObjects(event);
    // A client may send a field of this name itself; it must not be taken for the result of a scan.
    if (typeof event === 'object' && event !== null) delete event.raw;
  }
  const request = toRequest(shape, hints);
  // After the key was read: a NUL in it has its own answer.
  if (mayNeedCleaning(text)) for (const event of request.events) cleanValue(event);
  return request;
}

function toRequest(shape: RequestShape, hints: RequestHints): CaptureRequest {
  const { envelope, events, isShallow } = shape;
  if (events.length === 0) {
    throw new AppError('invalid', 'The request does not contain any events. Send at least one.', {
      code: 'no_events',
      attr: envelope ? 'batch' : null,
    });
  }
  if (hints.path.takesBatches && isNameless(shape)) {
    throw invalidField(['batch'], 'The field `batch` must be an array of events', undefined);
  }
  const validated = validateEvents(events, isShallow);
  requireUsable(validated, shape, hints);
  const token = findProjectApiKey(envelope, events, hints.apiKey);
  const sentAt = envelope?.sent_at ?? envelope?.sentAt;
  const sentAtMs = readSentAt(sentAt, hints.sentAt);
  return {
    token,
    events: validated.usable,
    indexes: validated.indexes,
    drops: validated.drops,
    isHistorical: envelope !== null && readHistorical(envelope),
    sentAtMs,
    unreadableSentAt: sentAtMs === null ? unreadableSentAt(sentAt) : undefined,
  };
}

/** @throws AppError about the first fault when nothing else is left: a refusal tells more than a silent drop. */
function requireUsable(
  { usable, firstFault }: ValidatedEvents,
  { pathOf }: RequestShape,
  { path }: RequestHints,
): void {
  if (firstFault === null || usable.some((event) => isUsable(event, path.nameForNameless))) return;
  throw refusalOf(firstFault.fault, pathOf(firstFault.index));
}

function isUsable(event: ClientEvent, nameForNameless: string | null): boolean {
  return readName(event, nameForNameless) !== null && readDistinctId(event) !== null;
}

function readHistorical(envelope: Fields): boolean {
  const flag = envelope.historical_migration ?? false;
  if (typeof flag !== 'boolean') {
    throw invalidField(['historical_migration'], 'The field `historical_migration` must be a boolean', flag);
  }
  return flag;
}

/** The events of a request and what is around them. */
interface RequestShape {
  /** The object around a batch, null for the other shapes. */
  envelope: Fields | null;
  /** As they were sent: what is no object may be among them. */
  events: (Fields | null)[];
  /** True when no event can be nested too deep. */
  isShallow: boolean;
  /** How the position of an event is written in `attr`. */
  pathOf(index: number): string[];
}

const pathIn = {
  event: () => [],
  array: (index: number) => [String(index)],
  batch: (index: number) => ['batch', String(index)],
};

const scan = createScanner();

/** Null for an unusual request: parsing then says more. */
function scanShape(json: Buffer): RequestShape | null {
  const found = scan(json);
  if (found === null) return null;
  const { shape, slots } = found;
  const events: Fields[] = [];
  if (shape === 'event') events.push(readScannedEvent(json, slots, 0));
  for (let number = 1; number <= found.events; number++) {
    events.push(readScannedEvent(json, slots, number * slotsPerEvent));
  }
  if (events.some(hasRoundedId)) return null;
  const envelope = shape === 'batch' ? readEnvelope(json, slots) : null;
  return { envelope, events, isShallow: true, pathOf: pathIn[shape] };
}

function readShape(parsed: unknown): RequestShape {
  const isShallow = false;
  if (Array.isArray(parsed)) return { envelope: null, events: parsed, isShallow, pathOf: pathIn.array };
  if (typeof parsed !== 'object' || parsed === null) {
    throw invalidField([], 'The body must be a JSON object or array', parsed);
  }
  const object = parsed as Fields;
  if (Array.isArray(object.batch)) {
    return { envelope: object, events: object.batch, isShallow, pathOf: pathIn.batch };
  }
  if ('batch' in object && typeof object.event !== 'string') {
    throw invalidField(['batch'], 'The field `batch` must be an array of events', object.batch);
  }
  return { envelope: null, events: [object], isShallow, pathOf: pathIn.event };
}

/** Whether it is neither a batch nor an array nor an event with a name: something was forgotten or misspelt. */
function isNameless({ envelope, events, pathOf }: RequestShape): boolean {
  return envelope === null && pathOf === pathIn.event && typeof events[0]?.event !== 'string';
}

/** Whether one of its ids is a number too large to be held exactly: then it has to be read as text. */
function hasRoundedId(event: unknown): boolean {
  if (typeof event !== 'object' || event === null) return false;
  return isRounded(rawDistinctId(event as ClientEvent)) || isRounded(rawOtherId(event as ClientEvent));
}

function isRounded(id: unknown): boolean {
  return typeof id === 'number' && Number.isInteger(id) && !Number.isSafeInteger(id);
}

const slots = {
  event: slotOf('event'),
  distinct_id: slotOf('distinct_id'),
  $distinct_id: slotOf('$distinct_id'),
  uuid: slotOf('uuid'),
  timestamp: slotOf('timestamp'),
  offset: slotOf('offset'),
  properties: slotOf('properties'),
  $set: slotOf('$set'),
  $set_once: slotOf('$set_once'),
  api_key: slotOf('api_key'),
  token: slotOf('token'),
  $token: slotOf('$token'),
};

/** Stands for an object that is passed on without being read. */
const unseen: JsonObject = Object.freeze({});

/**
 * An event with the fields the gateway looks at. Its properties hold only those it looks at; all properties, and those
 * to be set, are in `raw`. Fields of a wrong type are kept, for the validation to find.
 */
export function readScannedEvent(json: Buffer, from: Int32Array, base: number): ClientEvent & Record<string, unknown> {
  const read = (slot: number) => readValue(json, from, base + slot);
  return {
    event: read(slots.event),
    distinct_id: read(slots.distinct_id),
    $distinct_id: read(slots.$distinct_id),
    uuid: read(slots.uuid) as string,
    timestamp: read(slots.timestamp) as string | number,
    offset: read(slots.offset) as number,
    properties: (isObjectAt(json, from, base + slots.properties)
      ? readProperties(json, from, base)
      : read(slots.properties)) as JsonObject,
    $set: (isObjectAt(json, from, base + slots.$set) ? unseen : read(slots.$set)) as JsonObject,
    $set_once: (isObjectAt(json, from, base + slots.$set_once) ? unseen : read(slots.$set_once)) as JsonObject,
    api_key: read(slots.api_key),
    token: read(slots.token),
    $token: read(slots.$token),
    raw: readRawFields(json, from, base),
  };
}

/** What the object around a batch says. */
function readEnvelope(json: Buffer, from: Int32Array): Record<string, unknown> {
  const read = (name: EventField) => readValue(json, from, slotOf(name));
  return {
    api_key: read('api_key'),
    token: read('token'),
    $token: read('$token'),
    historical_migration: read('historical_migration'),
    sent_at: read('sent_at'),
    sentAt: read('sentAt'),
  };
}

function readProperties(json: Buffer, from: Int32Array, base: number): JsonObject {
  let properties = unseen;
  for (let index = 0; index < propertySlots.length; index++) {
    const property = propertySlots[index];
    if (property === undefined || from[base + property.slot] === 0) continue;
    if (properties === unseen) properties = {};
    properties[property.name] = readValue(json, from, base + property.slot);
  }
  return properties;
}

function isObjectAt(json: Buffer, from: Int32Array, at: number): boolean {
  const start = from[at] ?? 0;
  return start !== 0 && json[start] === 0x7b;
}

/** Undefined when the field is not there. */
function readValue(json: Buffer, from: Int32Array, at: number): unknown {
  const start = from[at] ?? 0;
  if (start === 0) return undefined;
  const end = from[at + 1] ?? 0;
  if (json[start] === 0x22) {
    const text = json.toString('utf8', start + 1, end - 1);
    if (!text.includes('\\')) return text;
  }
  return JSON.parse(json.toString('utf8', start, end));
}

/** A request after step 3, whichever way it was read. */
export interface IncomingRequest {
  token: string;
  isHistorical: boolean;
  /** How many events were sent, those with a fault included. */
  events: number;
  /** For an event in parts: names of the parts that are not stored. */
  leftOut?: readonly string[];
  /** Its events in their order. A large request has several slices, so that others are served between them. */
  parts(): Iterable<CaptureRequest>;
}

export function inOnePart(request: CaptureRequest): IncomingRequest {
  const { token, isHistorical, events, drops } = request;
  return { token, isHistorical, events: sentEvents(events.length, drops), parts: () => [request] };
}

/** @param usable how many are left of them. */
export function sentEvents(usable: number, drops: readonly EventDrop[] = []): number {
  return drops.reduce((sum, { count }) => sum + count, usable);
}
