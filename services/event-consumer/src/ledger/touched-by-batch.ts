import { eventNames } from '@millrace/contracts';
import { isMergeEvent } from '../identity/identity-rules.ts';
import type { AdmittedEvent } from '../intake/admit-event.ts';
import { processedName, toIncomingEvent } from '../intake/to-incoming-event.ts';
import { isUnparsed, type UnparsedEvent } from '../intake/unparsed-event.ts';
import type { KnownIds } from './known-ids.ts';
import type { DistinctIdKey } from './ledger-rows.ts';
import { touchedBy } from './touched-by.ts';

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

export function touchedByBatch(events: readonly AdmittedEvent[], knownIds: Pick<KnownIds, 'has'>): TouchedByBatch {
  const projectIds = new Set<number>();
  const distinctIds = new Map<string, DistinctIdKey>();
  const projectsWithGroups = new Set<number>();
  const contested = new Set<string>();
  for (const event of events) {
    const projectId = event.project.id;
    const touched = peek(event);
    const changesPerson = touched.distinctIds.length > 1 || touched.updatesPerson;
    projectIds.add(projectId);
    for (const distinctId of touched.distinctIds) {
      const key = `${projectId}:${distinctId}`;
      if (!distinctIds.has(key)) {
        distinctIds.set(key, { projectId, distinctId });
        if (!knownIds.has(key)) contested.add(key);
      }
      if (changesPerson) contested.add(key);
    }
    if (touched.hasGroups) projectsWithGroups.add(projectId);
  }
  return {
    projectIds: [...projectIds],
    distinctIds,
    projectsWithGroups: [...projectsWithGroups],
    contested,
  };
}

interface Peek {
  distinctIds: string[];
  /** True also when the event only may have groups. */
  hasGroups: boolean;
  /**
   * Properties of the event that also describe its person (lifted-properties.ts) seldom change a person that exists, so
   * they do not count.
   */
  updatesPerson: boolean;
}

/**
 * As `touchedBy`, but only the properties of a merge are parsed. For other events the names that occur in their text
 * are enough.
 */
function peek(event: AdmittedEvent): Peek {
  const { received } = event;
  const name = processedName(received.event);
  const isGroupIdentify = name === eventNames.groupIdentify;
  if (isUnparsed(received) && !isMergeEvent(name)) {
    return {
      distinctIds: [received.distinct_id],
      hasGroups: isGroupIdentify || received.unparsed.mayNameGroups,
      updatesPerson: !isGroupIdentify && updatesByText(received),
    };
  }
  const incoming = toIncomingEvent(event);
  const { distinctIds, groupTypes } = touchedBy(incoming);
  const { $set, $set_once, $unset } = incoming.properties;
  const updates = $set !== undefined || $set_once !== undefined || $unset !== undefined;
  return { distinctIds, hasGroups: groupTypes.length > 0, updatesPerson: !isGroupIdentify && updates };
}

function updatesByText({ unparsed, $set, $set_once, $unset }: UnparsedEvent): boolean {
  return unparsed.mayNameUpdates || $set !== undefined || $set_once !== undefined || $unset !== undefined;
}
