// Decides whether an event is dropped before the rules for persons are applied.

import { cutToCodePoints, eventNames, isLongerThan } from '@millrace/contracts';
import type { IncomingEvent, Refusal } from '../model/event.ts';
import type { RuleWarning, WarningType } from '../model/warning.ts';
import { maxIdCharacters } from '../values/text.ts';
import { groupKeyTooLongWarning } from './groups.ts';
import { isMergeEvent, readOtherId } from './merge-requests.ts';
import { isPersonProfileOff } from './person-processing.ts';

/** The checks that can refuse an event, in order (docs/ingestion-rules.md#before-the-rules). */
const checks = [clientWarning, nonTextAnonymousId, nonTextAlias, overlongGroupKey, mergeWithoutPerson];

/**
 * Returns the first reason not to store an event, or null if it can be stored. Rejects only events that cannot be
 * stored correctly.
 */
export function findRefusal(event: IncomingEvent): Refusal | null {
  for (const check of checks) {
    const refusal = check(event);
    if (refusal !== null) return refusal;
  }
  return null;
}

/** The maximum number of characters of a client's report in a warning. SDKs send shorter reports. */
const shownMessageCharacters = 500;

/**
 * Refuses an event with which an SDK reports that it dropped events, for example because of its own rate limit. The
 * report is stored as a warning.
 */
function clientWarning(event: IncomingEvent): Refusal | null {
  if (event.event !== eventNames.clientWarning) return null;
  const { $$client_ingestion_warning_message: message } = event.properties;
  const details: Record<string, string> =
    typeof message === 'string' ? { message: cutToCodePoints(message, shownMessageCharacters) } : {};
  return { reason: 'client_ingestion_warning', warning: warningAbout(event, 'client_ingestion_warning', details) };
}

/**
 * Rejects an ID that is an object, a boolean or a rounded number. Faulty clients send objects and booleans, and all
 * persons that share such an ID would be merged. Null is reported as an illegal ID.
 */
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
  return { reason: 'group_key_too_long', warning: groupKeyTooLongWarning(event, key) };
}

/**
 * Rejects merge events in which the sender turns person processing off. If the operator has turned it off, the event
 * becomes an ordinary anonymous event instead, because the sender did not choose this.
 */
function mergeWithoutPerson(event: IncomingEvent): Refusal | null {
  if (event.isPersonForcedOff || !isMergeEvent(event.event) || !isPersonProfileOff(event)) return null;
  return {
    reason: 'invalid_event_for_flags',
    warning: warningAbout(event, 'invalid_event_when_process_person_profile_is_false', {}),
  };
}

function nonText(event: IncomingEvent, key: string, reason: 'invalid_anon_distinct_id' | 'invalid_alias') {
  const value = event.properties[key];
  if (value === undefined || value === null || readOtherId(value) !== null) return null;
  const receivedType = Array.isArray(value) ? 'array' : typeof value;
  return { reason, warning: warningAbout(event, reason, { receivedType }) };
}

function warningAbout(event: IncomingEvent, type: WarningType, details: Record<string, string>): RuleWarning {
  return {
    type,
    details: { eventUuid: event.uuid, event: event.event, distinctId: event.distinctId, ...details },
  };
}
