import type { JsonObject } from '@millrace/contracts';
import type { SizedProperties } from '../values/sized-properties.ts';
import type { IncomingEvent } from './event.ts';

/**
 * Contains every person, distinct ID, group type and group that a batch uses. The ledger is loaded before the rules
 * run, and its changes are written in bulk afterwards. Loading takes no locks, unless the batch is repeated. Instead,
 * rows are locked and checked right before they are written (ledger/store.ts).
 *
 * The rules only change the ledger in memory. They are deterministic and do no I/O, so processing events in one batch
 * results in the same state as processing them one by one.
 */
export interface Ledger {
  projects: Map<number, ProjectLedger>;
}

export interface ProjectLedger {
  projectId: number;
  /**
   * The person of each distinct ID. All IDs that a batch can use are loaded, so an ID that is missing from the map has
   * no person.
   */
  distinctIds: Map<string, DistinctIdState>;
  /** The persons by UUID. A person that is merged into a different one is removed, and listed in `mergedPersons`. */
  persons: Map<string, PersonState>;
  /**
   * The stored persons that this batch merged into different ones: the UUID of the surviving person by the UUID of the
   * merged person.
   */
  mergedPersons: ReadonlyMap<string, string>;
  /**
   * How often the distinct IDs of each merged person have moved in this batch: once, twice if the surviving person was
   * then merged too, and so on. The mapping version of an ID that is not in `distinctIds` increases by this number.
   */
  mergedPersonMoves: ReadonlyMap<string, number>;
  /** The index (0 to 4) of each group type. All of the project's types are loaded. */
  groupTypes: ReadonlyMap<string, GroupTypeState>;
  /** Distinct IDs whose person was deleted, each with its latest deletion, even if the ID has a new person. */
  deletedIds: ReadonlyMap<string, DeletedId>;
  /** Group updates that the batch's events request, in order. Groups are read last (ledger/save-groups.ts). */
  groupUpdates: GroupUpdate[];
}

export interface DistinctIdState {
  personUuid: string;
  /**
   * The mapping version. It starts at 0 if the person was created from this ID, otherwise at 1, and increases by one
   * with each merge that moves the mapping. A deleted ID that is used again continues from its previous version.
   */
  version: number;
  isNew: boolean;
}

/** The stored data about an ID whose person was deleted (packages/db, delete-persons.ts). */
export interface DeletedId {
  deletionId: string;
  personUuid: string;
  version: number;
  deletedAtMs: number;
}

export interface PersonState extends SizedProperties {
  uuid: string;
  mainDistinctId: string;
  isIdentified: boolean;
  /**
   * The person's version. Each event that changes the person increases it by one, however the log is divided into
   * batches.
   */
  version: number;
  createdAtMs: number;
  isNew: boolean;
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
  groupSet: JsonObject;
  createdAtMs: number;
  /** The event that contains the update, for warnings. */
  from: Pick<IncomingEvent, 'uuid' | 'event' | 'distinctId' | 'capturedAtMs'>;
}

/**
 * An empty map that is shared by all projects without merges or groups, which is most projects. A batch can touch as
 * many projects as it has events, and a map for each project would take as much memory as an event.
 */
// biome-ignore lint/suspicious/noExplicitAny: an empty map is compatible with any value type
const nothing: ReadonlyMap<string, any> = new Map();

export function createProjectLedger(projectId: number): ProjectLedger {
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

export function recordMergedPerson(ledger: ProjectLedger, uuid: string, survivorUuid: string): void {
  const moves = ledger.mergedPersonMoves.get(uuid) ?? 0;
  ledger.mergedPersons = withEntry(ledger.mergedPersons, uuid, survivorUuid);
  ledger.mergedPersonMoves = withEntry(ledger.mergedPersonMoves, uuid, moves + 1);
}

function withEntry<Value>(map: ReadonlyMap<string, Value>, key: string, value: Value): Map<string, Value> {
  const own = map === nothing ? new Map<string, Value>() : (map as Map<string, Value>);
  return own.set(key, value);
}
