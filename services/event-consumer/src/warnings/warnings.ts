import type { CapturedEvent, CapturedWarning } from '@millrace/contracts';
import { LRUCache } from 'lru-cache';
import { v5 as uuidV5 } from 'uuid';
import type { UnprocessableRecord } from '../dead-letters.ts';
import type { RecordPosition, ReusedUuid } from '../model/event.ts';
import type { RuleWarning, WarningType } from '../model/warning.ts';
import type { StoredWarning } from './store.ts';

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

/** An event that was not stored because a different one has its uuid. There may be many for one uuid. */
export function reusedUuidWarning({ event, owner }: ReusedUuid): StoredWarning {
  const { uuid: eventUuid, event: name, distinctId, capturedAtMs, project } = event;
  const details = { eventUuid, event: name, distinctId, storedEvent: owner.event, storedDistinctId: owner.distinctId };
  const about = { projectId: project.id, uuid: JSON.stringify([eventUuid, name, distinctId]), capturedAtMs };
  return ruleWarning({ type: 'duplicate_event_uuid', details }, about);
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

/** The same finding about several events of one project in a batch. */
export interface FoldedFinding {
  first: Pick<CapturedEvent, 'uuid' | 'now'>;
  position: RecordPosition;
  count: number;
}

/** Counts an event with the others of its project. */
export function fold(
  findings: Map<number, FoldedFinding>,
  projectId: number,
  event: Omit<FoldedFinding, 'count'>,
): void {
  const earlier = findings.get(projectId);
  if (earlier === undefined) findings.set(projectId, { ...event, count: 1 });
  else earlier.count += 1;
}

/** What somebody has to look into one by one (docs/ingestion-rules.md#warnings). */
const neverFolded = new Set<WarningType>([
  'cannot_merge_already_identified',
  'cannot_merge_with_illegal_distinct_id',
  'invalid_event_when_process_person_profile_is_false',
]);

/** So many of a kind are stored one by one for a project in each minute. */
const singlesPerMinute = 20;
const minuteMs = 60_000;
/** Projects and kinds that are remembered. The oldest are forgotten, and begin a new minute when they come back. */
const maxRemembered = 10_000;
/** Namespace of the ids of folded warnings. Never change it. */
const throttleNamespace = 'd7e5a1ac-6c1c-4d6b-9a45-0f4f1a3c8b52';

/** Takes a batch's warnings and returns what is to be stored of them. */
export type WarningThrottle = (warnings: StoredWarning[]) => StoredWarning[];

/**
 * A client with a fault raises the same warning with every event. When a project has had enough warnings of a kind in a
 * minute, the further ones of a batch become one row, with the details of the first and their number as `count`: each
 * is counted, and a flood of bad events is no flood of rows.
 *
 * Only warnings about events that are decided now are folded. A repeated event raises none, so no warning is stored
 * twice when the second attempt folds differently.
 */
export function createWarningThrottle(now: () => number): WarningThrottle {
  const minutes = new LRUCache<string, { endsAtMs: number; singles: number }>({ max: maxRemembered });

  function isSingle({ projectId, type }: StoredWarning): boolean {
    if (neverFolded.has(type)) return true;
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
    const folded = new Map<string, StoredWarning>();
    for (const warning of warnings) {
      if (isSingle(warning)) {
        stored.push(warning);
        continue;
      }
      const key = `${warning.projectId}:${warning.type}`;
      const first = folded.get(key);
      if (first === undefined) folded.set(key, { ...warning, id: uuidV5(warning.id, throttleNamespace) });
      else first.count += warning.count;
    }
    return [...stored, ...folded.values()];
  };
}
