// Parses and validates the events of a Capture v1 request.

import { eventNames, isDeeperThan, isLongerThan, isObject, type JsonObject } from '@millrace/contracts';
import { AppError } from '@millrace/runtime';
import { repairEmptyProperties } from '../json/event-fields.ts';
import { cleanValue, mayNeedCleaning, parseJson } from '../json/parse.ts';
import type { ClientEvent } from './client-event.ts';
import { type DropSample, maxSamples } from './drops.ts';
import { parseZonedTimestamp } from './event-time.ts';
import type { V1Head } from './v1-request.ts';

export interface ValidatedBatch {
  isHistorical: boolean;
  uuids: string[];
  events: ClientEvent[];
  indexes: number[];
  drops: V1Drop[];
}

interface V1Drop {
  reason: V1DropReason;
  indexes: number[];
  /** The first dropped events, up to `maxSamples`. */
  samples: DropSample[];
}

export function validateBatch(batch: V1Batch, sdk: V1Head['sdk']): ValidatedBatch {
  const { isHistorical, events } = batch;
  const validated: ValidatedBatch = { isHistorical, uuids: [], events: [], indexes: [], drops: [] };
  const drops = new Map<V1DropReason, V1Drop>();
  for (const [index, sent] of events.entries()) {
    validated.uuids.push(sent.uuid);
    const result = readV1Event(sent, sdk);
    if (result.outcome === 'event') {
      validated.events.push(result.event);
      validated.indexes.push(index);
      continue;
    }
    const { reason } = result;
    const drop = drops.get(reason) ?? { reason, indexes: [], samples: [] };
    drops.set(reason, drop);
    drop.indexes.push(index);
    if (drop.samples.length < maxSamples) drop.samples.push(sampleOf(sent, index, reason));
  }
  return { ...validated, drops: [...drops.values()] };
}

function sampleOf({ uuid, fields }: SentEvent, index: number, reason: V1DropReason): DropSample {
  const { event, timestamp } = fields ?? {};
  return {
    index,
    uuid,
    event: typeof event === 'string' ? event : null,
    ...(reason === 'invalid_event_timestamp' ? { timestamp: typeof timestamp === 'string' ? timestamp : null } : {}),
  };
}

type Fields = Record<string, unknown>;

/** An event of a batch before validation. Only its UUID has been validated. */
interface SentEvent {
  /** The UUID as the client sent it, because the client looks up the result by this string. */
  uuid: string;
  /** The event's fields, or null if the event is nested too deeply. */
  fields: Fields | null;
}

interface V1Batch {
  /** The batch's events (at least one). All UUIDs are distinct. */
  events: SentEvent[];
  isHistorical: boolean;
}

const maxNesting = 64;
const uuidText = /^[0-9a-f]{8}-?(?:[0-9a-f]{4}-?){3}[0-9a-f]{12}$/i;
const canonicalUuidText = /^[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}$/;

/**
 * Parses a batch. Rejects the request only if the response could not contain a result for each event: because the
 * envelope is invalid, or a UUID is missing or occurs twice (docs/wire-rules.md#capture-v1).
 * @throws AppError `invalid` with a Capture v1 error code
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
  const needsCleaning = mayNeedCleaning(text);
  const seen = new Set<string>();
  const events = batch.map((event: unknown, index): SentEvent => {
    if (!isObject(event)) throw refused('invalid_batch', 'An event must be a JSON object.', `batch__${index}`);
    const uuid = readUuid(event.uuid, index, seen);
    if (isDeeperThan(event, maxNesting)) return { uuid, fields: null };
    if (needsCleaning) cleanValue(event);
    return { uuid, fields: event };
  });
  return { events, isHistorical: historical };
}

/**
 * Reads an event's UUID. Rejects the request if it is missing, malformed, or used by a previous event.
 * @param seen the UUIDs of the previous events, in canonical form
 */
function readUuid(uuid: unknown, index: number, seen: Set<string>): string {
  const refuse = (code: string, message: string) => refused(code, message, `batch__${index}__uuid`);
  if (uuid === undefined || uuid === null || uuid === '') {
    throw refuse('missing_event_uuid', 'The field `uuid` is required. Every event needs a unique UUID.');
  }
  if (typeof uuid !== 'string' || !uuidText.test(uuid)) {
    throw refuse('invalid_event_uuid', 'The field `uuid` must be a UUID.');
  }
  const canonical = toCanonicalForm(uuid);
  if (seen.has(canonical)) throw refuse('duplicate_event_uuid', 'Two events in the batch have the same UUID.');
  seen.add(canonical);
  return uuid;
}

/**
 * Returns a UUID in canonical form. Returns the same string if possible, because a batch can contain half a million
 * UUIDs.
 */
function toCanonicalForm(uuid: string): string {
  if (canonicalUuidText.test(uuid)) return uuid;
  return uuid
    .toLowerCase()
    .replaceAll('-', '')
    .replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-');
}

function refused(code: string, message: string, attr: string | null): AppError {
  return new AppError('invalid', message, { code, attr });
}

/** Why an event of a batch is not stored (docs/wire-rules.md#capture-v1). The batch's other events are stored. */
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

type V1Result = { outcome: 'event'; event: ClientEvent } | { outcome: 'drop'; reason: V1DropReason };

const maxCodePoints = 200;

/**
 * The property that each option of an event sets. On the other capture paths, clients send these properties directly.
 */
const optionProperties = {
  process_person_profile: '$process_person_profile',
  cookieless_mode: '$cookieless_mode',
  disable_skew_correction: '$ignore_sent_at',
} as const;

/**
 * Converts a v1 event to the representation that all capture protocols share, or returns the first reason to drop it.
 */
function readV1Event({ uuid, fields }: SentEvent, sdk: V1Head['sdk']): V1Result {
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

/** Returns null if an option has a wrong type. */
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

/** Reads a flag that clients send as a boolean, a number or a string. Returns null if it is invalid. */
function readFlag(value: unknown): boolean | null {
  if (typeof value === 'boolean') return value;
  if (typeof value === 'number') return value !== 0;
  const word = typeof value === 'string' ? value.trim().toLowerCase() : '';
  if (word === 'true' || word === '1') return true;
  return word === 'false' || word === '0' ? false : null;
}

function haveObjects({ $set, $set_once }: JsonObject): boolean {
  return [$set, $set_once].every((value) => value === undefined || value === null || isObject(value));
}

function drop(reason: V1DropReason): V1Result {
  return { outcome: 'drop', reason };
}
