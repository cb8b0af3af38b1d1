import type { JsonObject } from '@millrace/contracts';
import { jsonEqual } from '../intake/json-equal.ts';
import { objectOrEmpty, overlaid, setOwn, withoutKeys } from '../intake/json-object.ts';
import { type LaidOver, propertyOf } from '../intake/laid-over.ts';
import { isFilteredKey } from './person-write-filter.ts';
import { unsetKeys } from './unset-keys.ts';

/** What an event asks to change on its person. */
export interface PersonChange {
  set: JsonObject;
  setOnce: JsonObject;
  unset: readonly string[];
}

export interface PersonUpdate {
  /** The properties afterwards; the same object as before when nothing changed. */
  properties: JsonObject;
  /** False when nothing changed, or only keys the person has and the write filter lists. */
  isWorthWriting: boolean;
}

export function personChange(eventProperties: LaidOver): PersonChange {
  return {
    set: objectOrEmpty(propertyOf(eventProperties, '$set')),
    setOnce: objectOrEmpty(propertyOf(eventProperties, '$set_once')),
    unset: unsetKeys(propertyOf(eventProperties, '$unset')),
  };
}

/** Properties of a person an event creates. The creator cannot be overridden (reference/event-processing.md 6.4). */
export function initialProperties(change: PersonChange, eventUuid: string): JsonObject {
  const properties = overlaid(change.setOnce, change.set);
  properties.$creator_event_uuid = eventUuid;
  return properties;
}

/**
 * `$set_once` fills what is missing or null, `$set` overwrites, `$unset` removes what the person had before the event
 * (reference/event-processing.md 6.3). The given properties are left alone.
 */
export function updateProperties(before: JsonObject, change: PersonChange): PersonUpdate {
  let after: JsonObject | null = null;
  let isWorthWriting = false;
  const put = (key: string, value: unknown): void => {
    after ??= { ...before };
    setOwn(after, key, value);
    isWorthWriting ||= !Object.hasOwn(before, key) || !isFilteredKey(key);
  };
  for (const key of Object.keys(change.setOnce)) {
    const value = change.setOnce[key];
    if (!Object.hasOwn(change.set, key) && isUnfilled(before, key, value)) put(key, value);
  }
  for (const key of Object.keys(change.set)) {
    const value = change.set[key];
    if (!Object.hasOwn(before, key) || !jsonEqual(before[key], value)) put(key, value);
  }
  const removed = change.unset.filter((key) => Object.hasOwn(before, key));
  if (removed.length === 0) return { properties: after ?? before, isWorthWriting };
  return { properties: withoutKeys(after ?? before, new Set(removed)), isWorthWriting: true };
}

function isUnfilled(before: JsonObject, key: string, value: unknown): boolean {
  return !Object.hasOwn(before, key) || (before[key] === null && value !== null);
}
