// Writes the groups that a batch of events creates or changes.

import type { Transaction } from '@millrace/db/sql';
import type { Ledger } from '../model/ledger.ts';
import { coalesceGroupUpdates, type GroupStates, groupSizeWarning, toGroupStateKey } from '../rules/groups.ts';
import type { StoredWarning } from '../warnings/store.ts';
import { toRuleWarning } from '../warnings/warnings.ts';
import { type GroupKey, insertGroups, lockGroups, type StoredGroup, updateGroups } from './group-store.ts';

export interface GroupChanges {
  newGroups: StoredGroup[];
  changedGroups: StoredGroup[];
  warnings: StoredWarning[];
}

/**
 * Locks the groups of a batch and applies its updates. A project has few groups and many events about them, so groups
 * must be locked only briefly. Group locks are the last locks of a batch, and no other row depends on a group's
 * properties.
 */
export async function lockAndChangeGroups(tx: Transaction, ledger: Ledger): Promise<GroupChanges> {
  const keys = groupsToWrite(ledger);
  const changes: GroupChanges = { newGroups: [], changedGroups: [], warnings: [] };
  if (keys.length === 0) return changes;
  const statesOf = new Map<number, GroupStates>();
  for (const { projectId, ...group } of await lockGroups(tx, keys)) {
    const states = statesOf.get(projectId) ?? new Map();
    statesOf.set(projectId, states.set(toGroupStateKey(group), { ...group, isNew: false, isDirty: false }));
  }
  for (const { projectId, groupUpdates } of ledger.projects.values()) {
    const states: GroupStates = statesOf.get(projectId) ?? new Map();
    for (const update of coalesceGroupUpdates(groupUpdates, states)) {
      changes.warnings.push(toRuleWarning(groupSizeWarning(update), { projectId, ...update.from }));
    }
    for (const group of states.values()) {
      if (group.isNew) changes.newGroups.push({ projectId, ...group });
      else if (group.isDirty) changes.changedGroups.push({ projectId, ...group });
    }
  }
  return changes;
}

function groupsToWrite(ledger: Ledger): GroupKey[] {
  const keys = new Map<string, GroupKey>();
  for (const { projectId, groupUpdates } of ledger.projects.values()) {
    for (const { index, key } of groupUpdates) {
      keys.set(`${projectId}:${toGroupStateKey({ index, key })}`, { projectId, index, key });
    }
  }
  return [...keys.values()];
}

/**
 * Writes new and changed groups. The statements are sent with `commitWith`. Rejects with LedgerConflict if another
 * batch created one of the groups first.
 */
export function saveGroups(tx: Transaction, { newGroups, changedGroups }: GroupChanges): Promise<void>[] {
  return [insertGroups(tx, newGroups), updateGroups(tx, changedGroups)];
}
