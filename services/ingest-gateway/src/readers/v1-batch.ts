import { eventNames, isDeeperThan, isLongerThan, isObject, type JsonObject } from '@millrace/contracts';
import { AppError } from '@millrace/runtime';
import { repairEmptyProperties } from '../json/event-fields.ts';
import { cleanValue, mayNeedCleaning, parseJson } from '../json/parse.ts';
import { type DropSample, maxSamples } from './drops.ts';
import { parseZonedTimestamp } from './timestamps.ts';
import type { V1Head } from './v1-request.ts';
import type { ClientEvent } from './validate.ts';

/** A batch after every event was validated by itself. */
export interface ValidatedBatch {
  isHistorical: boolean;
  /** Of every event, as the client wrote it. */
  uuids: string[];
  /** The events that go on. */
  events: ClientEvent[];
  /** For each of them its index in the batch. */
  indexes: number[];
  drops: V1Drop[];
}

/** The events left out for one reason. */
interface V1Drop {
  reason: V1DropReason;
  /** Their indexes in the batch. */
  indexes: number[];
  /** Samples of the first ones, up to the limit. */
  samples: DropSample[];
}

/** Separates the events that can be stored from those that cannot. */
export function validateBatch(batch: V1Batch, sdk: V1Head['sdk']): ValidatedBatch {
  const { isHistorical, events } = batch;
  const validated: ValidatedBatch = { isHistorical, uuids: [], events: [], indexes: [], drops: [] };
  const drops = new Map<V1DropReason, V1Drop>();
  for (const [index, sent] of events.entries()) {
    validated.uuids.push(sent.uuid);
    const reading = readV1Event(sent, sdk);
    if (reading.outcome === 'event') {
      validated.events.push(reading.event);
      validated.indexes.push(index);
      continue;
    }
    const { reason } = reading;
    const drop = drops.get(reason) ?? { reason, indexes: [], samples: [] };
    drops.set(reason, drop);
    drop.indexes.push(index);
    if (drop.samples.length < maxSamples) drop.samples.push(sampleOf(sent, index, reason));
  }
  return { ...validated, drops: [...drops.values()] };
}

function sampleOf({ uuid, fields }: V1Sent, index: number, reason: V1DropReason): DropSample {
  const { event, timestamp } = fields ?? {};
  return {
    index,
    uuid,
    event: typeof event === 'string' ? event : null,
    ...(reason === 'invalid_event_timestamp' ? { timestamp: typeof timestamp === 'string' ? timestamp : null } : {}),
  };
}

type Fields = Record<string, unknown>;

/** One event of a batch as it was sent; only its uuid has been looked at. */
interface V1Sent {
  /** As the client wrote it: by this it looks for the result. */
  uuid: string;
  /** Null when it is nested too deep to be walked through. */
  fields: Fields | null;
}

interface V1Batch {
  /** At least one, no uuid twice. */
  events: V1Sent[];
  isHistorical: boolean;
}

const maxNesting = 64;
const uuidText = /^[0-9a-f]{8}-?(?:[0-9a-f]{4}-?){3}[0-9a-f]{12}$/i;
/** As nearly every client writes it. */
const usualUuidText = /^[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}$/;

/**
 * JSON text to a batch. Only what leaves no way to answer for every event refuses the whole: the envelope, and uuids
 * that are missing or not unique (docs/wire-rules.md#capture-v1).
 *
 * @throws AppError `invalid` with a code of the protocol.
 */
export function parseV1Batch(text: string): V1Batch {
  const parsed = parseJson(text, 'a JSON object with `batch`');
  if (!isObject(parsed)) throw refused('request_parsing_error', 'The body must be a JSON object.', null);
  const { created_at: createdAt, historical_migration: historical = false, batch } = parsed;
  if (!Array.isArray(batch)) throw refused('invalid_batch', 'The field `batch` must be an array of events.', 'batch');
  if (batch.length === 0) throw refused('empty_batch', 'The field `batch` must contain at least one event.', 'batch');
  if (typeof createdAt !== 'string' || parseZonedTimestamp(createdAt) === null) {
    throw refused(
      'invalid_batch',
      'The field `created_at` must be a date and time with a UTC offset (RFC 3339).',
      'created_at',
    );
  }
  if (typeof historical !== 'boolean') {
    throw refused('invalid_batch', 'The field `historical_migration` must be a boolean.', 'historical_migration');
  }
  const isToBeCleaned = mayNeedCleaning(text);
  const seen = new Set<string>();
  const events = batch.map((event: unknown, index): V1Sent => {
    if (!isObject(event)) throw refused('invalid_batch', 'An event must be a JSON object.', `batch__${index}`);
    const uuid = readUuid(event.uuid, index, seen);
    if (isDeeperThan(event, maxNesting)) return { uuid, fields: null };
    if (isToBeCleaned) cleanValue(event);
    return { uuid, fields: event };
  });
  return { events, isHistorical: historical };
}

/** @param seen the uuids before it, in one form. */
function readUuid(uuid: unknown, index: number, seen: Set<string>): string {
  const refuse = (code: string, message: string) => refused(code, message, `batch__${index}__uuid`);
  if (uuid === undefined || uuid === null || uuid === '') {
    throw refuse('missing_event_uuid', 'The field `uuid` is required. Every event needs a unique UUID.');
  }
  if (typeof uuid !== 'string' || !uuidText.test(uuid)) {
    throw refuse('invalid_event_uuid', 'The field `uuid` must be a UUID.');
  }
  const usual = toUsualForm(uuid);
  if (seen.has(usual)) throw refuse('duplicate_event_uuid', 'Two events in the batch have the same UUID.');
  seen.add(usual);
  return uuid;
}

/** The same text when nothing is to be changed: a batch may hold half a million of them. */
function toUsualForm(uuid: string): string {
  if (usualUuidText.test(uuid)) return uuid;
  return uuid
    .toLowerCase()
    .replaceAll('-', '')
    .replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-');
}

function refused(code: string, message: string, attr: string | null): AppError {
  return new AppError('invalid', message, { code, attr });
}

/** Why one event of a batch is not stored (docs/wire-rules.md#capture-v1); the others go on without it. */
type V1DropReason =
  | 'performance_event'
  | 'missing_event_name'
  | 'event_name_too_long'
  | 'missing_distinct_id'
  | 'invalid_distinct_id'
  | 'distinct_id_too_large'
  | 'invalid_event_timestamp'
  | 'malformed_event_properties'
  | 'invalid_options';

type V1Reading = { outcome: 'event'; event: ClientEvent } | { outcome: 'drop'; reason: V1DropReason };

const maxCodePoints = 200;

/** Options of an event and the property each stands for; the other paths have only the properties. */
const optionProperties = {
  process_person_profile: '$process_person_profile',
  cookieless_mode: '$cookieless_mode',
  disable_skew_correction: '$ignore_sent_at',
} as const;

/** One event in the form of the other capture paths, or why it is left out. The first fault decides. */
function readV1Event({ uuid, fields }: V1Sent, sdk: V1Head['sdk']): V1Reading {
  if (fields === null) return drop('malformed_event_properties');
  const { event: name, distinct_id: distinctId, timestamp, properties = {} } = fields;
  if (name === eventNames.performance) return drop('performance_event');
  if (typeof name !== 'string' || name === '') return drop('missing_event_name');
  if (isLongerThan(name, maxCodePoints)) return drop('event_name_too_long');
  if (distinctId === undefined || distinctId === null) return drop('missing_distinct_id');
  if (typeof distinctId !== 'string') return drop('invalid_distinct_id');
  const id = distinctId.trim();
  if (id === '') return drop('missing_distinct_id');
  if (isLongerThan(id, maxCodePoints)) return drop('distinct_id_too_large');
  if (typeof timestamp !== 'string' || parseZonedTimestamp(timestamp) === null) return drop('invalid_event_timestamp');
  if (!isObject(properties) || !haveObjects(properties)) return drop('malformed_event_properties');
  const restored = restoreProperties(fields);
  if (restored === null) return drop('invalid_options');
  repairEmptyProperties(properties);
  const lib = { $lib: sdk.name, $lib_version: sdk.version };
  return {
    outcome: 'event',
    event: { uuid, event: name, distinct_id: id, timestamp, properties: { ...lib, ...properties, ...restored } },
  };
}

/**
 * Properties that the client has moved elsewhere, back among the properties; null when an option is of a wrong type.
 */
function restoreProperties({ session_id, window_id, options }: Record<string, unknown>): JsonObject | null {
  if (options !== undefined && options !== null && !isObject(options)) return null;
  const restored: JsonObject = {};
  if (typeof session_id === 'string') restored.$session_id = session_id;
  if (typeof window_id === 'string') restored.$window_id = window_id;
  const given = (options ?? {}) as Record<string, unknown>;
  for (const [option, property] of Object.entries(optionProperties)) {
    const value = given[option];
    if (value === undefined || value === null) continue;
    const flag = readFlag(value);
    if (flag === null) return null;
    restored[property] = flag;
  }
  const tour = given.product_tour_id ?? null;
  if (tour !== null && typeof tour !== 'string') return null;
  if (tour !== null) restored.$product_tour_id = tour;
  return restored;
}

/** Clients write flags as booleans, numbers or words. */
function readFlag(value: unknown): boolean | null {
  if (typeof value === 'boolean') return value;
  if (typeof value === 'number') return value !== 0;
  const word = typeof value === 'string' ? value.trim().toLowerCase() : '';
  if (word === 'true' || word === '1') return true;
  return word === 'false' || word === '0' ? false : null;
}

/** The properties that must be objects wherever they are. */
function haveObjects({ $set, $set_once }: JsonObject): boolean {
  return [$set, $set_once].every((value) => value === undefined || value === null || isObject(value));
}

function drop(reason: V1DropReason): V1Reading {
  return { outcome: 'drop', reason };
}
