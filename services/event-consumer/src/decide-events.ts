import { BatchTooLarge } from './failures/batch-too-large.ts';
import type { AdmittedEvent } from './intake/admit-event.ts';
import type { Refusal } from './intake/refuse-event.ts';
import { toIncomingEvent } from './intake/to-incoming-event.ts';
import { isOfDeletedPerson } from './ledger/deleted-person.ts';
import type { DropReason, EventOutcome } from './model/event-outcome.ts';
import type { EventRow } from './model/event-row.ts';
import type { Ledger } from './model/ledger.ts';
import { processEvent } from './process-event.ts';
import { ruleWarning } from './warnings/to-stored-warning.ts';
import type { StoredWarning } from './warnings/warning-store.ts';

/** What the rules made of a batch; what they changed about persons and groups stands in the ledger. */
export interface Decisions {
  rows: EventRow[];
  warnings: StoredWarning[];
  dropped: DropReason[];
}

/**
 * About the most that the rows of a batch may show of persons, beside what the events hold themselves. So a batch
 * writes no more than some megabytes, however large the persons are.
 */
const maxShownBytes = 8 * 1024 * 1024;

/**
 * Applies the rules project by project, each project's events in their order. Projects share nothing. Properties are read
 * here, event by event.
 *
 * @throws UnreadableProperties as `toIncomingEvent` does; BatchTooLarge when the rows of several events show too much.
 */
export function decideEvents(admitted: AdmittedEvent[], ledger: Ledger): Decisions {
  const decisions: Decisions = { rows: [], warnings: [], dropped: [] };
  let shownBytes = 0;
  for (const [projectId, events] of byProject(admitted)) {
    const project = ledger.projects.get(projectId);
    if (project === undefined) throw new Error(`project ${projectId} is missing from the ledger`);
    for (const one of events) {
      const incoming = toIncomingEvent(one);
      if (isOfDeletedPerson(incoming, project)) {
        decisions.dropped.push('person_deleted');
        continue;
      }
      const outcome = one.refusal === undefined ? processEvent(incoming, project) : toDrop(one.refusal);
      const { received, capturedAtMs } = one;
      for (const warning of [...one.warnings, ...outcome.warnings]) {
        decisions.warnings.push(ruleWarning(warning, { projectId, uuid: received.uuid, capturedAtMs }));
      }
      if (outcome.kind === 'drop') {
        decisions.dropped.push(outcome.reason);
        continue;
      }
      decisions.rows.push(outcome.row);
      shownBytes += outcome.row.personBytes;
      if (shownBytes > maxShownBytes && admitted.length > 1) {
        throw new BatchTooLarge('its rows show large persons', Math.ceil(admitted.length / decisions.rows.length));
      }
    }
  }
  return decisions;
}

function toDrop({ reason, warning }: Refusal): EventOutcome {
  return { kind: 'drop', reason, warnings: [warning] };
}

function byProject(admitted: AdmittedEvent[]): Map<number, AdmittedEvent[]> {
  const groups = new Map<number, AdmittedEvent[]>();
  for (const one of admitted) {
    const group = groups.get(one.project.id);
    if (group === undefined) groups.set(one.project.id, [one]);
    else group.push(one);
  }
  return groups;
}
