// Applies the rules to a batch's events in memory.

import { normalizeProperties, toEventRow } from './events/rows.ts';
import { BatchTooLarge } from './failures.ts';
import { isOfDeletedPerson } from './ledger/touched.ts';
import type { DropReason, EventOutcome, EventRow, IncomingEvent, Refusal } from './model/event.ts';
import type { Ledger, ProjectLedger } from './model/ledger.ts';
import { findRefusal } from './rules/find-refusal.ts';
import { applyGroups } from './rules/groups.ts';
import { applyIdentity } from './rules/identity.ts';
import { choosePersonProcessing, createPersonlessPerson, personProfileWarnings } from './rules/person-processing.ts';
import type { StoredWarning } from './warnings/store.ts';
import { toRuleWarning } from './warnings/warnings.ts';

/** The rules' decisions about a batch's events. The ledger contains the changes to persons and groups. */
interface Decisions {
  rows: EventRow[];
  /** The IDs of the projects that have at least one event to store. */
  projectIds: number[];
  warnings: StoredWarning[];
  dropped: DropReason[];
}

/**
 * The maximum total size of the person properties in a batch's rows, in bytes. It limits a batch to a few megabytes in
 * addition to the events' own data, however large its persons are.
 */
const maxShownBytes = 8 * 1024 * 1024;

/**
 * Applies the rules to the events of each project in order. Projects do not affect each other.
 * @throws BatchTooLarge if the rows of several events contain too many person properties
 */
export function decideEvents(fresh: IncomingEvent[], ledger: Ledger): Decisions {
  const decisions: Decisions = { rows: [], projectIds: [], warnings: [], dropped: [] };
  let shownBytes = 0;
  for (const [projectId, events] of byProject(fresh)) {
    const project = ledger.projects.get(projectId);
    if (project === undefined) throw new Error(`project ${projectId} is missing from the ledger`);
    for (const event of events) {
      if (isOfDeletedPerson(event, project)) {
        decisions.dropped.push('person_deleted');
        continue;
      }
      const outcome = event.refusal === undefined ? processEvent(event, project) : toDrop(event.refusal);
      const { uuid, capturedAtMs } = event;
      for (const warning of [...event.warnings, ...outcome.warnings]) {
        decisions.warnings.push(toRuleWarning(warning, { projectId, uuid, capturedAtMs }));
      }
      if (outcome.kind === 'drop') {
        decisions.dropped.push(outcome.reason);
        continue;
      }
      decisions.rows.push(outcome.row);
      shownBytes += outcome.row.personBytes;
      if (shownBytes > maxShownBytes && fresh.length > 1) {
        throw new BatchTooLarge(
          'its event rows contain large persons',
          Math.ceil(fresh.length / decisions.rows.length),
        );
      }
    }
  }
  decisions.projectIds = [...new Set(decisions.rows.map(({ projectId }) => projectId))];
  return decisions;
}

function toDrop({ reason, warning }: Refusal): EventOutcome {
  return { kind: 'drop', reason, warnings: [warning] };
}

function byProject(events: IncomingEvent[]): Map<number, IncomingEvent[]> {
  const groups = new Map<number, IncomingEvent[]>();
  for (const one of events) {
    const group = groups.get(one.project.id);
    if (group === undefined) groups.set(one.project.id, [one]);
    else group.push(one);
  }
  return groups;
}

/**
 * Decides everything about one event. Changes the project's ledger in memory, and returns the row to store, or the
 * reason why no row is stored. The ledger must contain everything that `findTouchedIds` names. The event is not
 * modified.
 *
 * Uses neither I/O nor a clock. Never throws for JSON that a client can send. See
 * docs/ingestion-rules.md#effects-of-event-names for the rules by event name.
 */
export function processEvent(event: IncomingEvent, ledger: ProjectLedger): EventOutcome {
  const refusal = findRefusal(event);
  if (refusal !== null) return { kind: 'drop', reason: refusal.reason, warnings: [refusal.warning] };

  const processing = choosePersonProcessing(event);
  const properties = normalizeProperties(event, processing);
  const identity =
    processing === 'full'
      ? applyIdentity(event, properties, ledger)
      : { person: createPersonlessPerson(event, ledger), warnings: [] };
  const groups = applyGroups(event, processing, ledger);

  Object.assign(properties.over, groups.groupProperties);
  const row = toEventRow(event, properties, identity.person);
  const warnings = [...personProfileWarnings(event), ...identity.warnings, ...groups.warnings];
  return { kind: 'store', row, warnings };
}
