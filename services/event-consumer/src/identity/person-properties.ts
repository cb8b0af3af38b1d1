import type { JsonObject } from '@millrace/contracts';
import { jsonEqual } from '../values/json-equal.ts';
import { objectOrEmpty, overlaid, setOwn } from '../values/json-object.ts';
import { type Overlay, propertyOf } from '../values/overlay.ts';
import type { PropertyChange } from '../values/sized-properties.ts';
import { isFilteredKey } from './person-write-filter.ts';
import { unsetKeys } from './unset-keys.ts';

/** What an event asks to change on its person. */
export interface PersonChange {
  set: JsonObject;
  setOnce: JsonObject;
  unset: readonly string[];
}

export interface PersonUpdate extends PropertyChange {
  /** False when nothing is put and nothing removed. */
  isChange: boolean;
  /** False when nothing changed, or only keys the person has and the write filter lists. */
  isWorthWriting: boolean;
}

export function personChange(eventProperties: Overlay): PersonChange {
  return {
    set: objectOrEmpty(propertyOf(eventProperties, '$set')),
    setOnce: objectOrEmpty(propertyOf(eventProperties, '$set_once')),
    unset: unsetKeys(propertyOf(eventProperties, '$unset')),
  };
}

/**
 * Properties of a person an event creates. The creator cannot be overridden
 * (docs/ingestion-rules.md#person-properties).
 */
export function initialProperties(change: PersonChange, eventUuid: string): JsonObject {
  const properties = overlaid(change.setOnce, change.set);
  properties.$creator_event_uuid = eventUuid;
  return properties;
}

/**
 * `$set_once` fills what is missing or null, `$set` overwrites, `$unset` removes what the person had before the event
 * (docs/ingestion-rules.md#person-properties). The given properties are left alone.
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
