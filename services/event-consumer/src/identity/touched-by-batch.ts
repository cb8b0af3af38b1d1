import { eventNames } from '@millrace/contracts';
import type { IncomingEvent } from '../intake/incoming-event.ts';
import type { KnownIds } from './known-ids.ts';
import type { DistinctIdKey } from './ledger-store.ts';
import { touchedBy } from './touched-by.ts';

/** What the events of a batch touch, each thing once. */
export interface TouchedByBatch {
  projectIds: number[];
  /** By a text that is one for each id of each project. */
  distinctIds: Map<string, DistinctIdKey>;
  projectsWithGroups: number[];
  /**
   * One text for each distinct id whose person the batch is likely to create or change. Only these are worth
   * waiting for (turns.ts): batches that merely look at the same persons do not disturb each other. A guess, made before
   * anything is read; where it is wrong, versions tell, and the batch is done again.
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

/** What an event lifts to its person (lifted-properties.ts) seldom changes one that is there, so it does not count. */
function updatesPerson({ event, properties }: IncomingEvent): boolean {
  if (event === eventNames.groupIdentify) return false;
  return properties.$set !== undefined || properties.$set_once !== undefined || properties.$unset !== undefined;
}
