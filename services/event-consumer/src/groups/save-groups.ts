import type { Transaction } from '@millrace/db';
import type { Ledger } from '../identity/ledger.ts';
import { foldGroupUpdates, type GroupStates, groupStateKey } from './fold-group-updates.ts';
import { type GroupKey, insertGroups, lockGroups, type StoredGroup, updateGroups } from './group-store.ts';

/** The groups the batch writes, each once. */
export function groupsToWrite(ledger: Ledger): Map<string, GroupKey> {
  const keys = new Map<string, GroupKey>();
  for (const { projectId, groupUpdates } of ledger.projects.values()) {
    for (const { index, key } of groupUpdates) {
      keys.set(`group:${projectId}:${groupStateKey({ index, key })}`, { projectId, index, key });
    }
  }
  return keys;
}

/**
 * Locks the groups, applies what the batch says about them and writes what that changed. The last thing a batch does:
 * a product has few groups and many events about them, so their locks must be held for as short as possible, and no
 * other row depends on what a group holds.
 *
 * @throws LedgerMoved when another batch created one of the groups first.
 */
export async function saveGroups(tx: Transaction, ledger: Ledger, keys: GroupKey[]): Promise<void> {
  if (keys.length === 0) return;
  const statesOf = new Map<number, GroupStates>();
  for (const { projectId, ...group } of await lockGroups(tx, keys)) {
    const states = statesOf.get(projectId) ?? new Map();
    statesOf.set(projectId, states.set(groupStateKey(group), { ...group, isNew: false, isDirty: false }));
  }
  const newGroups: StoredGroup[] = [];
  const changedGroups: StoredGroup[] = [];
  for (const { projectId, groupUpdates } of ledger.projects.values()) {
    const states: GroupStates = statesOf.get(projectId) ?? new Map();
    foldGroupUpdates(groupUpdates, states);
    for (const group of states.values()) {
      if (group.isNew) newGroups.push({ projectId, ...group });
      else if (group.isDirty) changedGroups.push({ projectId, ...group });
    }
  }
  await insertGroups(tx, newGroups);
  await updateGroups(tx, changedGroups);
}
