import { type CapturedEvent, eventNames, type JsonObject } from '@millrace/contracts';
import type { DropReason } from '../events/event-outcome.ts';
import type { RuleWarning } from '../warnings/warning.ts';
import type { IncomingEvent, IngestProject, RecordPosition } from './incoming-event.ts';
import { isHistorical } from './is-historical.ts';
import { mergeEventLevelUpdates } from './merge-event-level-updates.ts';
import type { ParsedEvent } from './parse-record.ts';
import { parseTimestamp } from './parse-timestamp.ts';
import { cutText, isLongerThan, maxEventNameCharacters, maxIdCharacters } from './text-length.ts';

/** An event ready for the rules, or the reason why its project cannot have it. */
export type Admission =
  | { kind: 'event'; event: IncomingEvent; warnings: RuleWarning[] }
  | { kind: 'drop'; reason: DropReason; warnings: RuleWarning[] };

/** Makes a captured event ready for the rules of its project (reference/event-processing.md section 6.1). */
export function toIncomingEvent(captured: ParsedEvent, project: IngestProject, position: RecordPosition): Admission {
  if (isLongerThan(captured.distinct_id, maxIdCharacters)) return dropForDistinctId(captured);
  const capturedAtMs = parseTimestamp(captured.now) ?? 0;
  const timestampMs = parseTimestamp(captured.timestamp);
  const event: IncomingEvent = {
    position,
    // The operator's wish is that of a project which wants no persons at all, for this one event.
    project: captured.force_disable_person_processing === true ? { ...project, personProcessingOptOut: true } : project,
    uuid: captured.uuid,
    event: processedName(captured.event),
    distinctId: captured.distinct_id,
    properties: incomingProperties(captured, project),
    timestampMs: timestampMs ?? capturedAtMs,
    capturedAtMs,
    isHistorical: isHistorical(captured.historical_migration === true, timestampMs, capturedAtMs),
  };
  const { properties, propertiesText: text } = captured;
  if (text !== undefined) event.written = { properties, text };
  if (captured.force_disable_person_processing === true) event.isPersonForcedOff = true;
  return { kind: 'event', event, warnings: timestampMs === null ? [invalidTimestamp(captured)] : [] };
}

/** `$group_identify` of the migration guidance is processed and stored as `$groupidentify` (ARCHITECTURE.md 7). */
function processedName(name: string): string {
  return name === eventNames.groupIdentifySynonym ? eventNames.groupIdentify : cutText(name, maxEventNameCharacters);
}

function incomingProperties(captured: CapturedEvent, project: IngestProject): JsonObject {
  const properties = mergeEventLevelUpdates(captured);
  if (project.anonymizeIps) delete properties.$ip;
  else if (captured.ip !== null && !Object.hasOwn(properties, '$ip')) properties.$ip = captured.ip;
  if (captured.sent_at !== undefined) properties.$sent_at = captured.sent_at;
  return properties;
}

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
