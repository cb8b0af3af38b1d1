import type { CapturedWarning } from '@millrace/contracts';
import { v5 as uuidV5 } from 'uuid';
import type { UnprocessableRecord } from '../model/unprocessable-record.ts';
import type { RuleWarning } from '../model/warning.ts';
import type { FoldedFinding } from './folded-finding.ts';
import type { StoredWarning } from './warning-store.ts';

/** Namespace of warning ids: a warning is known by what it is about and its type. Never change it. */
const namespace = '5f0c0b5e-9d0f-4b57-8a4e-3b1f7a1c2d60';

/** A finding about one event. */
export function ruleWarning(
  warning: RuleWarning,
  event: { projectId: number; uuid: string; capturedAtMs: number },
): StoredWarning {
  return {
    projectId: event.projectId,
    id: uuidV5(`${event.uuid}:${warning.type}`, namespace),
    type: warning.type,
    details: warning.details,
    count: 1,
    timestampMs: event.capturedAtMs,
  };
}

/** A report of the gateway. It brings its own identity. */
export function gatewayWarning(warning: CapturedWarning, projectId: number): StoredWarning {
  return {
    projectId,
    id: warning.uuid,
    type: warning.type,
    details: warning.details,
    count: warning.count,
    timestampMs: Date.parse(warning.now),
  };
}

/**
 * Events of a migration that the plan of their project does not include. The gateway answers such requests with 402; it
 * lets them in, marked, only while it cannot ask anybody (docs/ingestion-rules.md#historical-migrations).
 */
export function migrationWarning(finding: FoldedFinding, projectId: number): StoredWarning {
  return foldedWarning('historical_migration_not_in_plan', finding, projectId);
}

/** Events that were too old to be kept when they came. */
export function retentionWarning(finding: FoldedFinding, projectId: number): StoredWarning {
  return foldedWarning('event_older_than_retention', finding, projectId);
}

/**
 * One warning for all such events of a project in a batch: an import may have millions. It is known by the position of
 * the first one in the log.
 */
function foldedWarning(
  type: 'historical_migration_not_in_plan' | 'event_older_than_retention',
  { first, position, count }: FoldedFinding,
  projectId: number,
): StoredWarning {
  const { log, topic, partition, offset } = position;
  return {
    projectId,
    id: uuidV5(`${log}/${topic}/${partition}/${offset}:${type}`, namespace),
    type,
    details: { firstEventUuid: first.uuid },
    count,
    timestampMs: Date.parse(first.now),
  };
}

/**
 * Tells the project about a record that was given up. It is known by the record's position in the log, so a replay adds
 * none.
 */
export function deadLetterWarning(
  { letter, eventUuid, message }: UnprocessableRecord,
  projectId: number,
): StoredWarning {
  const { log, topic, partition, offset } = letter.position;
  return {
    projectId,
    id: uuidV5(`${log}/${topic}/${partition}/${offset}:event_dead_lettered`, namespace),
    type: 'event_dead_lettered',
    details: {
      reason: letter.reason,
      step: letter.step,
      topic,
      partition,
      offset: String(offset),
      ...(eventUuid === null ? {} : { eventUuid }),
      ...(message === null ? {} : { message }),
    },
    count: 1,
    timestampMs: letter.record.appendedAtMs,
  };
}
