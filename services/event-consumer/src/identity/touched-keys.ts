import type { IncomingEvent } from '../intake/incoming-event.ts';
import { touchedBy } from './touched-by.ts';

/** One text for each distinct id and each group that a batch may create or change; equal texts mean the same one. */
export function touchedKeys(events: readonly IncomingEvent[]): Set<string> {
  const keys = new Set<string>();
  for (const event of events) {
    const { distinctIds, groupIdentify } = touchedBy(event);
    for (const id of distinctIds) keys.add(`${event.project.id}:${id}`);
    if (groupIdentify !== null) keys.add(JSON.stringify([event.project.id, groupIdentify.type, groupIdentify.key]));
  }
  return keys;
}
