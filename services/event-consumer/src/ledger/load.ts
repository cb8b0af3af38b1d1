// Loads a batch's persons and groups from the database into the ledger.

import type { Transaction } from '@millrace/db/sql';
import { LedgerConflict } from '../failures.ts';
import {
  createProjectLedger,
  type DistinctIdState,
  type Ledger,
  type ProjectLedger,
  setDeletedId,
  setGroupType,
} from '../model/ledger.ts';
import { derivePersonUuid } from '../rules/persons.ts';
import { findProjectsWithDeletions, readDeletedIds } from './deleted-id-store.ts';
import { readGroupTypes } from './group-store.ts';
import {
  type DistinctIdKey,
  lockPersonsOf,
  type PersonKey,
  type PersonVersion,
  readMappings,
  readPersons,
  type StoredPerson,
} from './store.ts';
import type { TouchedByBatch } from './touched.ts';

/** The ledger that the rules change, and the versions that the stored rows had when they were read. */
export interface LoadedLedger {
  ledger: Ledger;
  stored: Map<string, PersonVersion>;
}

/**
 * Loads the persons, IDs and group types that a batch can use, in at most four statements. Applies the uncommitted
 * decisions of `before`, and leaves out deleted persons. Normally does not lock persons. ledger/store.ts explains why
 * this is safe, and describes the lock order.
 * @throws LedgerConflict if an ID was moved between locking and reading
 */
export async function loadLedger(
  tx: Transaction,
  touched: TouchedByBatch,
  {
    lockFirst,
    before,
  }: {
    /** Whether to lock all persons before reading them. True for a batch that had a conflict before. */
    lockFirst: boolean;
    /** Uncommitted decisions of preceding batches in this process, in order (turns.ts). */
    before: readonly Ledger[];
  },
): Promise<LoadedLedger> {
  const loaded = await readLedger(tx, touched, lockFirst);
  for (const earlier of before) buildOn(earlier, loaded, touched);
  forgetDeleted(loaded);
  return loaded;
}

async function readLedger(tx: Transaction, touched: TouchedByBatch, lockFirst: boolean): Promise<LoadedLedger> {
  const distinctIds = [...touched.distinctIds.values()];
  const loaded: LoadedLedger = {
    ledger: { projects: new Map(touched.projectIds.map((id) => [id, createProjectLedger(id)])) },
    stored: new Map(),
  };
  if (!lockFirst) {
    // Read deletions last, so that a person who is deleted after being read is recognized as deleted.
    const [, , withDeletions] = await tx.pipeline(() => [
      loadGroupTypes(tx, loaded.ledger, touched),
      loadPersons(tx, loaded, distinctIds),
      findProjectsWithDeletions(tx, touched.projectIds),
    ]);
    await loadDeletedIds(tx, loaded.ledger, distinctIds, withDeletions);
    return loaded;
  }
  await loadGroupTypes(tx, loaded.ledger, touched);
  await lockAndLoadPersons(tx, loaded, distinctIds);
  await loadDeletedIds(tx, loaded.ledger, distinctIds, await findProjectsWithDeletions(tx, touched.projectIds));
  return loaded;
}

/**
 * The maximum number of times to lock persons. While a batch waits for the lock of a person, the batch that holds the
 * lock may merge that person into a different one. The waiting batch's IDs then refer to a person that is not locked.
 * Locking that person too would violate the lock order, so all locks are released and taken again. Each time, another
 * batch has made progress, so the number of rounds is limited by the number of batches that work on the same persons.
 */
const maxLockRounds = 20;

async function lockAndLoadPersons(tx: Transaction, loaded: LoadedLedger, ids: DistinctIdKey[]): Promise<void> {
  await tx.query('SAVEPOINT before_locks');
  for (let round = 1; ; round += 1) {
    const locked = await lockPersonsOf(tx, ids, ids.map(createdBy));
    await loadPersons(tx, loaded, ids);
    if (areLocked(loaded, locked)) return loadUnmapped(tx, loaded, locked);
    if (round === maxLockRounds) throw new LedgerConflict('the person of a distinct id');
    forgetPersons(loaded);
    await tx.query('ROLLBACK TO SAVEPOINT before_locks');
  }
}

function forgetPersons({ ledger, stored }: LoadedLedger): void {
  stored.clear();
  for (const project of ledger.projects.values()) {
    project.distinctIds.clear();
    project.persons.clear();
  }
}

/**
 * Returns the person that would be created from an ID. If rows were edited manually, that person can exist although the
 * ID has no mapping. The rules then add the mapping again. This is so rare that it is checked only after creating the
 * person has failed.
 */
function createdBy({ projectId, distinctId }: DistinctIdKey): PersonKey {
  return { projectId, uuid: derivePersonUuid(projectId, distinctId) };
}

async function loadUnmapped(tx: Transaction, loaded: LoadedLedger, locked: PersonKey[]): Promise<void> {
  const unmapped = locked.filter(({ projectId, uuid }) => !loaded.stored.has(toStoredPersonKey(projectId, uuid)));
  for (const person of await readPersons(tx, unmapped)) addPerson(loaded, person);
}

function addPerson({ ledger, stored }: LoadedLedger, person: StoredPerson): void {
  const { projectId, uuid, version } = person;
  ledger.projects.get(projectId)?.persons.set(uuid, { ...stateOf(person), isNew: false, isDirty: false });
  stored.set(toStoredPersonKey(projectId, uuid), { projectId, uuid, version });
}

export function toStoredPersonKey(projectId: number, uuid: string): string {
  return `${projectId}:${uuid}`;
}

async function loadPersons(tx: Transaction, loaded: LoadedLedger, ids: DistinctIdKey[]): Promise<void> {
  const { mappings, persons } = await readMappings(tx, ids);
  for (const person of persons) addPerson(loaded, person);
  for (const { projectId, distinctId, personUuid, version } of mappings) {
    loaded.ledger.projects.get(projectId)?.distinctIds.set(distinctId, { personUuid, version, isNew: false });
  }
}

function areLocked({ stored }: LoadedLedger, locked: PersonKey[]): boolean {
  const keys = new Set(locked.map(({ projectId, uuid }) => toStoredPersonKey(projectId, uuid)));
  return [...stored.keys()].every((key) => keys.has(key));
}

async function loadGroupTypes(tx: Transaction, ledger: Ledger, touched: TouchedByBatch): Promise<void> {
  for (const { projectId, type, ...groupType } of await readGroupTypes(tx, touched.projectsWithGroups)) {
    const project = ledger.projects.get(projectId);
    if (project !== undefined) setGroupType(project, type, { ...groupType, isNew: false });
  }
}

function stateOf<T extends { projectId: number }>({ projectId: _, ...state }: T): Omit<T, 'projectId'> {
  return state;
}

/** Adds deleted IDs to the ledger. Sends an additional statement only for projects with deleted persons. */
async function loadDeletedIds(
  tx: Transaction,
  ledger: Ledger,
  ids: DistinctIdKey[],
  withDeletions: ReadonlySet<number>,
): Promise<void> {
  if (withDeletions.size === 0) return;
  const concerned = ids.filter(({ projectId }) => withDeletions.has(projectId));
  for (const { projectId, distinctId, deleted } of await readDeletedIds(tx, concerned)) {
    const project = ledger.projects.get(projectId);
    if (project !== undefined) setDeletedId(project, distinctId, deleted);
  }
}

/**
 * Removes persons from a loaded ledger if they were deleted after this batch or an earlier in-flight batch read them.
 * Their IDs then have no person. No other batch can have committed changes to such a person, because the deletion has
 * locked it.
 */
function forgetDeleted({ ledger, stored }: LoadedLedger): void {
  for (const project of ledger.projects.values()) {
    for (const [distinctId, { personUuid }] of project.deletedIds) {
      if (project.distinctIds.get(distinctId)?.personUuid !== personUuid) continue;
      project.distinctIds.delete(distinctId);
      project.persons.delete(personUuid);
      stored.delete(toStoredPersonKey(project.projectId, personUuid));
    }
  }
}

/**
 * Updates a loaded ledger to the state that it will have after an earlier batch of this process is committed. The
 * earlier batch has decided (`earlier`) and is being written, so its persons and mappings replace older ones. If it was
 * committed in the meantime, the versions of the loaded rows may show that they are even newer, and they are kept.
 * Applies only the persons to whom the IDs of this batch refer. The applied state counts as stored, so this batch must
 * not be written before the earlier batch is committed.
 */
function buildOn(earlier: Ledger, loaded: LoadedLedger, touched: TouchedByBatch): void {
  for (const { projectId, distinctId } of touched.distinctIds.values()) {
    const earlierLedger = earlier.projects.get(projectId);
    const ownLedger = loaded.ledger.projects.get(projectId);
    if (earlierLedger === undefined || ownLedger === undefined) continue;
    const mapping = mappingAfter(earlierLedger, distinctId, ownLedger.distinctIds.get(distinctId));
    if (mapping === undefined) continue;
    ownLedger.distinctIds.set(distinctId, mapping);
    takePerson(mapping.personUuid, earlierLedger, ownLedger, loaded);
  }
  for (const [projectId, { mergedPersons }] of earlier.projects) {
    for (const uuid of mergedPersons.keys()) {
      loaded.ledger.projects.get(projectId)?.persons.delete(uuid);
      loaded.stored.delete(toStoredPersonKey(projectId, uuid));
    }
  }
}

function mappingAfter(
  earlierLedger: ProjectLedger,
  distinctId: string,
  read: DistinctIdState | undefined,
): DistinctIdState | undefined {
  const decided = earlierLedger.distinctIds.get(distinctId);
  if (decided !== undefined && (read === undefined || decided.version > read.version)) {
    return { ...decided, isNew: false };
  }
  // If the earlier batch merged this ID's person but did not use the ID, the ID moves together with the person
  // (`moveMappings` in ledger/store.ts).
  const survivor = read === undefined ? undefined : earlierLedger.mergedPersons.get(read.personUuid);
  if (read === undefined || survivor === undefined) return read;
  const moves = earlierLedger.mergedPersonMoves.get(read.personUuid) ?? 1;
  return { personUuid: survivor, version: read.version + moves, isNew: false };
}

function takePerson(uuid: string, earlierLedger: ProjectLedger, ownLedger: ProjectLedger, loaded: LoadedLedger): void {
  const decided = earlierLedger.persons.get(uuid);
  const read = ownLedger.persons.get(uuid);
  if (decided === undefined || (read !== undefined && decided.version <= read.version)) return;
  const { projectId } = ownLedger;
  // The earlier batch may still be writing this person, so its properties must be treated as shared.
  ownLedger.persons.set(uuid, { ...decided, areShared: true, isNew: false, isDirty: false });
  loaded.stored.set(toStoredPersonKey(projectId, uuid), { projectId, uuid, version: decided.version });
}
