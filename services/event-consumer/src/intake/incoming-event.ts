import { type CapturedEvent, cutToCodePoints, eventNames, type JsonObject } from '@millrace/contracts';
import type { IncomingEvent, IngestProject } from '../model/event.ts';
import { unsetKeys } from '../rules/person-properties.ts';
import { objectOrEmpty, overlaid, withoutKeys } from '../values/json.ts';
import { maxEventNameCharacters } from '../values/text.ts';
import type { AdmittedEvent } from './admit.ts';

/**
 * Makes an admitted event ready for the rules of its project (docs/ingestion-rules.md#before-the-rules): lays over its
 * properties what the client wrote beside them. The object of the properties becomes the new event's own.
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
  const kept = project.anonymizeIps ? withoutKeys(sent, addresses) : sent;
  const event: IncomingEvent = {
    warnings,
    position,
    // For this one event the operator wants what a project wants that has no persons at all.
    project: received.force_disable_person_processing === true ? { ...project, personProcessingOptOut: true } : project,
    uuid: received.uuid,
    event: processedName(received.event),
    distinctId: received.distinct_id,
    properties: Object.assign(kept, over),
    timestampMs,
    capturedAtMs,
    isHistorical: isHistorical(
      received.historical_migration === true,
      hasUnreadableTimestamp ? null : timestampMs,
      capturedAtMs,
    ),
  };
  // Where a property had to be removed, the text still has it.
  if (received.written !== undefined && kept === sent) event.written = { ...received.written, over };
  if (refusal !== undefined) event.refusal = refusal;
  if (received.force_disable_person_processing === true) event.isPersonForcedOff = true;
  return event;
}

/**
 * `$group_identify` of the migration guidance is processed and stored as `$groupidentify`
 * (docs/ingestion-rules.md#effects-of-event-names).
 */
export function processedName(name: string): string {
  return name === eventNames.groupIdentifySynonym
    ? eventNames.groupIdentify
    : cutToCodePoints(name, maxEventNameCharacters);
}

/** What is added to the properties as they were sent. */
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
 * What the client wrote beside an event's properties, as an overlay of them: `$set` and `$set_once` key by key with the
 * event level winning, `$unset` as the union (docs/ingestion-rules.md#before-the-rules).
 */
function eventLevelUpdates(
  { $set, $set_once, $unset }: Pick<CapturedEvent, '$set' | '$set_once' | '$unset'>,
  properties: JsonObject,
): JsonObject {
  const updates: JsonObject = {};
  if ($set !== undefined) updates.$set = overlaid(objectOrEmpty(properties.$set), $set);
  if ($set_once !== undefined) updates.$set_once = overlaid(objectOrEmpty(properties.$set_once), $set_once);
  if ($unset !== undefined) {
    updates.$unset = [...new Set([...unsetKeys(properties.$unset), ...unsetKeys($unset)])];
  }
  return updates;
}

/** Public guidance: what is migrated is at least this old. */
const minHistoricalAgeMs = 48 * 3_600_000;

/**
 * Whether the stored event is marked as migrated. A client may call anything historical; the marker stays only when the
 * event is at least 48 hours old, or when its time is unknown (null). The event is processed alike either way
 * (docs/ingestion-rules.md#historical-migrations).
 */
function isHistorical(isFlagged: boolean, timestampMs: number | null, nowMs: number): boolean {
  return isFlagged && (timestampMs === null || nowMs - timestampMs >= minHistoricalAgeMs);
}
