import { isObject } from '@millrace/contracts';
import type { IncomingEvent } from '../model/incoming-event.ts';
import type { ProjectLedger } from '../model/ledger.ts';
import type { RuleWarning } from '../model/warning.ts';
import { groupIdentifyTarget } from './group-identify-target.ts';
import { isGroupTypeTooLong, resolveGroupType } from './group-types.ts';
import { groupTypesTooLong } from './group-warnings.ts';

/**
 * `$groupidentify` creates or updates one group: the only event that writes group rows
 * (docs/ingestion-rules.md#groups). An event that names no group, a sixth type or an invalid `$group_set` writes none
 * and is stored all the same.
 */
export function groupIdentify(event: IncomingEvent, ledger: ProjectLedger): RuleWarning[] {
  const target = groupIdentifyTarget(event.properties);
  if (target === null) return [];
  const groupSet = event.properties.$group_set ?? {};
  if (!isObject(groupSet)) return [invalidGroupSet(event, groupSet)];
  if (isGroupTypeTooLong(target.type)) return [groupTypesTooLong(event, [target.type])];
  const index = resolveGroupType(target.type, event.timestampMs, ledger);
  if (index === null) return [];
  // Not the event's time alone: when a client's clock runs ahead, the group would be created in the future.
  const createdAtMs = Math.min(event.timestampMs, event.capturedAtMs);
  const { uuid, event: name, distinctId, capturedAtMs } = event;
  const from = { uuid, event: name, distinctId, capturedAtMs };
  ledger.groupUpdates.push({ index, key: target.key, groupSet, createdAtMs, from });
  return [];
}

function invalidGroupSet(event: IncomingEvent, groupSet: unknown): RuleWarning {
  const receivedType = Array.isArray(groupSet) ? 'array' : typeof groupSet;
  const details = { eventUuid: event.uuid, event: event.event, distinctId: event.distinctId, receivedType };
  return { type: 'invalid_group_set', details };
}
