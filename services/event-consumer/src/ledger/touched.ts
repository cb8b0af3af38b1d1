import { eventNames, isObject } from '@millrace/contracts';
import type { IncomingEvent } from '../model/event.ts';
import type { ProjectLedger } from '../model/ledger.ts';
import { type GroupIdentifyTarget, groupIdentifyTarget } from '../rules/groups.ts';
import { mergeRequest } from '../rules/identity-rules.ts';
import { textHash32 } from '../values/text.ts';
import type { DistinctIdKey } from './store.ts';

/** What the events of a batch touch, each thing once. */
export interface TouchedByBatch {
  projectIds: number[];
  /** By a text that is one for each id of each project. */
  distinctIds: Map<string, DistinctIdKey>;
  projectsWithGroups: number[];
  /**
   * One text for each distinct id whose person the batch probably creates or changes. Only these are worth waiting for
   * (turns.ts): batches that only read the same persons do not wait for each other. It is a guess, made before anything
   * is read; where it is wrong, the versions tell, and the batch is done again.
   */
  contested: Set<string>;
}

export function touchedByBatch(events: readonly IncomingEvent[], knownIds: Pick<KnownIds, 'has'>): TouchedByBatch {
  const projectIds = new Set<number>();
  const distinctIds = new Map<string, DistinctIdKey>();
  const projectsWithGroups = new Set<number>();
  const contested = new Set<string>();
  for (const event of events) {
    const projectId = event.project.id;
    const touched = touchedBy(event);
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
 * Properties of the event that also describe its person (events/rows.ts) seldom change a person that exists, so they do
 * not count. A group identify never changes one.
 */
function updatesPerson({ event, properties: { $set, $set_once, $unset } }: IncomingEvent): boolean {
  return event !== eventNames.groupIdentify && ($set !== undefined || $set_once !== undefined || $unset !== undefined);
}

/** Everything the rules may look up for one event. May name more than they end up using, never less. */
interface Touched {
  distinctIds: string[];
  groupTypes: string[];
}

/** Says what must be in the ledger before `processEvent` sees the event. */
export function touchedBy(event: IncomingEvent): Touched {
  const groupIdentify = event.event === eventNames.groupIdentify ? groupIdentifyTarget(event.properties) : null;
  return { distinctIds: touchedDistinctIds(event), groupTypes: touchedGroupTypes(event, groupIdentify) };
}

function touchedDistinctIds(event: IncomingEvent): string[] {
  const request = mergeRequest(event);
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
 * Whether an event was captured before a person it is about was deleted: it waited in the log, or was replayed. It must
 * not bring the person back. An event that is captured later is about somebody new, even when the id is the same.
 */
export function isOfDeletedPerson(event: IncomingEvent, { deletedIds }: ProjectLedger): boolean {
  if (deletedIds.size === 0) return false;
  return touchedBy(event).distinctIds.some((distinctId) => {
    const deleted = deletedIds.get(distinctId);
    return deleted !== undefined && event.capturedAtMs <= deleted.deletedAtMs;
  });
}

/** Distinct ids, by the keys of `TouchedByBatch`, that this process has seen stored: they have a person already. */
export interface KnownIds {
  has(key: string): boolean;
  /** To be told once a batch is committed. */
  note(keys: Iterable<string>): void;
}

/** Four bytes each, whatever the length of the ids. */
const defaultSlots = 1 << 18;

/**
 * Each id has one slot, which its hash chooses, and stores the hash there. The next id with the same slot replaces it.
 * So the memory is the same after a million ids as after one, and the garbage collector never looks at it: a set of
 * 100,000 texts cost the process 25 MB.
 *
 * It forgets some ids, and with 100,000 known ones it takes one id in 40,000 for another. Then batches only wait for
 * each other a little more or less (turns.ts).
 *
 * @param slots a power of two.
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

/** Never 0, which is an empty slot. */
function hashOf(key: string): number {
  return textHash32(key) || 1;
}
