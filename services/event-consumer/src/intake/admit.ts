// Determines each parsed record's project, and rejects records that cannot be processed.

import { type CapturedEvent, cutToCodePoints, isLongerThan } from '@millrace/contracts';
import type { DeadLetter, RecordOwner, UnprocessableRecord } from '../dead-letters.ts';
import type { DropReason, IngestProject, RecordPosition, Refusal, ResolvedProject } from '../model/event.ts';
import type { RuleWarning } from '../model/warning.ts';

import { maxIdCharacters } from '../values/text.ts';
import type { StoredWarning } from '../warnings/store.ts';
import {
  type CountedFinding,
  countFinding,
  toDeadLetterWarning,
  toGatewayWarning,
  toMigrationWarning,
  toRetentionWarning,
  toRuleWarning,
} from '../warnings/warnings.ts';
import { type ParsedRecords, parseTimestamp, type ReceivedEvent } from './parse.ts';
import type { FindProject } from './projects.ts';

export interface Intake {
  events: AdmittedEvent[];
  /** Warnings that are stored even if no event is stored. */
  warnings: StoredWarning[];
  deadLetters: DeadLetter[];
  dropped: (DropReason | OwnerlessReason)[];
}

/** Why a record has no owner: its key never belonged to a project, or its environment was deleted. */
export type OwnerlessReason = 'invalid_token' | 'environment_deleted';

/**
 * How many milliseconds an event's time can be in the future. Events beyond that are rejected, because each one could
 * require a separate partition. The gateway never writes such a record, because it replaces a time in the future with
 * the time of receipt.
 */
const maxAheadMs = 31 * 24 * 3_600_000;

/** Determines each parsed record's project. Removes records that cannot be processed, each with a reason. */
export function admitRecords(parsed: ParsedRecords, projectOf: FindProject, nowMs: number): Intake {
  const intake: Intake = { events: [], warnings: [], deadLetters: [], dropped: [] };
  const unplanned = new Map<number, CountedFinding>();
  const expired = new Map<number, CountedFinding>();
  for (const unprocessable of parsed.unprocessable) addDeadLetter(unprocessable, projectOf, intake);
  for (const warning of parsed.warnings) {
    const project = projectOf(warning);
    if (project === undefined) intake.dropped.push(ownerlessReason(warning));
    else intake.warnings.push(toGatewayWarning(warning, project.id));
  }
  for (const { captured, record, position } of parsed.events) {
    const project = projectOf(captured);
    if (project === undefined) {
      intake.dropped.push(ownerlessReason(captured));
      continue;
    }
    if (captured.plan_unchecked === true && !project.mayMigrate) {
      intake.dropped.push('migration_not_in_plan');
      countFinding(unplanned, project.id, { first: captured, position });
      continue;
    }
    const admission = admitEvent(captured, project, position);
    if (admission.kind === 'drop') {
      intake.dropped.push(admission.reason);
      const capturedAtMs = Date.parse(captured.now);
      for (const warning of admission.warnings) {
        intake.warnings.push(toRuleWarning(warning, { projectId: project.id, uuid: captured.uuid, capturedAtMs }));
      }
    } else if (isOlderThanRetention(admission.event.timestampMs, project, nowMs)) {
      intake.dropped.push('older_than_retention');
      // If the event became too old only after it was captured, do not store a warning.
      if (isOlderThanRetention(admission.event.timestampMs, project, admission.event.capturedAtMs)) {
        countFinding(expired, project.id, { first: captured, position });
      }
    } else if (admission.event.timestampMs > nowMs + maxAheadMs) {
      const deadLetter: DeadLetter = { record, position, reason: 'timestamp_out_of_range', step: 'admit_event' };
      const message = '`timestamp` is more than a month in the future.';
      addDeadLetter({ deadLetter, owner: captured, eventUuid: captured.uuid, message }, projectOf, intake);
    } else {
      intake.events.push(admission.event);
    }
  }
  for (const [projectId, migration] of unplanned) intake.warnings.push(toMigrationWarning(migration, projectId));
  for (const [projectId, finding] of expired) intake.warnings.push(toRetentionWarning(finding, projectId));
  return intake;
}

function ownerlessReason({ environment_id }: RecordOwner): OwnerlessReason {
  return environment_id === undefined ? 'invalid_token' : 'environment_deleted';
}

function addDeadLetter(unprocessable: UnprocessableRecord, projectOf: FindProject, intake: Intake): void {
  intake.deadLetters.push(unprocessable.deadLetter);
  const project = unprocessable.owner === null ? undefined : projectOf(unprocessable.owner);
  if (project !== undefined) intake.warnings.push(toDeadLetterWarning(unprocessable, project.id));
}

/** An event that is ready for the rules, with information that can be used without reading its properties. */
export interface AdmittedEvent {
  received: ReceivedEvent;
  project: IngestProject;
  position: RecordPosition;
  timestampMs: number;
  capturedAtMs: number;
  hasUnreadableTimestamp: boolean;
  /** Warnings that are stored only if the event is not a duplicate. */
  warnings: RuleWarning[];
  /** Why the event is dropped before the rules are applied. Ignored if the event is a duplicate. */
  refusal?: Refusal;
}

type Admission =
  | { kind: 'event'; event: AdmittedEvent }
  | { kind: 'drop'; reason: DropReason; warnings: RuleWarning[] };

export function admitEvent(received: ReceivedEvent, project: IngestProject, position: RecordPosition): Admission {
  if (isLongerThan(received.distinct_id, maxIdCharacters)) return dropForDistinctId(received);
  const capturedAtMs = parseTimestamp(received.now) ?? 0;
  const timestampMs = parseTimestamp(received.timestamp);
  return {
    kind: 'event',
    event: {
      received,
      project,
      position,
      timestampMs: timestampMs ?? capturedAtMs,
      capturedAtMs,
      hasUnreadableTimestamp: timestampMs === null,
      warnings: timestampMs === null ? [invalidTimestamp(received)] : [],
    },
  };
}

type Head = Omit<CapturedEvent, 'properties'>;

function dropForDistinctId({ uuid, distinct_id: distinctId }: Head): Admission {
  const details = { eventUuid: uuid, distinctId: cutToCodePoints(distinctId, 100).toWellFormed() };
  return {
    kind: 'drop',
    reason: 'distinct_id_too_long',
    warnings: [{ type: 'skipping_event_invalid_distinct_id', details }],
  };
}

function invalidTimestamp({ uuid, distinct_id: distinctId }: Head): RuleWarning {
  return { type: 'ignored_invalid_timestamp', details: { eventUuid: uuid, distinctId } };
}

const dayMs = 86_400_000;

/**
 * Returns whether an event is older than the retention period. Such an event has no effect, not even on persons.
 * Retention (in the delivery worker) also deletes the identities of old events, so an old event that is sent again
 * would look like a new event.
 */
function isOlderThanRetention(
  timestampMs: number,
  { eventRetentionDays }: Pick<ResolvedProject, 'eventRetentionDays'>,
  nowMs: number,
): boolean {
  return eventRetentionDays !== null && timestampMs < nowMs - eventRetentionDays * dayMs;
}
