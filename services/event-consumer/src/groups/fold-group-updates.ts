import type { JsonObject } from '@millrace/contracts';
import type { GroupUpdate } from '../identity/ledger.ts';
import { jsonEqual } from '../intake/json-equal.ts';
import { setOwn } from '../intake/json-object.ts';

export interface GroupState {
  index: number;
  key: string;
  properties: JsonObject;
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
 * the others, shallowly. Nothing new means nothing written, the version included (reference/event-processing.md 8.2).
 */
export function foldGroupUpdates(updates: readonly GroupUpdate[], groups: GroupStates): void {
  for (const update of updates) {
    const { index, key, groupSet, createdAtMs } = update;
    const stateKey = groupStateKey(update);
    const group = groups.get(stateKey);
    if (group === undefined) {
      const properties = { ...groupSet };
      groups.set(stateKey, { index, key, properties, version: 1, createdAtMs, isNew: true, isDirty: true });
      continue;
    }
    const properties = mergedProperties(group.properties, groupSet);
    if (properties === group.properties) continue;
    group.properties = properties;
    group.version += 1;
    group.createdAtMs = Math.min(group.createdAtMs, createdAtMs);
    group.isDirty = true;
  }
}

/** The same object when nothing changed. */
function mergedProperties(before: JsonObject, groupSet: JsonObject): JsonObject {
  let after: JsonObject | null = null;
  for (const key of Object.keys(groupSet)) {
    if (Object.hasOwn(before, key) && jsonEqual(before[key], groupSet[key])) continue;
    after ??= { ...before };
    setOwn(after, key, groupSet[key]);
  }
  return after ?? before;
}
