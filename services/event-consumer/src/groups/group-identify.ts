import type { JsonObject } from '@millrace/contracts';
import { groupLedgerKey, type ProjectLedger } from '../identity/ledger.ts';
import type { IncomingEvent } from '../intake/incoming-event.ts';
import { jsonEqual } from '../intake/json-equal.ts';
import { isJsonObject, setOwn } from '../intake/json-object.ts';
import type { RuleWarning } from '../warnings/warning.ts';
import { groupIdentifyTarget } from './group-identify-target.ts';
import { isGroupTypeTooLong, resolveGroupType } from './group-types.ts';
import { groupTypesTooLong } from './group-warnings.ts';

/**
 * `$groupidentify` creates or updates one group: the only event that writes group rows
 * (contract/ingestion.md "Events"; reference/event-processing.md 8.2). An event that names no group, a sixth type or an
 * invalid `$group_set` writes none and is stored all the same.
 */
export function groupIdentify(event: IncomingEvent, ledger: ProjectLedger): RuleWarning[] {
  const target = groupIdentifyTarget(event.properties);
  if (target === null) return [];
  const groupSet = event.properties.$group_set ?? {};
  if (!isJsonObject(groupSet)) return [invalidGroupSet(event, groupSet)];
  if (isGroupTypeTooLong(target.type)) return [groupTypesTooLong(event, [target.type])];
  const index = resolveGroupType(target.type, event.timestampMs, ledger);
  if (index !== null) upsertGroup({ index, key: target.key, groupSet, event }, ledger);
  return [];
}

interface GroupUpsert {
  index: number;
  key: string;
  groupSet: JsonObject;
  event: IncomingEvent;
}

/** Shallow merge: new keys override, others stay. Nothing new means nothing written, the version included. */
function upsertGroup({ index, key, groupSet, event }: GroupUpsert, ledger: ProjectLedger): void {
  // Not the event's time alone: a clock that runs ahead must not make a group that is created in the future.
  const createdAtMs = Math.min(event.timestampMs, event.capturedAtMs);
  const ledgerKey = groupLedgerKey(index, key);
  const group = ledger.groups.get(ledgerKey);
  if (group === undefined) {
    const properties = { ...groupSet };
    ledger.groups.set(ledgerKey, { index, key, properties, version: 1, createdAtMs, isNew: true, isDirty: true });
    return;
  }
  const properties = mergedProperties(group.properties, groupSet);
  if (properties === group.properties) return;
  group.properties = properties;
  group.version += 1;
  group.createdAtMs = Math.min(group.createdAtMs, createdAtMs);
  group.isDirty = true;
}

/** The same object when nothing changed. */
function mergedProperties(before: JsonObject, groupSet: JsonObject): JsonObject {
  let after: JsonObject | null = null;
  for (const key of Object.keys(groupSet)) {
    if (Object.hasOwn(before, key) && jsonEqual(before[key], groupSet[key])) continue;
    after ??= { ...before };
    setOwn(after, key, groupSet[key]);
  }
  return after ?? before;
}

function invalidGroupSet(event: IncomingEvent, groupSet: unknown): RuleWarning {
  const receivedType = Array.isArray(groupSet) ? 'array' : typeof groupSet;
  const details = { eventUuid: event.uuid, event: event.event, distinctId: event.distinctId, receivedType };
  return { type: 'invalid_group_set', details };
}
