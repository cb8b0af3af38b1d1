import { cutToCodePoints, eventNames, isLongerThan, isObject, type JsonObject } from '@millrace/contracts';
import type { IncomingEvent } from '../model/event.ts';
import { type GroupUpdate, type ProjectLedger, setGroupType } from '../model/ledger.ts';
import type { RuleWarning } from '../model/warning.ts';
import { jsonEqual, setOwn } from '../values/json.ts';
import { bytesAfter, change, noChange, replaceProperties, type SizedProperties } from '../values/sized-properties.ts';
import { maxIdCharacters } from '../values/text.ts';
import type { PersonProcessing } from './person-processing.ts';
import { roundedIntegers } from './rounded-integers.ts';

interface GroupOutcome {
  /** Overlay for the properties the event is stored with; null when there is nothing to add. */
  groupProperties: JsonObject | null;
  warnings: RuleWarning[];
}

/**
 * Resolves the groups an event belongs to and writes the group it describes. An anonymous event belongs to no groups,
 * but may describe one (docs/ingestion-rules.md#groups).
 */
export function applyGroups(event: IncomingEvent, processing: PersonProcessing, ledger: ProjectLedger): GroupOutcome {
  const keys = processing === 'full' ? groupKeys(event, ledger) : null;
  const warnings = event.event === eventNames.groupIdentify ? groupIdentify(event, ledger) : [];
  return { groupProperties: keys?.properties ?? null, warnings: [...(keys?.warnings ?? []), ...warnings] };
}

/**
 * `$groupidentify` creates or updates one group: the only event that writes group rows
 * (docs/ingestion-rules.md#groups). An event that names no group, a sixth type or an invalid `$group_set` writes none
 * and is stored all the same.
 */
function groupIdentify(event: IncomingEvent, ledger: ProjectLedger): RuleWarning[] {
  const target = groupIdentifyTarget(event.properties);
  if (target === null) return [];
  const groupSet = event.properties.$group_set ?? {};
  if (!isObject(groupSet)) return [invalidGroupSet(event, groupSet)];
  if (isGroupTypeTooLong(target.type)) return [groupTypesTooLong(event, [target.type])];
  const index = resolveGroupType(target.type, event.timestampMs, ledger);
  if (index === null) return [tooManyGroupTypes(event, [target.type])];
  // Not the event's time alone: when a client's clock runs ahead, the group would be created in the future.
  const createdAtMs = Math.min(event.timestampMs, event.capturedAtMs);
  const { uuid, event: name, distinctId, capturedAtMs } = event;
  const from = { uuid, event: name, distinctId, capturedAtMs };
  ledger.groupUpdates.push({ index, key: target.key, groupSet, createdAtMs, from });
  return roundedIntegers(groupSet, event);
}

function invalidGroupSet(event: IncomingEvent, groupSet: unknown): RuleWarning {
  const receivedType = Array.isArray(groupSet) ? 'array' : typeof groupSet;
  const details = { eventUuid: event.uuid, event: event.event, distinctId: event.distinctId, receivedType };
  return { type: 'invalid_group_set', details };
}

/** The group a group identify names. The texts are as sent; their length is checked by whoever uses them. */
export interface GroupIdentifyTarget {
  type: string;
  key: string;
}

/**
 * Reads `$group_type` and `$group_key`. A missing or empty one, 0, and everything that is neither text nor a number
 * names no group: null (docs/ingestion-rules.md#groups).
 */
export function groupIdentifyTarget(properties: JsonObject): GroupIdentifyTarget | null {
  const type = nameOf(properties.$group_type);
  const key = nameOf(properties.$group_key);
  return type === '' || key === '' ? null : { type, key };
}

function nameOf(value: unknown): string {
  if (typeof value === 'string') return value;
  return typeof value === 'number' && Number.isFinite(value) && value !== 0 ? String(value) : '';
}

/** `$group_0`… of an event, to be added to its properties. */
interface GroupKeys {
  properties: JsonObject;
  warnings: RuleWarning[];
}

/**
 * `$groups` puts an event under groups: each type gets its key as `$group_<index>`. A new type is created, a group never
 * (docs/ingestion-rules.md#groups). Null when the event names no groups.
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

/** Group types of a project have the indexes 0 to 4; their keys are the event properties `$group_0` to `$group_4`. */
const maxGroupTypes = 5;

/** Over-long types get no index, so that they cannot fail a batch (docs/ingestion-rules.md#groups). */
function isGroupTypeTooLong(type: string): boolean {
  return isLongerThan(type, maxIdCharacters);
}

/**
 * The index of a group type. An unknown type takes the lowest free index; null when all five are taken, or for a type
 * that cannot be one (empty, too long). The caller warns about the latter two (docs/ingestion-rules.md#groups).
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

/** Largest properties a group may have, in bytes of JSON; as those of a person. */
const maxGroupPropertiesBytes = 655_360;

export interface GroupState extends SizedProperties {
  index: number;
  key: string;
  version: number;
  createdAtMs: number;
  isNew: boolean;
  isDirty: boolean;
}

/** By `groupStateKey`. */
export type GroupStates = Map<string, GroupState>;

/** Two group types may share a key text, so the index is part of the key. */
export function groupStateKey({ index, key }: { index: number; key: string }): string {
  return `${index}:${key}`;
}

/**
 * Applies updates to the groups of one project, in their order: creates those that are not there, lays properties over
 * the others, shallowly. Nothing new means nothing written, the version included (docs/ingestion-rules.md#groups).
 *
 * @returns the updates that would make their group too large. They are not applied; a group they name is created without
 * properties, as a person is.
 */
export function foldGroupUpdates(updates: readonly GroupUpdate[], groups: GroupStates): GroupUpdate[] {
  const tooLarge: GroupUpdate[] = [];
  for (const update of updates) {
    const group = groups.get(groupStateKey(update));
    const isApplied = group === undefined ? createGroup(update, groups) : updateGroup(group, update);
    if (!isApplied) tooLarge.push(update);
  }
  return tooLarge;
}

/** @returns false when its properties are too large, and left out. */
function createGroup(update: GroupUpdate, groups: GroupStates): boolean {
  const { index, key, groupSet, createdAtMs } = update;
  const group: GroupState = {
    ...{ index, key, version: 1, createdAtMs, isNew: true, isDirty: true },
    properties: { ...groupSet },
  };
  groups.set(groupStateKey(update), group);
  if (bytesAfter(group, noChange, maxGroupPropertiesBytes) <= maxGroupPropertiesBytes) return true;
  replaceProperties(group, {});
  return false;
}

/** @returns false when the group would become too large; it stays as it is. */
function updateGroup(group: GroupState, { groupSet, createdAtMs }: GroupUpdate): boolean {
  const put = differing(groupSet, group.properties);
  if (Object.keys(put).length === 0) return true;
  const update = { put, removed: [] };
  if (bytesAfter(group, update, maxGroupPropertiesBytes) > maxGroupPropertiesBytes) return false;
  change(group, update);
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

/** Enough of a name to recognise it by. */
const shownCharacters = 100;

/** One warning for all over-long group types of an event. */
function groupTypesTooLong(event: IncomingEvent, groupTypes: readonly string[]): RuleWarning {
  const details = { ...aboutGroupTypes(event, groupTypes), maxCharacters: maxIdCharacters };
  return { type: 'group_type_too_long', details };
}

/** One warning for all group types of an event that the project has no index for. */
function tooManyGroupTypes(event: IncomingEvent, groupTypes: readonly string[]): RuleWarning {
  return { type: 'group_type_limit_exceeded', details: { ...aboutGroupTypes(event, groupTypes), maxGroupTypes } };
}

function aboutGroupTypes({ uuid: eventUuid, event, distinctId }: IncomingEvent, groupTypes: readonly string[]) {
  const shown = groupTypes.slice(0, 5).map((type) => cutToCodePoints(type, shownCharacters));
  return { eventUuid, event, distinctId, groupTypes: shown };
}

export function groupKeyTooLong(event: IncomingEvent, groupKey: string): RuleWarning {
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

/** The update was refused, the event stored. */
export function groupSizeViolation({ from, index, key }: GroupUpdate): RuleWarning {
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
