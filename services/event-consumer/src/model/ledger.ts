import type { JsonObject } from '@millrace/contracts';
import type { SizedProperties } from '../values/sized-properties.ts';
import type { IncomingEvent } from './event.ts';

/**
 * The ledger: every person, distinct id, group type and group that a batch touches. It is loaded before the rules run
 * and written back in sets afterwards. Loading takes no locks, unless the batch is done again: what is written is
 * locked and checked right before (ledger/store.ts).
 *
 * The rules change it in memory only. They are deterministic and do no input or output, so a batch gives the same end
 * state as its events one by one.
 */
export interface Ledger {
  projects: Map<number, ProjectLedger>;
}

export interface ProjectLedger {
  projectId: number;
  /** distinct id → person; absent means the id belongs to nobody (all ids a batch can touch are loaded). */
  distinctIds: Map<string, DistinctIdState>;
  /** Persons alive in this ledger, by uuid. A person merged away is removed and listed in `mergedPersons`. */
  persons: Map<string, PersonState>;
  /** Persons that existed in the database and were merged away by this batch: uuid → uuid of the survivor. */
  mergedPersons: ReadonlyMap<string, string>;
  /**
   * For each of `mergedPersons`, how often its distinct ids moved in this batch: 1, or 2 when the survivor was merged
   * away as well, and so on. The mapping version of an id that is not in `distinctIds` rises by this number.
   */
  mergedPersonMoves: ReadonlyMap<string, number>;
  /** group type → index 0..4. All types of the project are loaded. */
  groupTypes: ReadonlyMap<string, GroupTypeState>;
  /** Ids whose person was deleted, the last time it was; whether or not they belong to somebody again. */
  deletedIds: ReadonlyMap<string, DeletedId>;
  /** What the group identifies of the batch say, in their order. Their groups are read last (ledger/save-groups.ts). */
  groupUpdates: GroupUpdate[];
}

export interface DistinctIdState {
  personUuid: string;
  /**
   * Mapping version: 0 when the person was created from this id, else 1; +1 each time a merge moves it. When an id was
   * deleted and comes back, it counts on from the version it had.
   */
  version: number;
  /** True when this batch inserts the mapping. */
  isNew: boolean;
}

/** What is remembered of an id whose person was deleted (packages/db, delete-persons.ts). */
export interface DeletedId {
  deletionId: string;
  personUuid: string;
  /** Mapping version it had. */
  version: number;
  deletedAtMs: number;
}

export interface PersonState extends SizedProperties {
  uuid: string;
  mainDistinctId: string;
  isIdentified: boolean;
  /** +1 per event that changed the person, so that it does not depend on how the log was cut into batches. */
  version: number;
  createdAtMs: number;
  /** True when this batch inserts the person. */
  isNew: boolean;
  /** True when the stored row differs from this state. */
  isDirty: boolean;
}

export interface GroupTypeState {
  index: number;
  createdAtMs: number;
  isNew: boolean;
}

export interface GroupUpdate {
  index: number;
  key: string;
  /** Replace the properties of these names in the group. */
  groupSet: JsonObject;
  createdAtMs: number;
  /** What says so, for warnings. */
  from: Pick<IncomingEvent, 'uuid' | 'event' | 'distinctId' | 'capturedAtMs'>;
}

/**
 * Most projects of a batch have no merges and no groups in it. A batch can touch as many projects as it has events, and
 * a map that is kept until it is written takes as much memory as an event.
 */
// biome-ignore lint/suspicious/noExplicitAny: it holds no value of any type
const nothing: ReadonlyMap<string, any> = new Map();

export function emptyProjectLedger(projectId: number): ProjectLedger {
  return {
    projectId,
    distinctIds: new Map(),
    persons: new Map(),
    mergedPersons: nothing,
    mergedPersonMoves: nothing,
    groupTypes: nothing,
    deletedIds: nothing,
    groupUpdates: [],
  };
}

export function setGroupType(ledger: ProjectLedger, type: string, state: GroupTypeState): void {
  ledger.groupTypes = withEntry(ledger.groupTypes, type, state);
}

export function setDeletedId(ledger: ProjectLedger, distinctId: string, deleted: DeletedId): void {
  ledger.deletedIds = withEntry(ledger.deletedIds, distinctId, deleted);
}

/** The ids of a person who was stored move to the survivor, once more. */
export function noteMergedPerson(ledger: ProjectLedger, uuid: string, survivorUuid: string): void {
  const moves = ledger.mergedPersonMoves.get(uuid) ?? 0;
  ledger.mergedPersons = withEntry(ledger.mergedPersons, uuid, survivorUuid);
  ledger.mergedPersonMoves = withEntry(ledger.mergedPersonMoves, uuid, moves + 1);
}

function withEntry<Value>(map: ReadonlyMap<string, Value>, key: string, value: Value): Map<string, Value> {
  const own = map === nothing ? new Map<string, Value>() : (map as Map<string, Value>);
  return own.set(key, value);
}
