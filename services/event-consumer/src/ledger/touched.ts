// Determines which distinct IDs, group types and groups an event can change.

import { eventNames, isObject } from '@millrace/contracts';
import type { IncomingEvent } from '../model/event.ts';
import type { ProjectLedger } from '../model/ledger.ts';
import { type GroupIdentifyTarget, readGroupIdentifyTarget } from '../rules/groups.ts';
import { readMergeRequest } from '../rules/merge-requests.ts';
import { textHash32 } from '../values/text.ts';
import type { DistinctIdKey } from './store.ts';

/** Everything that a batch's events may use or change, without duplicates. */
export interface TouchedByBatch {
  projectIds: number[];
  /** The distinct IDs. The map key is unique for each combination of project and ID. */
  distinctIds: Map<string, DistinctIdKey>;
  projectsWithGroups: number[];
  /**
   * The keys of the distinct IDs whose person the batch probably creates or changes. Batches wait for each other only
   * because of these IDs (turns.ts), and not because they read the same persons. The set is a guess that is made before
   * anything is read. If the guess is wrong, the version check detects a conflict, and the batch is repeated.
   */
  contested: Set<string>;
}

export function findTouchedIdsOfBatch(
  events: readonly IncomingEvent[],
  knownIds: Pick<KnownIds, 'has'>,
): TouchedByBatch {
  const projectIds = new Set<number>();
  const distinctIds = new Map<string, DistinctIdKey>();
  const projectsWithGroups = new Set<number>();
  const contested = new Set<string>();
  for (const event of events) {
    const projectId = event.project.id;
    const touched = findTouchedIds(event);
    const changesPerson = touched.distinctIds.length > 1 || updatesPerson(event);
    projectIds.add(projectId);
    for (const distinctId of touched.distinctIds) {
      const key = `${projectId}:${distinctId}`;
      if (!distinctIds.has(key)) {
        distinctIds.set(key, { projectId, distinctId });
        if (!knownIds.has(key)) contested.add(key);
      }
      if (changesPerson) contested.add(key);
    }
    if (touched.groupTypes.length > 0) projectsWithGroups.add(projectId);
  }
  return {
    projectIds: [...projectIds],
    distinctIds,
    projectsWithGroups: [...projectsWithGroups],
    contested,
  };
}

/**
 * Returns whether the event updates its person. Event properties that also describe the person (events/rows.ts) do not
 * count, because they rarely change an existing person. A group identify never changes a person.
 */
function updatesPerson({ event, properties: { $set, $set_once, $unset } }: IncomingEvent): boolean {
  return event !== eventNames.groupIdentify && ($set !== undefined || $set_once !== undefined || $unset !== undefined);
}

/** Everything that the rules may look up for one event. It can contain more than the rules use, but never less. */
interface Touched {
  distinctIds: string[];
  groupTypes: string[];
}

/** Returns the IDs and groups that the ledger must contain before `processEvent` handles the event. */
export function findTouchedIds(event: IncomingEvent): Touched {
  const groupIdentify = event.event === eventNames.groupIdentify ? readGroupIdentifyTarget(event.properties) : null;
  return { distinctIds: touchedDistinctIds(event), groupTypes: touchedGroupTypes(event, groupIdentify) };
}

function touchedDistinctIds(event: IncomingEvent): string[] {
  const request = readMergeRequest(event);
  if (request === null || request.sourceId === request.targetId) return [event.distinctId];
  return [request.targetId, request.sourceId];
}

function touchedGroupTypes(event: IncomingEvent, groupIdentify: GroupIdentifyTarget | null): string[] {
  const groups = event.properties.$groups;
  const types = isObject(groups) ? Object.keys(groups) : [];
  if (groupIdentify !== null && !types.includes(groupIdentify.type)) types.push(groupIdentify.type);
  return types;
}

/**
 * Returns whether an event was captured before one of its persons was deleted, for example because the event waited in
 * the log or was replayed. Such an event must not create the person again. An event that was captured after the
 * deletion is about a new person, even if it has the same ID.
 */
export function isOfDeletedPerson(event: IncomingEvent, { deletedIds }: ProjectLedger): boolean {
  if (deletedIds.size === 0) return false;
  return findTouchedIds(event).distinctIds.some((distinctId) => {
    const deleted = deletedIds.get(distinctId);
    return deleted !== undefined && event.capturedAtMs <= deleted.deletedAtMs;
  });
}

/**
 * Distinct IDs that this process has seen in the database, with the same keys as in `TouchedByBatch`. These IDs already
 * have a person.
 */
export interface KnownIds {
  has(key: string): boolean;
  /** Records IDs that are stored. Call it after a batch is committed. */
  note(keys: Iterable<string>): void;
}

/** The number of slots. Each one uses four bytes, regardless of the ID's length. */
const defaultSlots = 1 << 18;

/**
 * Caches IDs in a fixed number of slots. The hash of an ID selects its slot and is stored there, replacing the previous
 * hash. Memory usage is therefore constant, and the garbage collector has nothing to scan. A set of 100,000 strings
 * took 25 MB.
 *
 * The cache forgets an ID when its slot is reused. With 100,000 known IDs, it mistakes one in 40,000 new IDs for a
 * known one. The only effect is that batches wait for each other slightly more or less often (turns.ts).
 *
 * @param slots the number of slots, a power of two
 */
export function createKnownIds(slots = defaultSlots): KnownIds {
  const hashes = new Uint32Array(slots);
  const last = slots - 1;
  return {
    has(key) {
      const hash = hashOf(key);
      return hashes[hash & last] === hash;
    },
    note(keys) {
      for (const key of keys) {
        const hash = hashOf(key);
        hashes[hash & last] = hash;
      }
    },
  };
}

/** Returns the hash of a key, which is never 0 because 0 means an empty slot. */
function hashOf(key: string): number {
  return textHash32(key) || 1;
}
