// Rules for changing person properties: `$set`, `$set_once`, `$unset` and the size limit.

import { eventNames, isObject, type JsonObject } from '@millrace/contracts';
import type { IncomingEvent } from '../model/event.ts';
import type { RuleWarning } from '../model/warning.ts';
import { jsonEqual, mergeObjects, objectOrEmpty, setOwn } from '../values/json.ts';
import { type Overlay, readProperty } from '../values/properties.ts';
import type { PropertyChange } from '../values/sized-properties.ts';

export interface PersonChange {
  set: JsonObject;
  setOnce: JsonObject;
  unset: readonly string[];
}

interface PersonUpdate extends PropertyChange {
  isChange: boolean;
  /** Whether to write the change. A change that affects only existing keys of `filteredKeys` is not written. */
  isWorthWriting: boolean;
}

export function readPersonChange(eventProperties: Overlay): PersonChange {
  return {
    set: objectOrEmpty(readProperty(eventProperties, '$set')),
    setOnce: objectOrEmpty(readProperty(eventProperties, '$set_once')),
    unset: readUnsetKeys(readProperty(eventProperties, '$unset')),
  };
}

/**
 * Returns the initial properties of a person that an event creates. Clients cannot overwrite the property that names
 * the creating event (docs/ingestion-rules.md#person-properties).
 */
export function createInitialProperties(change: PersonChange, eventUuid: string): JsonObject {
  const properties = mergeObjects(change.setOnce, change.set);
  properties.$creator_event_uuid = eventUuid;
  return properties;
}

/**
 * Plans an update. `$set_once` sets missing or null properties, `$set` overwrites properties, and `$unset` removes
 * properties that existed before the event (docs/ingestion-rules.md#person-properties). Does not modify the given
 * properties.
 */
export function planUpdate(before: JsonObject, change: PersonChange): PersonUpdate {
  const put: JsonObject = {};
  const removed = new Set(change.unset.filter((key) => Object.hasOwn(before, key)));
  let isChange = removed.size > 0;
  let isWorthWriting = isChange;
  const add = (key: string, value: unknown): void => {
    if (removed.has(key)) return;
    setOwn(put, key, value);
    isChange = true;
    isWorthWriting ||= !Object.hasOwn(before, key) || !isFilteredKey(key);
  };
  for (const key of Object.keys(change.setOnce)) {
    const value = change.setOnce[key];
    if (!Object.hasOwn(change.set, key) && isUnfilled(before, key, value)) add(key, value);
  }
  for (const key of Object.keys(change.set)) {
    const value = change.set[key];
    if (!Object.hasOwn(before, key) || !jsonEqual(before[key], value)) add(key, value);
  }
  return { put, removed: [...removed], isChange, isWorthWriting };
}

function isUnfilled(before: JsonObject, key: string, value: unknown): boolean {
  return !Object.hasOwn(before, key) || (before[key] === null && value !== null);
}

/** Returns the keys in `$unset`: an array's strings or an object's keys. Ignores all other values. */
export function readUnsetKeys(unset: unknown): string[] {
  if (Array.isArray(unset)) return unset.filter((key) => typeof key === 'string');
  return isObject(unset) ? Object.keys(unset) : [];
}

/**
 * Properties that describe the current visit and not the person. An event that changes only these properties does not
 * rewrite the person, because otherwise every page view on a busy site would. The event's row still contains them
 * (docs/ingestion-rules.md#person-properties). Country, city, app versions, campaigns and initial properties are
 * intentionally not listed.
 */
const filteredKeys = new Set([
  '$current_url',
  '$pathname',
  '$referring_domain',
  '$referrer',
  '$screen_height',
  '$screen_width',
  '$viewport_height',
  '$viewport_width',
  '$browser',
  '$browser_version',
  '$device_type',
  '$raw_user_agent',
  '$os',
  '$os_name',
  '$os_version',
  '$geoip_postal_code',
  '$geoip_time_zone',
  '$geoip_latitude',
  '$geoip_longitude',
  '$geoip_accuracy_radius',
  '$geoip_subdivision_1_code',
  '$geoip_subdivision_2_code',
  '$geoip_subdivision_3_code',
  '$geoip_subdivision_1_name',
  '$geoip_subdivision_2_name',
  '$geoip_subdivision_3_name',
  '$geoip_city_confidence',
  '$geoip_country_confidence',
  '$geoip_postal_code_confidence',
  '$geoip_subdivision_1_confidence',
  '$geoip_subdivision_2_confidence',
]);

/** Events that are about a person, and whose changes are always written. */
const personEvents = new Set<string>([
  eventNames.identify,
  eventNames.createAlias,
  eventNames.mergeDangerously,
  eventNames.set,
]);

/** Events that do not describe the person. They can create a person, but never update one. */
const neverUpdating = new Set<string>([eventNames.exception, eventNames.heatmap]);

function isFilteredKey(key: string): boolean {
  return filteredKeys.has(key);
}

export function isPersonEvent(name: string): boolean {
  return personEvents.has(name);
}

export function neverUpdatesPerson(name: string): boolean {
  return neverUpdating.has(name);
}

/** The maximum size of a person's properties in bytes of JSON (docs/ingestion-rules.md#person-properties). */
export const maxPersonPropertiesBytes = 655_360;

/**
 * The maximum size of person properties in an event's row, in bytes of JSON. For a larger person, the row contains only
 * what the event itself changed. Otherwise, five hundred events of a hundred bytes could each store another copy of the
 * same hundreds of kilobytes.
 */
export const maxShownBytes = 65_536;

export function isOverSizeLimit(bytes: number): boolean {
  return bytes > maxPersonPropertiesBytes;
}

export function personSizeWarning(event: IncomingEvent, personUuid: string): RuleWarning {
  return {
    type: 'person_properties_size_violation',
    details: {
      eventUuid: event.uuid,
      event: event.event,
      distinctId: event.distinctId,
      personId: personUuid,
      maxBytes: maxPersonPropertiesBytes,
    },
  };
}

export function personNotShownWarning(event: IncomingEvent, personUuid: string): RuleWarning {
  return {
    type: 'person_properties_not_shown',
    details: {
      eventUuid: event.uuid,
      event: event.event,
      distinctId: event.distinctId,
      personId: personUuid,
      maxBytes: maxShownBytes,
    },
  };
}
