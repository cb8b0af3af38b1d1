// Rules for groups: which groups an event belongs to, and how events create and change groups.

import { cutToCodePoints, eventNames, isLongerThan, isObject, type JsonObject } from '@millrace/contracts';
import type { IncomingEvent } from '../model/event.ts';
import { type GroupUpdate, type ProjectLedger, setGroupType } from '../model/ledger.ts';
import type { RuleWarning } from '../model/warning.ts';
import { jsonEqual, setOwn } from '../values/json.ts';
import {
  applyChange,
  noChange,
  replaceProperties,
  type SizedProperties,
  sizeAfterChange,
} from '../values/sized-properties.ts';
import { maxIdCharacters } from '../values/text.ts';
import type { PersonProcessing } from './person-processing.ts';
import { warnAboutRoundedIntegers } from './rounded-integers.ts';

interface GroupOutcome {
  /** An overlay for the event's stored properties, or null if no property is added. */
  groupProperties: JsonObject | null;
  warnings: RuleWarning[];
}

/**
 * Determines the groups of an event, and updates the group that it describes. An anonymous event has no groups, but can
 * describe one (docs/ingestion-rules.md#groups).
 */
export function applyGroups(event: IncomingEvent, processing: PersonProcessing, ledger: ProjectLedger): GroupOutcome {
  const keys = processing === 'full' ? groupKeys(event, ledger) : null;
  const warnings = event.event === eventNames.groupIdentify ? groupIdentify(event, ledger) : [];
  return { groupProperties: keys?.properties ?? null, warnings: [...(keys?.warnings ?? []), ...warnings] };
}

/**
 * Handles `$groupidentify`, the only event that creates or updates a group (docs/ingestion-rules.md#groups). An event
 * without a group, with a sixth group type or with an invalid `$group_set` is stored, but writes no group.
 */
function groupIdentify(event: IncomingEvent, ledger: ProjectLedger): RuleWarning[] {
  const target = readGroupIdentifyTarget(event.properties);
  if (target === null) return [];
  const groupSet = event.properties.$group_set ?? {};
  if (!isObject(groupSet)) return [invalidGroupSet(event, groupSet)];
  if (isGroupTypeTooLong(target.type)) return [groupTypesTooLong(event, [target.type])];
  const index = resolveGroupType(target.type, event.timestampMs, ledger);
  if (index === null) return [tooManyGroupTypes(event, [target.type])];
  // Use the earlier of the two times. If a client's clock is ahead, the group's creation time would otherwise be in the
  // future.
  const createdAtMs = Math.min(event.timestampMs, event.capturedAtMs);
  const { uuid, event: name, distinctId, capturedAtMs } = event;
  const from = { uuid, event: name, distinctId, capturedAtMs };
  ledger.groupUpdates.push({ index, key: target.key, groupSet, createdAtMs, from });
  return warnAboutRoundedIntegers(groupSet, event);
}

function invalidGroupSet(event: IncomingEvent, groupSet: unknown): RuleWarning {
  const receivedType = Array.isArray(groupSet) ? 'array' : typeof groupSet;
  const details = { eventUuid: event.uuid, event: event.event, distinctId: event.distinctId, receivedType };
  return { type: 'invalid_group_set', details };
}

/**
 * The group in a `$groupidentify` event, with type and key as the client sent them. Callers must check their length.
 */
export interface GroupIdentifyTarget {
  type: string;
  key: string;
}

/**
 * Reads `$group_type` and `$group_key`. Returns null if the type or the key is missing, empty, 0, or neither a string
 * nor a number (docs/ingestion-rules.md#groups).
 */
export function readGroupIdentifyTarget(properties: JsonObject): GroupIdentifyTarget | null {
  const type = nameOf(properties.$group_type);
  const key = nameOf(properties.$group_key);
  return type === '' || key === '' ? null : { type, key };
}

function nameOf(value: unknown): string {
  if (typeof value === 'string') return value;
  return typeof value === 'number' && Number.isFinite(value) && value !== 0 ? String(value) : '';
}

/** The properties `$group_0`, `$group_1`, … that are added to an event. */
interface GroupKeys {
  properties: JsonObject;
  warnings: RuleWarning[];
}

/**
 * Reads an event's `$groups`, and returns the group key of each type as `$group_<index>`. Creates new types, but never
 * a group (docs/ingestion-rules.md#groups). Returns null if the event has no groups.
 */
function groupKeys(event: IncomingEvent, ledger: ProjectLedger): GroupKeys | null {
  const groups = event.properties.$groups;
  if (!isObject(groups)) return null;
  const properties: JsonObject = {};
  const tooLong: string[] = [];
  const tooMany: string[] = [];
  for (const [type, key] of Object.entries(groups)) {
    const index = resolveGroupType(type, event.timestampMs, ledger);
    if (index !== null) properties[`$group_${index}`] = key;
    else if (isGroupTypeTooLong(type)) tooLong.push(type);
    else if (type !== '') tooMany.push(type);
  }
  const warnings = tooLong.length === 0 ? [] : [groupTypesTooLong(event, tooLong)];
  if (tooMany.length > 0) warnings.push(tooManyGroupTypes(event, tooMany));
  return { properties, warnings };
}

/**
 * The maximum number of group types in a project. Their indexes are 0 to 4, and the keys of an event's groups are in
 * its properties `$group_0` to `$group_4`.
 */
const maxGroupTypes = 5;

/**
 * Returns whether the name of a group type is too long. Such a type gets no index, because storing it would make the
 * batch fail (docs/ingestion-rules.md#groups).
 */
function isGroupTypeTooLong(type: string): boolean {
  return isLongerThan(type, maxIdCharacters);
}

/**
 * Returns the index of a group type. A new type gets the lowest free index. Returns null if all five are used or the
 * type is empty or too long. If a type is too long or the sixth one, the caller adds a warning
 * (docs/ingestion-rules.md#groups).
 */
function resolveGroupType(type: string, createdAtMs: number, ledger: ProjectLedger): number | null {
  const known = ledger.groupTypes.get(type);
  if (known !== undefined) return known.index;
  if (type === '' || isGroupTypeTooLong(type)) return null;
  const index = lowestFreeIndex(ledger);
  if (index !== null) setGroupType(ledger, type, { index, createdAtMs, isNew: true });
  return index;
}

function lowestFreeIndex(ledger: ProjectLedger): number | null {
  const taken = new Set(Array.from(ledger.groupTypes.values(), (groupType) => groupType.index));
  for (let index = 0; index < maxGroupTypes; index += 1) {
    if (!taken.has(index)) return index;
  }
  return null;
}

/** The maximum size of a group's properties in bytes of JSON, which is also the limit for persons. */
const maxGroupPropertiesBytes = 655_360;

export interface GroupState extends SizedProperties {
  index: number;
  key: string;
  version: number;
  createdAtMs: number;
  isNew: boolean;
  isDirty: boolean;
}

export type GroupStates = Map<string, GroupState>;

/** Returns a map key for a group. It includes the index, because groups of different types can have the same key. */
export function toGroupStateKey({ index, key }: { index: number; key: string }): string {
  return `${index}:${key}`;
}

/**
 * Applies updates to the groups of one project in order. Creates missing groups, and replaces individual properties of
 * existing groups. An update without changes writes nothing and keeps the version (docs/ingestion-rules.md#groups).
 * @returns updates that were not applied because they would make their group too large. A new group is then created
 * without properties, like a person.
 */
export function coalesceGroupUpdates(updates: readonly GroupUpdate[], groups: GroupStates): GroupUpdate[] {
  const tooLarge: GroupUpdate[] = [];
  for (const update of updates) {
    const group = groups.get(toGroupStateKey(update));
    const isApplied = group === undefined ? createGroup(update, groups) : updateGroup(group, update);
    if (!isApplied) tooLarge.push(update);
  }
  return tooLarge;
}

/** Creates the group of an update. Returns false if its properties are too large and were left out. */
function createGroup(update: GroupUpdate, groups: GroupStates): boolean {
  const { index, key, groupSet, createdAtMs } = update;
  const group: GroupState = {
    index,
    key,
    version: 1,
    createdAtMs,
    isNew: true,
    isDirty: true,
    properties: { ...groupSet },
  };
  groups.set(toGroupStateKey(update), group);
  if (sizeAfterChange(group, noChange, maxGroupPropertiesBytes) <= maxGroupPropertiesBytes) return true;
  replaceProperties(group, {});
  return false;
}

/** Applies an update to an existing group. Returns false if the group would become too large and was not changed. */
function updateGroup(group: GroupState, { groupSet, createdAtMs }: GroupUpdate): boolean {
  const put = differing(groupSet, group.properties);
  if (Object.keys(put).length === 0) return true;
  const update = { put, removed: [] };
  if (sizeAfterChange(group, update, maxGroupPropertiesBytes) > maxGroupPropertiesBytes) return false;
  applyChange(group, update);
  group.version += 1;
  group.createdAtMs = Math.min(group.createdAtMs, createdAtMs);
  group.isDirty = true;
  return true;
}

function differing(groupSet: JsonObject, before: JsonObject): JsonObject {
  const put: JsonObject = {};
  for (const key of Object.keys(groupSet)) {
    if (!Object.hasOwn(before, key) || !jsonEqual(before[key], groupSet[key])) setOwn(put, key, groupSet[key]);
  }
  return put;
}

/** The maximum number of characters of a name in a warning, which is enough to recognize the name. */
const shownCharacters = 100;

function groupTypesTooLong(event: IncomingEvent, groupTypes: readonly string[]): RuleWarning {
  const details = { ...aboutGroupTypes(event, groupTypes), maxCharacters: maxIdCharacters };
  return { type: 'group_type_too_long', details };
}

function tooManyGroupTypes(event: IncomingEvent, groupTypes: readonly string[]): RuleWarning {
  return { type: 'group_type_limit_exceeded', details: { ...aboutGroupTypes(event, groupTypes), maxGroupTypes } };
}

function aboutGroupTypes({ uuid: eventUuid, event, distinctId }: IncomingEvent, groupTypes: readonly string[]) {
  const shown = groupTypes.slice(0, 5).map((type) => cutToCodePoints(type, shownCharacters));
  return { eventUuid, event, distinctId, groupTypes: shown };
}

export function groupKeyTooLongWarning(event: IncomingEvent, groupKey: string): RuleWarning {
  return {
    type: 'group_key_too_long',
    details: {
      eventUuid: event.uuid,
      event: event.event,
      distinctId: event.distinctId,
      groupKey: cutToCodePoints(groupKey, shownCharacters),
      maxCharacters: maxIdCharacters,
    },
  };
}

export function groupSizeWarning({ from, index, key }: GroupUpdate): RuleWarning {
  return {
    type: 'group_properties_size_violation',
    details: {
      eventUuid: from.uuid,
      event: from.event,
      distinctId: from.distinctId,
      groupTypeIndex: index,
      groupKey: cutToCodePoints(key, shownCharacters),
      maxBytes: maxGroupPropertiesBytes,
    },
  };
}
