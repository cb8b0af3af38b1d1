// Writes the persons, distinct IDs and group types that a batch of events creates or changes.

import type { Transaction } from '@millrace/db/sql';
import type { ProjectLedger } from '../model/ledger.ts';
import { assertPersonsNotDeleted } from './deleted-id-store.ts';
import { insertGroupTypes, type StoredGroupType } from './group-store.ts';
import { type LoadedLedger, toStoredPersonKey } from './load.ts';
import {
  deletePersons,
  insertMappings,
  insertPersons,
  lockVersions,
  type MergedPerson,
  moveCohortMembers,
  moveFlagHashKeys,
  moveMappings,
  type PersonVersion,
  type StoredMapping,
  type StoredPerson,
  updatePersons,
} from './store.ts';

/**
 * Writes the changes to persons, IDs and group types, with one statement per kind of change. A new ID is inserted with
 * its final person. If merges have moved a stored ID several times, it is moved once, together with all IDs of its
 * person, and its version increases by the number of moves in the ledger. All statements are sent together, because
 * other batches wait for the locks.
 * @throws LedgerConflict if another batch changed or created one of the rows first
 */
export async function saveLedger(tx: Transaction, loaded: LoadedLedger): Promise<void> {
  const changes = collectChanges(loaded);
  await tx.pipeline(() => [
    lockVersions(tx, [...changes.writtenPersons.values()]),
    insertPersons(tx, changes.newPersons),
    updatePersons(tx, changes.changedPersons),
    moveMappings(tx, changes.mergedPersons),
    deletePersons(tx, changes.mergedPersons),
    moveCohortMembers(tx, changes.mergedPersons),
    moveFlagHashKeys(tx, changes.mergedPersons),
    insertMappings(tx, changes.newMappings),
    assertPersonsNotDeleted(tx, changes.newMappings),
    insertGroupTypes(tx, changes.newGroupTypes),
  ]);
}

interface Changes {
  writtenPersons: Map<string, PersonVersion>;
  newPersons: StoredPerson[];
  changedPersons: StoredPerson[];
  mergedPersons: MergedPerson[];
  newMappings: StoredMapping[];
  newGroupTypes: StoredGroupType[];
}

function collectChanges({ ledger, stored }: LoadedLedger): Changes {
  const changes: Changes = {
    writtenPersons: new Map(),
    newPersons: [],
    changedPersons: [],
    mergedPersons: [],
    newMappings: [],
    newGroupTypes: [],
  };
  for (const project of ledger.projects.values()) {
    const markWritten = (uuid: string) => {
      const key = toStoredPersonKey(project.projectId, uuid);
      const version = stored.get(key);
      if (version !== undefined) changes.writtenPersons.set(key, version);
    };
    collectPersons(project, changes, markWritten);
    collectGroupTypes(project, changes);
  }
  return changes;
}

function collectPersons(project: ProjectLedger, changes: Changes, markWritten: (uuid: string) => void): void {
  const { projectId } = project;
  for (const person of project.persons.values()) {
    if (person.isNew) changes.newPersons.push({ projectId, ...person });
    else if (person.isDirty) {
      changes.changedPersons.push({ projectId, ...person });
      markWritten(person.uuid);
    }
  }
  for (const [uuid, survivorUuid] of project.mergedPersons) {
    const moves = project.mergedPersonMoves.get(uuid) ?? 1;
    changes.mergedPersons.push({ projectId, uuid, survivorUuid, moves });
    markWritten(uuid);
    markWritten(survivorUuid);
  }
  for (const [distinctId, mapping] of project.distinctIds) {
    if (!mapping.isNew) continue;
    changes.newMappings.push({ projectId, distinctId, ...mapping });
    markWritten(mapping.personUuid);
  }
}

function collectGroupTypes(project: ProjectLedger, changes: Changes): void {
  const { projectId } = project;
  for (const [type, { index, createdAtMs, isNew }] of project.groupTypes) {
    if (isNew) changes.newGroupTypes.push({ projectId, type, index, createdAtMs });
  }
}
