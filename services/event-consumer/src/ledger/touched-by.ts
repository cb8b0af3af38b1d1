import { eventNames, isObject } from '@millrace/contracts';
import { type GroupIdentifyTarget, groupIdentifyTarget } from '../groups/group-identify-target.ts';
import { mergeRequest } from '../identity/identity-rules.ts';
import type { IncomingEvent } from '../model/incoming-event.ts';

/** Everything the rules may look up for one event. May name more than they end up using, never less. */
export interface Touched {
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
