import { type CapturedEvent, cutToCodePoints, eventNames, type JsonObject } from '@millrace/contracts';
import type { IncomingEvent, IngestProject } from '../model/incoming-event.ts';
import { withoutKeys } from '../values/json-object.ts';
import { maxEventNameCharacters } from '../values/text-length.ts';
import { toWritten } from '../values/written-properties.ts';
import type { AdmittedEvent } from './admit-event.ts';
import { eventLevelUpdates } from './event-level-updates.ts';
import { isHistorical } from './is-historical.ts';
import { isUnparsed, parseProperties } from './unparsed-event.ts';

/**
 * Makes an admitted event ready for the rules of its project (docs/ingestion-rules.md#before-the-rules): reads its
 * properties, and lays over them what the client wrote beside them.
 *
 * @throws UnreadableProperties as `parseProperties` does.
 */
export function toIncomingEvent({
  received,
  project,
  position,
  timestampMs,
  capturedAtMs,
  hasUnreadableTimestamp,
}: AdmittedEvent): IncomingEvent {
  const { properties: sent, text } = parseProperties(received);
  const over = overlayOf(received, sent, project);
  const kept = project.anonymizeIps ? withoutKeys(sent, addresses) : sent;
  // A property had to be removed, and the text still has it.
  const written =
    isUnparsed(received) && text !== null && kept === sent ? toWritten(received.unparsed, text, over) : null;
  const event: IncomingEvent = {
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
  if (written !== null) event.written = written;
  if (received.force_disable_person_processing === true) event.isPersonForcedOff = true;
  return event;
}

/**
 * `$group_identify` of the migration guidance is processed and stored as `$groupidentify`
 * (docs/ingestion-rules.md#what-an-event-name-does).
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
