// Creates ingestion warnings, and combines repeated warnings.

import type { CapturedEvent, CapturedWarning } from '@millrace/contracts';
import { LRUCache } from 'lru-cache';
import { v5 as uuidV5 } from 'uuid';
import type { UnprocessableRecord } from '../dead-letters.ts';
import type { RecordPosition, ReusedUuid } from '../model/event.ts';
import type { RuleWarning, WarningType } from '../model/warning.ts';
import type { StoredWarning } from './store.ts';

/** The namespace of warning IDs, which are derived from a warning's subject and type. Never change it. */
const namespace = '5f0c0b5e-9d0f-4b57-8a4e-3b1f7a1c2d60';

export function toRuleWarning(
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

/**
 * Creates the warning about an event that was not stored because a different event has the same UUID. Several warnings
 * can be about the same UUID.
 */
export function toReusedUuidWarning({ event, owner }: ReusedUuid): StoredWarning {
  const { uuid: eventUuid, event: name, distinctId, capturedAtMs, project } = event;
  const details = { eventUuid, event: name, distinctId, storedEvent: owner.event, storedDistinctId: owner.distinctId };
  const about = { projectId: project.id, uuid: JSON.stringify([eventUuid, name, distinctId]), capturedAtMs };
  return toRuleWarning({ type: 'duplicate_event_uuid', details }, about);
}

/** Converts a warning from the gateway. The warning keeps its ID. */
export function toGatewayWarning(warning: CapturedWarning, projectId: number): StoredWarning {
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
 * Creates the warning about events of a migration that the project's plan does not include. The gateway rejects such
 * requests with 402. It accepts and marks them only while it cannot look up the plan
 * (docs/ingestion-rules.md#historical-migrations).
 */
export function toMigrationWarning(finding: CountedFinding, projectId: number): StoredWarning {
  return combinedWarning('historical_migration_not_in_plan', finding, projectId);
}

export function toRetentionWarning(finding: CountedFinding, projectId: number): StoredWarning {
  return combinedWarning('event_older_than_retention', finding, projectId);
}

/**
 * Creates one warning for all events of a project in a batch that have the same problem, because an import can have
 * millions of them. The warning's ID is derived from the log position of the first event.
 */
function combinedWarning(
  type: 'historical_migration_not_in_plan' | 'event_older_than_retention',
  { first, position, count }: CountedFinding,
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
 * Creates the warning about a record that became a dead letter. The warning's ID is derived from the record's log
 * position, so a replay does not add a second warning.
 */
export function toDeadLetterWarning(
  { deadLetter, eventUuid, message }: UnprocessableRecord,
  projectId: number,
): StoredWarning {
  const { log, topic, partition, offset } = deadLetter.position;
  return {
    projectId,
    id: uuidV5(`${log}/${topic}/${partition}/${offset}:event_dead_lettered`, namespace),
    type: 'event_dead_lettered',
    details: {
      reason: deadLetter.reason,
      step: deadLetter.step,
      topic,
      partition,
      offset: String(offset),
      ...(eventUuid === null ? {} : { eventUuid }),
      ...(message === null ? {} : { message }),
    },
    count: 1,
    timestampMs: deadLetter.record.appendedAtMs,
  };
}

/** A problem that several events of a project in a batch share. It is stored as one warning with a count. */
export interface CountedFinding {
  first: Pick<CapturedEvent, 'uuid' | 'now'>;
  position: RecordPosition;
  count: number;
}

export function countFinding(
  findings: Map<number, CountedFinding>,
  projectId: number,
  event: Omit<CountedFinding, 'count'>,
): void {
  const earlier = findings.get(projectId);
  if (earlier === undefined) findings.set(projectId, { ...event, count: 1 });
  else earlier.count += 1;
}

/** The types of warnings that must be investigated individually (docs/ingestion-rules.md#warnings). */
const neverCombined = new Set<WarningType>([
  'cannot_merge_already_identified',
  'cannot_merge_with_illegal_distinct_id',
  'invalid_event_when_process_person_profile_is_false',
]);

/** How many warnings of the same type are stored individually per project and minute. */
const singlesPerMinute = 20;
const minuteMs = 60_000;
/**
 * The maximum number of cached combinations of project and warning type. An evicted combination starts a new minute
 * when it occurs again.
 */
const maxRemembered = 10_000;
/** The namespace of the IDs of combined warnings. Never change it. */
const throttleNamespace = 'd7e5a1ac-6c1c-4d6b-9a45-0f4f1a3c8b52';

export type WarningThrottle = (warnings: StoredWarning[]) => StoredWarning[];

/**
 * Creates the throttle, which is needed because a faulty client causes the same warning with every event. After
 * `singlesPerMinute` warnings of a type in a minute, the throttle combines all further warnings of a batch into one
 * row. The row has the details of the first one, and their number as `count`. All warnings are counted, but many
 * invalid events do not result in many rows.
 *
 * Only warnings about events that this batch decides are combined. An event that is sent again causes no warning, so no
 * warning is stored twice if a second attempt combines warnings differently.
 */
export function createWarningThrottle(now: () => number): WarningThrottle {
  const minutes = new LRUCache<string, { endsAtMs: number; singles: number }>({ max: maxRemembered });

  function isSingle({ projectId, type }: StoredWarning): boolean {
    if (neverCombined.has(type)) return true;
    const key = `${projectId}:${type}`;
    let minute = minutes.get(key);
    if (minute === undefined || minute.endsAtMs <= now()) {
      minute = { endsAtMs: now() + minuteMs, singles: 0 };
      minutes.set(key, minute);
    }
    minute.singles += 1;
    return minute.singles <= singlesPerMinute;
  }

  return (warnings) => {
    const stored: StoredWarning[] = [];
    const combined = new Map<string, StoredWarning>();
    for (const warning of warnings) {
      if (isSingle(warning)) {
        stored.push(warning);
        continue;
      }
      const key = `${warning.projectId}:${warning.type}`;
      const first = combined.get(key);
      if (first === undefined) combined.set(key, { ...warning, id: uuidV5(warning.id, throttleNamespace) });
      else first.count += warning.count;
    }
    return [...stored, ...combined.values()];
  };
}
