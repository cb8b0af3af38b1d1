import { isObject } from '@millrace/contracts';
import { processEvent } from '../decide.ts';
import { findTouchedIds } from '../ledger/touched.ts';
import type { EventOutcome, IncomingEvent } from '../model/event.ts';
import {
  createProjectLedger,
  type DistinctIdState,
  type GroupTypeState,
  type PersonState,
  type ProjectLedger,
  setGroupType,
} from '../model/ledger.ts';
import { coalesceGroupUpdates, type GroupState } from '../rules/groups.ts';

/** The tables of one project in their simplest form. They show which of the ledger's changes a store must write. */
export interface MemoryStore {
  persons: Map<string, Omit<PersonState, 'isNew' | 'isDirty'>>;
  distinctIds: Map<string, Omit<DistinctIdState, 'isNew'>>;
  groupTypes: Map<string, Omit<GroupTypeState, 'isNew'>>;
  groups: Map<string, Omit<GroupState, 'isNew' | 'isDirty'>>;
}

export function emptyMemoryStore(): MemoryStore {
  return { persons: new Map(), distinctIds: new Map(), groupTypes: new Map(), groups: new Map() };
}

/**
 * Applies a batch as the service does. Loads only the IDs that `findTouchedIds` returns, and writes only the changes
 * that are marked in the ledger.
 */
export function applyBatch(store: MemoryStore, projectId: number, events: readonly IncomingEvent[]): EventOutcome[] {
  const ledger = load(store, projectId, events);
  const outcomes = events.map((event) => processEvent(event, ledger));
  save(store, ledger);
  return outcomes;
}

function load(store: MemoryStore, projectId: number, events: readonly IncomingEvent[]): ProjectLedger {
  const ledger = createProjectLedger(projectId);
  for (const [type, groupType] of store.groupTypes) setGroupType(ledger, type, { ...groupType, isNew: false });
  for (const event of events) {
    const touched = findTouchedIds(event);
    for (const id of touched.distinctIds) loadDistinctId(store, ledger, id);
  }
  return ledger;
}

function loadDistinctId(store: MemoryStore, ledger: ProjectLedger, id: string): void {
  const mapping = store.distinctIds.get(id);
  const person = mapping && store.persons.get(mapping.personUuid);
  if (mapping === undefined || person === undefined) return;
  ledger.distinctIds.set(id, { ...mapping, isNew: false });
  ledger.persons.set(person.uuid, { ...person, isNew: false, isDirty: false });
}

function save(store: MemoryStore, ledger: ProjectLedger): void {
  for (const { isNew, isDirty, ...person } of ledger.persons.values()) {
    if (isNew || isDirty) store.persons.set(person.uuid, { ...person, properties: stored(person.properties) });
  }
  for (const [uuid, survivor] of ledger.mergedPersons) {
    for (const mapping of store.distinctIds.values()) {
      if (mapping.personUuid !== uuid) continue;
      mapping.personUuid = survivor;
      mapping.version += ledger.mergedPersonMoves.get(uuid) ?? Number.NaN;
    }
    store.persons.delete(uuid);
  }
  for (const [id, { isNew, ...mapping }] of ledger.distinctIds) if (isNew) store.distinctIds.set(id, mapping);
  for (const [type, { isNew, ...groupType }] of ledger.groupTypes) if (isNew) store.groupTypes.set(type, groupType);
  const groups = new Map([...store.groups].map(([key, group]) => [key, { ...group, isNew: false, isDirty: false }]));
  coalesceGroupUpdates(ledger.groupUpdates, groups);
  for (const [key, { isNew, isDirty, ...group }] of groups) {
    if (isNew || isDirty) store.groups.set(key, { ...group, properties: stored(group.properties) });
  }
}

/** Converts a value to JSON and back with sorted keys, as a database would return it. */
export function stored<Value>(value: Value): Value {
  return JSON.parse(JSON.stringify(value), (_, part: unknown) =>
    isObject(part) ? Object.fromEntries(Object.entries(part).sort(([a], [b]) => (a < b ? -1 : 1))) : part,
  );
}
