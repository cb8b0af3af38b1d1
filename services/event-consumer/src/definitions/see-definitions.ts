import type { EventRow } from '../model/event-row.ts';
import type { Ledger } from '../model/ledger.ts';
import type { EventDefinition, PropertyDefinition } from './definition-store.ts';
import { findDefinitions, isDescribable } from './find-definitions.ts';
import type { Looks } from './looks.ts';
import { eventKey, markOf, type NotedNames, propertyKey } from './noted-names.ts';

/** What was found in a batch. */
export interface SeenDefinitions {
  events: EventDefinition[];
  properties: PropertyDefinition[];
}

/** Beside the first event of a name, every so many-th event of a batch is looked at. */
const sampleEvery = 64;

/** Looks at some rows of a batch; what is noted already is left out. */
export function seeDefinitions(
  rows: readonly EventRow[],
  ledger: Ledger,
  { looks, noted, nowMs }: { looks: Looks; noted: NotedNames; nowMs: number },
): SeenDefinitions {
  const seen: SeenDefinitions = { events: [], properties: [] };
  const seenInBatch = new Set<string>();
  rows.forEach((row, index) => {
    const { projectId, event: name } = row;
    const key = eventKey(projectId, name);
    const isFirst = !seenInBatch.has(key);
    if (isFirst) seenInBatch.add(key);
    if (!(isFirst && looks.take(key, nowMs)) && index % sampleEvery !== 0) return;
    if (isDescribable(name)) seen.events.push({ projectId, name, seenAtMs: nowMs });
    const groupTypes = ledger.projects.get(projectId)?.groupTypes;
    const found = findDefinitions(row, (type) => groupTypes?.get(type)?.index ?? null, nowMs);
    // Nearly all are known already. Only the others are kept until the batch is committed.
    for (const one of found) {
      if (!noted.has(propertyKey(one), markOf(nowMs, one.propertyType !== null))) seen.properties.push(one);
    }
  });
  return seen;
}
