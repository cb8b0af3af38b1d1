import { eventNames, isObject } from '@millrace/contracts';
import type { EventRow } from '../model/event-row.ts';
import { flattened } from '../values/overlay.ts';
import { definitionType, type PropertyDefinition } from './definition-store.ts';
import { propertyType } from './property-type.ts';

/** Longer names, in UTF-8, are somebody's data in the wrong place. */
const maxNameBytes = 200;
/** An event with more properties uses data as names. */
const maxProperties = 1000;

const notDescribed = new Set([
  '$set',
  '$set_once',
  '$unset',
  '$groups',
  '$group_0',
  '$group_1',
  '$group_2',
  '$group_3',
  '$group_4',
]);

/**
 * The properties a stored event shows: its own, its person's (`$set`, `$set_once`), or, for a group identify, only its
 * group's (docs/ingestion-rules.md#definitions).
 *
 * @param groupTypeIndexOf null for a type the project does not have.
 */
export function findDefinitions(
  row: EventRow,
  groupTypeIndexOf: (groupType: string) => number | null,
  nowMs: number,
): PropertyDefinition[] {
  const { projectId } = row;
  const properties = flattened(row.properties);
  const found: PropertyDefinition[] = [];

  function describe(type: PropertyDefinition['type'], object: unknown, groupTypeIndex = -1): void {
    if (!isObject(object)) return;
    for (const [name, value] of Object.entries(object)) {
      if (type === definitionType.event && notDescribed.has(name)) continue;
      if (!isDescribable(name)) continue;
      const kind = propertyType(name, value, nowMs);
      found.push({ projectId, type, groupTypeIndex, name, propertyType: kind, seenAtMs: nowMs });
    }
  }

  if (row.event === eventNames.groupIdentify) {
    const index = groupTypeIndexOf(String(properties.$group_type));
    if (index !== null) describe(definitionType.group, properties.$group_set, index);
  } else {
    describe(definitionType.event, properties);
    describe(definitionType.person, properties.$set);
    describe(definitionType.person, properties.$set_once);
  }
  return found.length > maxProperties ? [] : found;
}

/** Whether an event's or a property's name can have a definition. */
export function isDescribable(name: string): boolean {
  return name !== '' && Buffer.byteLength(name) <= maxNameBytes;
}
