import { eventNames, isLongerThan } from '@millrace/contracts';
import type { IncomingEvent, Refusal } from '../model/event.ts';
import type { RuleWarning, WarningType } from '../model/warning.ts';
import { maxIdCharacters } from '../values/text.ts';
import { groupKeyTooLong } from './groups.ts';
import { isMergeEvent } from './identity-rules.ts';
import { isPersonProfileOff } from './person-processing.ts';

/** In the order they are asked (docs/ingestion-rules.md#before-the-rules). */
const checks = [nonTextAnonymousId, nonTextAlias, overlongGroupKey, mergeWithoutPerson];

/** The first reason not to store an event, or null. Only what could not be stored truthfully is refused. */
export function refuseEvent(event: IncomingEvent): Refusal | null {
  for (const check of checks) {
    const refusal = check(event);
    if (refusal !== null) return refusal;
  }
  return null;
}

/** A number or an object as an id is a client bug, and would merge everybody who has it. Null is reported as illegal. */
function nonTextAnonymousId(event: IncomingEvent): Refusal | null {
  if (event.event !== eventNames.identify) return null;
  return nonText(event, '$anon_distinct_id', 'invalid_anon_distinct_id');
}

function nonTextAlias(event: IncomingEvent): Refusal | null {
  if (event.event !== eventNames.createAlias && event.event !== eventNames.mergeDangerously) return null;
  return nonText(event, 'alias', 'invalid_alias');
}

function overlongGroupKey(event: IncomingEvent): Refusal | null {
  if (event.event !== eventNames.groupIdentify) return null;
  const key = event.properties.$group_key;
  if (typeof key !== 'string' || !isLongerThan(key, maxIdCharacters)) return null;
  return { reason: 'group_key_too_long', warning: groupKeyTooLong(event, key) };
}

/** The operator forced it, so the sender is not to blame: the event becomes an ordinary anonymous one. */
function mergeWithoutPerson(event: IncomingEvent): Refusal | null {
  if (event.isPersonForcedOff || !isMergeEvent(event.event) || !isPersonProfileOff(event)) return null;
  return {
    reason: 'invalid_event_for_flags',
    warning: warningAbout(event, 'invalid_event_when_process_person_profile_is_false', {}),
  };
}

function nonText(event: IncomingEvent, key: string, reason: 'invalid_anon_distinct_id' | 'invalid_alias') {
  const value = event.properties[key];
  if (value === undefined || value === null || typeof value === 'string') return null;
  const receivedType = Array.isArray(value) ? 'array' : typeof value;
  return { reason, warning: warningAbout(event, reason, { receivedType }) };
}

function warningAbout(event: IncomingEvent, type: WarningType, details: Record<string, string>): RuleWarning {
  return {
    type,
    details: { eventUuid: event.uuid, event: event.event, distinctId: event.distinctId, ...details },
  };
}
