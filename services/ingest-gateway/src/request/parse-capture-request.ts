import { AppError } from '@millrace/errors';
import type { ClientEvent } from '../event/capture-schema.ts';
import { readDistinctId } from '../event/distinct-id.ts';
import { repairEmptyObjects } from '../event/empty-objects.ts';
import { refusalOf } from '../event/event-fault.ts';
import { readName } from '../event/event-name.ts';
import { invalidField } from '../event/invalid-field.ts';
import type { CapturePath } from '../head/capture-path.ts';
import { cleanValue, mayNeedCleaning } from '../json/clean-text.ts';
import { parseJson, quoteLongNumericIds } from '../json/parse-json.ts';
import { readSentAt, unreadableSentAt } from '../time/sent-at.ts';
import { findProjectApiKey } from './project-api-key.ts';
import { hasRoundedId, isNameless, type RequestShape, readShape, scanShape } from './request-shape.ts';
import { type EventDrop, type ValidatedEvents, validateEvents } from './validate-events.ts';

/** A request whose form is in order. Single events may still turn out to have no name or no id. */
export interface CaptureRequest {
  /** The project API key, well-shaped; whose it is has not been asked yet. */
  token: string;
  /** In the order they were sent, at least one. */
  events: ClientEvent[];
  /** Of a part of a large request: the index of its first event. */
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
 * (docs/wire-rules.md#shapes-of-a-request; every shape is welcome on every path).
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
    throw new AppError('invalid', 'The request holds no event.', {
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
