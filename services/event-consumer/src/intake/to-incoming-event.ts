import { type CapturedEvent, eventNames, type JsonObject } from '@millrace/contracts';
import type { DropReason } from '../events/event-outcome.ts';
import type { RuleWarning } from '../warnings/warning.ts';
import { eventLevelUpdates } from './event-level-updates.ts';
import type { IncomingEvent, IngestProject, RecordPosition } from './incoming-event.ts';
import { isHistorical } from './is-historical.ts';
import { withoutKeys } from './json-object.ts';
import type { ParsedEvent } from './parse-record.ts';
import { parseTimestamp } from './parse-timestamp.ts';
import { cutText, isLongerThan, maxEventNameCharacters, maxIdCharacters } from './text-length.ts';

/** An event ready for the rules, or the reason why its project cannot have it. */
export type Admission =
  | { kind: 'event'; event: IncomingEvent; warnings: RuleWarning[] }
  | { kind: 'drop'; reason: DropReason; warnings: RuleWarning[] };

/**
 * Makes a captured event ready for the rules of its project (reference/event-processing.md section 6.1). Takes over its
 * properties: they are added to, not copied.
 */
export function toIncomingEvent(captured: ParsedEvent, project: IngestProject, position: RecordPosition): Admission {
  if (isLongerThan(captured.distinct_id, maxIdCharacters)) return dropForDistinctId(captured);
  const capturedAtMs = parseTimestamp(captured.now) ?? 0;
  const timestampMs = parseTimestamp(captured.timestamp);
  const { properties, over } = incomingProperties(captured, project);
  const event: IncomingEvent = {
    position,
    // The operator's wish is that of a project which wants no persons at all, for this one event.
    project: captured.force_disable_person_processing === true ? { ...project, personProcessingOptOut: true } : project,
    uuid: captured.uuid,
    event: processedName(captured.event),
    distinctId: captured.distinct_id,
    properties,
    timestampMs: timestampMs ?? capturedAtMs,
    capturedAtMs,
    isHistorical: isHistorical(captured.historical_migration === true, timestampMs, capturedAtMs),
  };
  const { propertiesText: text } = captured;
  if (text !== undefined && properties === captured.properties) event.written = { text, over };
  if (captured.force_disable_person_processing === true) event.isPersonForcedOff = true;
  return { kind: 'event', event, warnings: timestampMs === null ? [invalidTimestamp(captured)] : [] };
}

/** `$group_identify` of the migration guidance is processed and stored as `$groupidentify` (ARCHITECTURE.md 7). */
function processedName(name: string): string {
  return name === eventNames.groupIdentifySynonym ? eventNames.groupIdentify : cutText(name, maxEventNameCharacters);
}

/** The properties with what is laid over them, and that by itself. Not the captured ones where one had to go. */
function incomingProperties(
  captured: CapturedEvent,
  { anonymizeIps }: IngestProject,
): { properties: JsonObject; over: JsonObject } {
  const over = eventLevelUpdates(captured);
  if (captured.sent_at !== undefined) over.$sent_at = captured.sent_at;
  if (!anonymizeIps && captured.ip !== null && !Object.hasOwn(captured.properties, '$ip')) over.$ip = captured.ip;
  const kept = anonymizeIps ? withoutKeys(captured.properties, addresses) : captured.properties;
  return { properties: Object.assign(kept, over), over };
}

const addresses = new Set(['$ip']);

function dropForDistinctId(captured: CapturedEvent): Admission {
  const details = { eventUuid: captured.uuid, distinctId: captured.distinct_id.slice(0, 100).toWellFormed() };
  return {
    kind: 'drop',
    reason: 'distinct_id_too_long',
    warnings: [{ type: 'skipping_event_invalid_distinct_id', details }],
  };
}

function invalidTimestamp(captured: CapturedEvent): RuleWarning {
  return { type: 'ignored_invalid_timestamp', details: { eventUuid: captured.uuid, distinctId: captured.distinct_id } };
}
