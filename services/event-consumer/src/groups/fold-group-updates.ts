import type { JsonObject } from '@millrace/contracts';
import type { GroupUpdate } from '../model/ledger.ts';
import { jsonEqual } from '../values/json-equal.ts';
import { setOwn } from '../values/json-object.ts';
import { bytesAfter, change, noChange, replaceProperties, type SizedProperties } from '../values/sized-properties.ts';

/** Largest properties a group may have, in bytes of JSON; as those of a person. */
export const maxGroupPropertiesBytes = 655_360;

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
