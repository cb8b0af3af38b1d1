import type { Transaction } from '@millrace/db/sql';
import { LedgerConflict } from '../failures/ledger-conflict.ts';
import { readGroupTypes } from '../groups/group-store.ts';
import { personUuid } from '../identity/person-uuid.ts';
import { emptyProjectLedger, type Ledger, setGroupType } from '../model/ledger.ts';
import { projectsWithDeletions } from './deleted-id-store.ts';
import type { DistinctIdKey, PersonKey, PersonVersion, StoredPerson } from './ledger-rows.ts';
import { lockPersonsOf, readMappings, readPersons } from './ledger-store.ts';
import { loadDeletedIds } from './load-deleted-ids.ts';
import type { TouchedByBatch } from './touched-by-batch.ts';

/** The ledger the rules change, and what stood in the database when it was read. */
export interface LoadedLedger {
  ledger: Ledger;
  /** Stored persons by `storedPersonKey`. */
  stored: Map<string, PersonVersion>;
}

export interface LoadOptions {
  /** Lock all persons before reading them: for a batch that had a conflict, so that it does not have the next one. */
  lockFirst: boolean;
}

/**
 * Loads the persons, ids and group types a batch can touch, in at most four statements. Persons are normally not locked;
 * how that is safe, and the order of locks, stands in ledger-store.ts.
 *
 * @throws LedgerConflict when a mapping moved between locking and reading.
 */
export async function loadLedger(
  tx: Transaction,
  touched: TouchedByBatch,
  { lockFirst }: LoadOptions,
): Promise<LoadedLedger> {
  const distinctIds = [...touched.distinctIds.values()];
  const loaded: LoadedLedger = {
    ledger: { projects: new Map(touched.projectIds.map((id) => [id, emptyProjectLedger(id)])) },
    stored: new Map(),
  };
  if (!lockFirst) {
    // What was deleted is asked for last: a person that was read and deleted since is known to be gone.
    const [, , withDeletions] = await tx.pipeline(() => [
      loadGroupTypes(tx, loaded.ledger, touched),
      loadPersons(tx, loaded, distinctIds),
      projectsWithDeletions(tx, touched.projectIds),
    ]);
    await loadDeletedIds(tx, loaded.ledger, distinctIds, withDeletions);
    return loaded;
  }
  await loadGroupTypes(tx, loaded.ledger, touched);
  await lockAndLoadPersons(tx, loaded, distinctIds);
  await loadDeletedIds(tx, loaded.ledger, distinctIds, await projectsWithDeletions(tx, touched.projectIds));
  return loaded;
}

/**
 * While a batch waits for the lock of a person, the batch that holds it may merge that person away. The ids then lead
 * to a person that is not locked. One more lock would break the order of locks, so all are given back and taken again.
 * Some other batch makes progress each time, so this batch comes too late at most as often as there are others at work
 * on the same people.
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
 * The person an id would create. It can exist although the id belongs to nobody, when somebody changed rows by hand;
 * the rules then give the id back to it. That is so rare that it is only looked for after creating the person has
 * failed.
 */
function createdBy({ projectId, distinctId }: DistinctIdKey): PersonKey {
  return { projectId, uuid: personUuid(projectId, distinctId) };
}

async function loadUnmapped(tx: Transaction, loaded: LoadedLedger, locked: PersonKey[]): Promise<void> {
  const unmapped = locked.filter(({ projectId, uuid }) => !loaded.stored.has(storedPersonKey(projectId, uuid)));
  for (const person of await readPersons(tx, unmapped)) addPerson(loaded, person);
}

function addPerson({ ledger, stored }: LoadedLedger, person: StoredPerson): void {
  const { projectId, uuid, version } = person;
  ledger.projects.get(projectId)?.persons.set(uuid, { ...stateOf(person), isNew: false, isDirty: false });
  stored.set(storedPersonKey(projectId, uuid), { projectId, uuid, version });
}

export function storedPersonKey(projectId: number, uuid: string): string {
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
  const keys = new Set(locked.map(({ projectId, uuid }) => storedPersonKey(projectId, uuid)));
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
