import type { DeadLetter } from '../dead-letters/dead-letter.ts';
import type { DropReason } from '../events/event-outcome.ts';
import { deadLetterWarning, gatewayWarning, migrationWarning, ruleWarning } from '../warnings/to-stored-warning.ts';
import type { StoredWarning } from '../warnings/warning-store.ts';
import { type AdmittedEvent, admitEvent } from './admit-event.ts';
import type { ResolvedProject } from './incoming-event.ts';
import type { CondemnedRecord, ParsedRecords } from './parse-records.ts';
import type { UnplannedMigration } from './unplanned-migration.ts';

export interface Intake {
  events: AdmittedEvent[];
  /** Warnings that are stored whatever becomes of the events. */
  warnings: StoredWarning[];
  deadLetters: DeadLetter[];
  dropped: (DropReason | 'invalid_token')[];
}

/**
 * Events more than a month ahead of the clock are refused: the gateway turns a time in the future into the time of
 * receipt, so such a record is not its work, and each would make a partition of its own.
 */
const maxAheadMs = 31 * 24 * 3_600_000;

/** Gives every parsed record its project and sorts out those that go no further, each with a reason. */
export function admitRecords(
  parsed: ParsedRecords,
  projects: ReadonlyMap<string, ResolvedProject>,
  nowMs: number,
): Intake {
  const intake: Intake = { events: [], warnings: [], deadLetters: [], dropped: [] };
  const unplanned = new Map<number, UnplannedMigration>();
  for (const condemned of parsed.condemned) bury(condemned, projects, intake);
  for (const warning of parsed.warnings) {
    const project = projects.get(warning.token);
    if (project === undefined) intake.dropped.push('invalid_token');
    else intake.warnings.push(gatewayWarning(warning, project.id));
  }
  for (const { captured, record, position } of parsed.events) {
    const project = projects.get(captured.token);
    if (project === undefined) {
      intake.dropped.push('invalid_token');
      continue;
    }
    if (captured.plan_unchecked === true && !project.mayMigrate) {
      intake.dropped.push('migration_not_in_plan');
      const earlier = unplanned.get(project.id);
      if (earlier === undefined) unplanned.set(project.id, { first: captured, position, count: 1 });
      else earlier.count += 1;
      continue;
    }
    const admission = admitEvent(captured, project, position);
    if (admission.kind === 'drop') {
      intake.dropped.push(admission.reason);
      const capturedAtMs = Date.parse(captured.now);
      for (const warning of admission.warnings) {
        intake.warnings.push(ruleWarning(warning, { projectId: project.id, uuid: captured.uuid, capturedAtMs }));
      }
    } else if (admission.event.timestampMs > nowMs + maxAheadMs) {
      const letter: DeadLetter = { record, position, reason: 'timestamp_out_of_range', step: 'admit_event' };
      const message = 'timestamp is more than a month in the future.';
      bury({ letter, token: captured.token, eventUuid: captured.uuid, message }, projects, intake);
    } else {
      intake.events.push(admission.event);
    }
  }
  for (const [projectId, migration] of unplanned) intake.warnings.push(migrationWarning(migration, projectId));
  return intake;
}

function bury(condemned: CondemnedRecord, projects: ReadonlyMap<string, ResolvedProject>, intake: Intake): void {
  intake.deadLetters.push(condemned.letter);
  const project = condemned.token === null ? undefined : projects.get(condemned.token);
  if (project !== undefined) intake.warnings.push(deadLetterWarning(condemned, project.id));
}
