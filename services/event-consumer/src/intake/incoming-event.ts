// Prepares an event for the rules: normalizes its name, and merges person updates that are outside of its properties
// into the properties.

import { type CapturedEvent, cutToCodePoints, eventNames, type JsonObject } from '@millrace/contracts';
import type { IncomingEvent, IngestProject } from '../model/event.ts';
import { readUnsetKeys } from '../rules/person-properties.ts';
import { mergeObjects, objectOrEmpty, omitKeys } from '../values/json.ts';
import { maxEventNameCharacters } from '../values/text.ts';
import type { AdmittedEvent } from './admit.ts';

/**
 * Prepares an admitted event for the rules of its project (docs/ingestion-rules.md#before-the-rules). Adds updates that
 * are outside of the properties as an overlay. Takes ownership of the properties object.
 */
export function toIncomingEvent({
  received,
  project,
  position,
  timestampMs,
  capturedAtMs,
  hasUnreadableTimestamp,
  warnings,
  refusal,
}: AdmittedEvent): IncomingEvent {
  const { properties: sent } = received;
  const over = overlayOf(received, sent, project);
  const storable = project.anonymizeIps ? omitKeys(sent, addresses) : sent;
  const event: IncomingEvent = {
    warnings,
    position,
    // The operator has turned person processing off, so treat the event as if its project had done so.
    project: received.force_disable_person_processing === true ? { ...project, personProcessingOptOut: true } : project,
    uuid: received.uuid,
    event: normalizeEventName(received.event),
    distinctId: received.distinct_id,
    properties: Object.assign(storable, over),
    timestampMs,
    capturedAtMs,
    isHistorical: isHistorical(
      received.historical_migration === true,
      hasUnreadableTimestamp ? null : timestampMs,
      capturedAtMs,
    ),
  };
  // If a property was removed, the original text cannot be used, because it still contains the property.
  if (received.written !== undefined && storable === sent) event.written = { ...received.written, over };
  if (refusal !== undefined) event.refusal = refusal;
  if (received.force_disable_person_processing === true) event.isPersonForcedOff = true;
  return event;
}

/**
 * Normalizes an event name. `$group_identify`, which the migration guide uses, is processed and stored as
 * `$groupidentify` (docs/ingestion-rules.md#effects-of-event-names).
 */
export function normalizeEventName(name: string): string {
  return name === eventNames.groupIdentifySynonym
    ? eventNames.groupIdentify
    : cutToCodePoints(name, maxEventNameCharacters);
}

function overlayOf(
  received: Omit<CapturedEvent, 'properties'>,
  sent: JsonObject,
  { anonymizeIps }: IngestProject,
): JsonObject {
  const over = eventLevelUpdates(received, sent);
  if (received.sent_at !== undefined) over.$sent_at = received.sent_at;
  if (!anonymizeIps && received.ip !== null && !Object.hasOwn(sent, '$ip')) over.$ip = received.ip;
  return over;
}

const addresses = new Set(['$ip']);

/**
 * Returns the updates outside of the properties as an overlay. `$set` and `$set_once` are merged key by key, and the
 * outer values take precedence. The lists in `$unset` are combined (docs/ingestion-rules.md#before-the-rules).
 */
function eventLevelUpdates(
  { $set, $set_once, $unset }: Pick<CapturedEvent, '$set' | '$set_once' | '$unset'>,
  properties: JsonObject,
): JsonObject {
  const updates: JsonObject = {};
  if ($set !== undefined) updates.$set = mergeObjects(objectOrEmpty(properties.$set), $set);
  if ($set_once !== undefined) updates.$set_once = mergeObjects(objectOrEmpty(properties.$set_once), $set_once);
  if ($unset !== undefined) {
    updates.$unset = [...new Set([...readUnsetKeys(properties.$unset), ...readUnsetKeys($unset)])];
  }
  return updates;
}

/** The minimum age of migrated events in milliseconds, according to PostHog's documentation. */
const minHistoricalAgeMs = 48 * 3_600_000;

/**
 * Returns whether to mark the stored event as migrated. Clients can flag any event as historical, but the flag is kept
 * only if the event is at least 48 hours old or its time is unknown (null). The flag does not affect how the event is
 * processed (docs/ingestion-rules.md#historical-migrations).
 */
function isHistorical(isFlagged: boolean, timestampMs: number | null, nowMs: number): boolean {
  return isFlagged && (timestampMs === null || nowMs - timestampMs >= minHistoricalAgeMs);
}
