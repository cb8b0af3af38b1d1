import { AppError } from '@millrace/errors';
import { type ClientEvent, findFieldProblem } from './capture-schema.ts';
import { cleanValue, mayNeedCleaning } from './clean-text.ts';
import { rawDistinctId } from './distinct-id.ts';
import { slotsPerEvent } from './event-fields.ts';
import { isDeeperThan } from './nesting.ts';
import { parseJson, quoteLongNumericIds } from './parse-json.ts';
import { findProjectApiKey } from './project-api-key.ts';
import { readEnvelope, readScannedEvent } from './read-scanned-event.ts';
import { createScanner } from './scan-request.ts';
import { readSentAt, unreadableSentAt } from './sent-at.ts';

/** A request whose form is in order. Single events may still turn out to have no name or no id. */
export interface CaptureRequest {
  /** The project API key, well-shaped; whose it is has not been asked yet. */
  token: string;
  /** In the order they were sent, at least one. */
  events: ClientEvent[];
  /** Of a part of a large request: the place of its first event. */
  firstIndex?: number;
  /** Places of events nested too deep to be looked at: they are dropped alone, and only their name and uuid is left. */
  tooDeep?: number[];
  /** True only when the batch says so. */
  isHistorical: boolean;
  /** When the client sent the request by its own clock, milliseconds since the epoch; null when it does not say. */
  sentAtMs: number | null;
  /** What the batch says about it, if that cannot be read and nothing else is said. */
  unreadableSentAt?: string | undefined;
}

/** What a request says outside its JSON text. */
export interface RequestHints {
  /** Key from a form field, or from the query of a GET. */
  apiKey: string | null;
  /** Query parameter `_`. */
  sentAt: string | null;
}

type Fields = Record<string, unknown>;

const maxNesting = 64;

/**
 * Station 3: JSON text to a request, by its shape: an array of events, `{api_key, batch: [...]}`, or one event
 * (reference/ingest-wire.md section 3.1; every shape is welcome on every path).
 *
 * @throws AppError `invalid` naming the field (`batch__3__properties`), `unauthenticated` for a missing or malformed key.
 */
export function parseCaptureRequest(json: Buffer, hints: RequestHints): CaptureRequest {
  const scanned = readScan(json);
  return scanned === null ? parseText(json.toString('utf8'), hints) : toRequest(scanned, hints);
}

/** What a scan cannot take, and what is to be refused with the reason. */
function parseText(text: string, hints: RequestHints): CaptureRequest {
  let shape = readShape(parseJson(text));
  if (shape.events.some(hasRoundedId)) shape = readShape(parseJson(quoteLongNumericIds(text)));
  const request = toRequest(shape, hints);
  // After the key was read: a NUL in it has its own answer.
  if (mayNeedCleaning(text)) for (const event of request.events) cleanValue(event);
  return request;
}

function toRequest(shape: Shape, hints: RequestHints): CaptureRequest {
  const { envelope, events, isShallow } = shape;
  if (events.length === 0) {
    throw new AppError('invalid', 'The request holds no event.', {
      code: 'no_events',
      attr: envelope ? 'batch' : null,
    });
  }
  const tooDeep: number[] = [];
  for (let i = 0; i < events.length; i++) {
    checkEvent(events[i], shape, i);
    if (!isShallow && isDeeperThan(events[i], maxNesting)) tooDeep.push(i);
  }
  // Alone there is nobody to lose by it, and a refusal tells the sender more than a silent drop.
  if (tooDeep.length === 1 && events.length === 1) throw nestedTooDeep(shape);
  const token = findProjectApiKey(envelope, events, hints.apiKey);
  const sentAt = envelope?.sent_at ?? envelope?.sentAt;
  const sentAtMs = readSentAt(sentAt, hints.sentAt);
  for (const index of tooDeep) events[index] = remains(events[index]);
  return {
    token,
    ...(tooDeep.length === 0 ? {} : { tooDeep }),
    events: events as ClientEvent[],
    isHistorical: envelope !== null && readHistorical(envelope),
    sentAtMs,
    unreadableSentAt: sentAtMs === null ? unreadableSentAt(sentAt) : undefined,
  };
}

interface Shape {
  /** The object around a batch, null for the other shapes. */
  envelope: Fields | null;
  events: Fields[];
  /** True when no event can be nested too deep. */
  isShallow: boolean;
  /** How an event's place is written in `attr`. */
  placeOf(index: number): string[];
}

const placeIn = {
  event: () => [],
  array: (index: number) => [String(index)],
  batch: (index: number) => ['batch', String(index)],
};

const scan = createScanner();

/** Null when it is not the usual: then parsing says more. */
function readScan(json: Buffer): Shape | null {
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
  return { envelope, events, isShallow: true, placeOf: placeIn[shape] };
}

function readShape(parsed: unknown): Shape {
  const isShallow = false;
  if (Array.isArray(parsed)) return { envelope: null, events: parsed, isShallow, placeOf: placeIn.array };
  if (typeof parsed !== 'object' || parsed === null) {
    throw invalidField([], 'The body must be a JSON object or array', parsed);
  }
  const object = parsed as Fields;
  if (Array.isArray(object.batch)) {
    return { envelope: object, events: object.batch, isShallow, placeOf: placeIn.batch };
  }
  if ('batch' in object && typeof object.event !== 'string') {
    throw invalidField(['batch'], 'The field `batch` must be an array of events', object.batch);
  }
  return { envelope: null, events: [object], isShallow, placeOf: placeIn.event };
}

function hasRoundedId(event: unknown): boolean {
  if (typeof event !== 'object' || event === null) return false;
  const id = rawDistinctId(event as ClientEvent);
  return typeof id === 'number' && Number.isInteger(id) && !Number.isSafeInteger(id);
}

function checkEvent(event: unknown, shape: Shape, index: number): void {
  if (typeof event !== 'object' || event === null || Array.isArray(event)) {
    throw invalidField(shape.placeOf(index), 'An event must be a JSON object', event);
  }
  const problem = findFieldProblem(event);
  if (problem !== null) {
    const name = problem.path.join('.');
    const value = problem.path.reduce<unknown>((at, part) => (at as Fields)[part], event);
    throw invalidField(
      [...shape.placeOf(index), ...problem.path],
      `The field \`${name}\` must be ${problem.expected}`,
      value,
    );
  }
}

/** What may be kept of an event that nothing may walk through. */
function remains(event: Fields | undefined): Fields {
  return { event: typeof event?.event === 'string' ? event.event : null, uuid: event?.uuid };
}

function nestedTooDeep(shape: Shape): AppError {
  return new AppError('invalid', `The event is nested deeper than ${maxNesting} levels.`, {
    code: 'too_deep',
    attr: shape.placeOf(0).join('__') || null,
  });
}

function readHistorical(envelope: Fields): boolean {
  const flag = envelope.historical_migration ?? false;
  if (typeof flag !== 'boolean') {
    throw invalidField(['historical_migration'], 'The field `historical_migration` must be a boolean', flag);
  }
  return flag;
}

/** @param value only its type goes into the message, never what is in it. */
function invalidField(path: string[], sentence: string, value: unknown): AppError {
  const type = value === null ? 'null' : Array.isArray(value) ? 'array' : typeof value;
  const received = typeof value === 'string' && sentence.endsWith('UUID') ? '' : `, not ${type}`;
  return new AppError('invalid', `${sentence}${received}.`, {
    code: 'invalid_payload',
    attr: path.join('__') || null,
  });
}
