import { isObject, type JsonObject } from '@millrace/contracts';
import type { IncomingEvent } from '../model/incoming-event.ts';
import type { ProjectLedger } from '../model/ledger.ts';
import type { RuleWarning } from '../model/warning.ts';
import { isGroupTypeTooLong, resolveGroupType } from './group-types.ts';
import { groupTypesTooLong } from './group-warnings.ts';

/** `$group_0`… of an event, to be added to its properties. */
export interface GroupKeys {
  properties: JsonObject;
  warnings: RuleWarning[];
}

/**
 * `$groups` puts an event under groups: each type gets its key as `$group_<index>`. A new type is created, a group never
 * (docs/ingestion-rules.md#groups). Null when the event names no groups.
 */
export function groupKeys(event: IncomingEvent, ledger: ProjectLedger): GroupKeys | null {
  const groups = event.properties.$groups;
  if (!isObject(groups)) return null;
  const properties: JsonObject = {};
  const tooLong: string[] = [];
  for (const [type, key] of Object.entries(groups)) {
    const index = resolveGroupType(type, event.timestampMs, ledger);
    if (index !== null) properties[`$group_${index}`] = key;
    else if (isGroupTypeTooLong(type)) tooLong.push(type);
  }
  return { properties, warnings: tooLong.length === 0 ? [] : [groupTypesTooLong(event, tooLong)] };
}
