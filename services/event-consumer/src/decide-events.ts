import type { DropReason } from './events/event-outcome.ts';
import type { EventRow } from './events/event-row.ts';
import type { Ledger } from './identity/ledger.ts';
import { type AdmittedEvent, eventsOf } from './intake/admit-records.ts';
import { processEvents } from './process-events.ts';
import { ruleWarning } from './warnings/to-stored-warning.ts';
import type { StoredWarning } from './warnings/warning-store.ts';

/** What the rules made of a batch; what they changed about persons and groups stands in the ledger. */
export interface Decisions {
  rows: EventRow[];
  warnings: StoredWarning[];
  dropped: DropReason[];
}

/** Applies the rules project by project, each project's events in their order. Projects share nothing. */
export function decideEvents(admitted: AdmittedEvent[], ledger: Ledger): Decisions {
  const decisions: Decisions = { rows: [], warnings: [], dropped: [] };
  for (const [projectId, events] of byProject(admitted)) {
    const project = ledger.projects.get(projectId);
    if (project === undefined) throw new Error(`project ${projectId} is missing from the ledger`);
    const outcomes = processEvents(eventsOf(events), project);
    outcomes.forEach((outcome, index) => {
      const admittedEvent = events[index];
      if (admittedEvent === undefined) throw new Error('the rules gave more outcomes than there are events');
      const { uuid, capturedAtMs } = admittedEvent.event;
      for (const warning of [...admittedEvent.warnings, ...outcome.warnings]) {
        decisions.warnings.push(ruleWarning(warning, { projectId, uuid, capturedAtMs }));
      }
      if (outcome.kind === 'store') decisions.rows.push(outcome.row);
      else decisions.dropped.push(outcome.reason);
    });
  }
  return decisions;
}

function byProject(admitted: AdmittedEvent[]): Map<number, AdmittedEvent[]> {
  const groups = new Map<number, AdmittedEvent[]>();
  for (const one of admitted) {
    const group = groups.get(one.event.project.id);
    if (group === undefined) groups.set(one.event.project.id, [one]);
    else group.push(one);
  }
  return groups;
}
