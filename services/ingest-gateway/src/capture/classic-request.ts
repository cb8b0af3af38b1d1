// Parses capture requests in the protocol of most SDKs: one event, an array of events, or a batch.

import { AppError } from '@millrace/runtime';
import { positionsPerEvent, readScannedEnvelope, readScannedEvent, repairEmptyObjects } from '../json/event-fields.ts';
import { cleanValue, mayNeedCleaning, parseJson, quoteLongNumericIds } from '../json/parse.ts';
import { createScanner, type Scan } from '../json/scan.ts';
import type { CapturePath } from '../request-head.ts';
import {
  type ClientEvent,
  type EventDrop,
  invalidFieldError,
  readDistinctId,
  readName,
  readRawDistinctId,
  readRawOtherId,
  toEventError,
  type ValidatedEvents,
  validateEvents,
} from './client-event.ts';
import { findUnreadableSentAt, readSentAt } from './event-time.ts';
import { findProjectApiKey } from './project-api-key.ts';

/** A parsed request, whose events may still lack a name or a distinct ID. */
export interface ParsedRequest {
  /** A well-formed project API key, which may not exist. */
  token: string;
  /** The events in the order of the request. */
  events: ClientEvent[];
  /** The original index of each valid event in the request, or undefined if all events are valid. */
  indexes: Int32Array<ArrayBuffer> | undefined;
  drops: readonly EventDrop[];
  isHistorical: boolean;
  /** When the client sent the request, by its own clock, in milliseconds since the epoch. Null if unknown. */
  sentAtMs: number | null;
  /** The batch's `sent_at`, if it cannot be parsed and no other send time is known. */
  unreadableSentAt: string | undefined;
  omittedParts?: readonly string[];
}

export interface RequestHints {
  path: Pick<CapturePath, 'nameForNameless' | 'takesBatches'>;
  /** The API key from a form field or from a GET request's query string. */
  apiKey: string | null;
  sentAt: string | null;
}

type Fields = Record<string, unknown>;

const scan = createScanner();

/**
 * Parses and validates a request's JSON: an array of events, `{api_key, batch: [...]}`, or a single event. Every path
 * accepts all three (docs/wire-rules.md#request-shapes).
 * @throws AppError `invalid` naming the field (`batch__3__properties`), or `unauthenticated` for a missing or malformed
 * key
 */
export function parseRequest(json: Buffer, hints: RequestHints): ParsedRequest {
  return readScan(json, hints) ?? readText(json.toString('utf8'), hints);
}

/** Returns null if the scanner does not support the request, which must then be parsed. */
function readScan(json: Buffer, hints: RequestHints): ParsedRequest | null {
  const found = scan(json);
  if (found === null) return null;
  const { shape, slots } = found;
  const events: Fields[] = [];
  if (shape === 'event') events.push(readScannedEvent(json, slots, 0));
  for (let number = 1; number <= found.events; number++) {
    events.push(readScannedEvent(json, slots, number * positionsPerEvent));
  }
  if (events.some(hasRoundedId)) return null;
  const envelope = shape === 'batch' ? readScannedEnvelope(json, slots) : null;
  return validateRequest({ shape, envelope, events, isShallow: true, hints });
}

/** Parses a request that the scanner does not support, or an invalid request, which needs an error message. */
function readText(text: string, hints: RequestHints): ParsedRequest {
  let sent = readShape(parseJson(text));
  if (sent.events.some(hasRoundedId)) sent = readShape(parseJson(quoteLongNumericIds(text)));
  for (const event of sent.events) {
    repairEmptyObjects(event);
    // A client's own `raw` field must not be mistaken for scan positions.
    if (typeof event === 'object' && event !== null) delete event.raw;
  }
  const request = validateRequest({ ...sent, isShallow: false, hints });
  // Clean the events only after the API key was read, because a NUL character in the key has its own error.
  if (mayNeedCleaning(text)) for (const event of request.events) cleanValue(event);
  return request;
}

function readShape(parsed: unknown): { shape: Scan['shape']; envelope: Fields | null; events: (Fields | null)[] } {
  if (Array.isArray(parsed)) return { shape: 'array', envelope: null, events: parsed };
  if (typeof parsed !== 'object' || parsed === null) {
    throw invalidFieldError([], 'The body must be a JSON object or array', parsed);
  }
  const object = parsed as Fields;
  if (Array.isArray(object.batch)) return { shape: 'batch', envelope: object, events: object.batch };
  if ('batch' in object && typeof object.event !== 'string') {
    throw invalidFieldError(['batch'], 'The field `batch` must be an array of events', object.batch);
  }
  return { shape: 'event', envelope: null, events: [object] };
}

const positionIn = {
  event: () => [],
  array: (index: number) => [String(index)],
  batch: (index: number) => ['batch', String(index)],
};

/**
 * @param sent.envelope the object that contains the batch
 * @param sent.events the events as they were sent. Some may not be objects.
 */
function validateRequest(sent: {
  shape: Scan['shape'];
  envelope: Fields | null;
  events: (Fields | null)[];
  isShallow: boolean;
  hints: RequestHints;
}): ParsedRequest {
  const { shape, envelope, events, isShallow, hints } = sent;
  if (events.length === 0) {
    throw new AppError('invalid', 'The request does not contain any events. Send at least one.', {
      code: 'no_events',
      attr: shape === 'batch' ? 'batch' : null,
    });
  }
  // An object that is neither a batch nor a named event has a missing or misspelled field.
  if (hints.path.takesBatches && shape === 'event' && typeof events[0]?.event !== 'string') {
    throw invalidFieldError(['batch'], 'The field `batch` must be an array of events', undefined);
  }
  const validated = validateEvents(events, { isShallow });
  requireUsableEvent(validated, shape, hints);
  const token = findProjectApiKey(envelope, events, hints.apiKey);
  const sentAt = envelope?.sent_at ?? envelope?.sentAt;
  const sentAtMs = readSentAt(sentAt, hints.sentAt);
  return {
    token,
    events: validated.valid,
    indexes: validated.indexes,
    drops: validated.drops,
    isHistorical: envelope !== null && readHistorical(envelope),
    sentAtMs,
    unreadableSentAt: sentAtMs === null ? findUnreadableSentAt(sentAt) : undefined,
  };
}

/**
 * Rejects a request in which no event can be stored, because an error is more helpful than 200.
 * @throws AppError for the first invalid event if no event can be stored
 */
function requireUsableEvent(
  { valid, firstFault }: ValidatedEvents,
  shape: Scan['shape'],
  { path }: RequestHints,
): void {
  if (firstFault === null || valid.some((event) => isUsable(event, path.nameForNameless))) return;
  throw toEventError(firstFault.fault, positionIn[shape](firstFault.index));
}

function isUsable(event: ClientEvent, nameForNameless: string | null): boolean {
  return readName(event, nameForNameless) !== null && readDistinctId(event) !== null;
}

function readHistorical(envelope: Fields): boolean {
  const flag = envelope.historical_migration ?? false;
  if (typeof flag !== 'boolean') {
    throw invalidFieldError(['historical_migration'], 'The field `historical_migration` must be a boolean', flag);
  }
  return flag;
}

/**
 * Returns whether any ID in the event is an integer that JavaScript cannot represent exactly. Such an ID must be read
 * as a string.
 */
function hasRoundedId(event: unknown): boolean {
  if (typeof event !== 'object' || event === null) return false;
  return isRounded(readRawDistinctId(event as ClientEvent)) || isRounded(readRawOtherId(event as ClientEvent));
}

function isRounded(id: unknown): boolean {
  return typeof id === 'number' && Number.isInteger(id) && !Number.isSafeInteger(id);
}
