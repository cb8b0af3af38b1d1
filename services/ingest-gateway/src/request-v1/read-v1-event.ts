import { eventNames, isLongerThan, isObject, type JsonObject } from '@millrace/contracts';
import type { ClientEvent } from '../event/capture-schema.ts';
import { repairEmptyProperties } from '../event/empty-objects.ts';
import { parseZonedTimestamp } from '../time/parse-timestamp.ts';
import type { V1Sent } from './parse-v1-batch.ts';
import type { V1Head } from './v1-head.ts';

/** Why one event of a batch is not stored (docs/wire-rules.md#capture-v1); the others go on without it. */
export type V1DropReason =
  | 'performance_event'
  | 'missing_event_name'
  | 'event_name_too_long'
  | 'missing_distinct_id'
  | 'invalid_distinct_id'
  | 'distinct_id_too_large'
  | 'invalid_event_timestamp'
  | 'malformed_event_properties'
  | 'invalid_options';

export type V1Reading = { outcome: 'event'; event: ClientEvent } | { outcome: 'drop'; reason: V1DropReason };

const maxCodePoints = 200;

/** Options of an event and the property each stands for; the other paths have only the properties. */
const optionProperties = {
  process_person_profile: '$process_person_profile',
  cookieless_mode: '$cookieless_mode',
  disable_skew_correction: '$ignore_sent_at',
} as const;

/** One event in the form of the other capture paths, or why it is left out. The first fault decides. */
export function readV1Event({ uuid, fields }: V1Sent, sdk: V1Head['sdk']): V1Reading {
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
