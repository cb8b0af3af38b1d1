import { personMode } from '../model/event-row.ts';
import type { IncomingEvent } from '../model/incoming-event.ts';
import type { PersonState, ProjectLedger } from '../model/ledger.ts';
import type { RuleWarning } from '../model/warning.ts';
import type { Overlay } from '../values/overlay.ts';
import { applyMerge } from './apply-merge.ts';
import type { EventPerson } from './event-person.ts';
import { mergeRequest } from './identity-rules.ts';
import { findOrCreatePerson } from './ledger-persons.ts';
import { updatePerson } from './update-person.ts';

export interface IdentityOutcome {
  person: EventPerson;
  warnings: RuleWarning[];
}

/**
 * Finds, merges, creates and updates the person of an event in the ledger. `properties` are those the event is stored
 * with. However much one event changes on a person, its version grows by one.
 */
export function applyIdentity(event: IncomingEvent, properties: Overlay, ledger: ProjectLedger): IdentityOutcome {
  const request = mergeRequest(event);
  const merge = request === null ? null : applyMerge(request, event, ledger);
  const { person, isCreated } = findOrCreatePerson(event.distinctId, event.timestampMs, ledger);

  const isNewPerson = isCreated || merge?.isCreated === true;
  const update = updatePerson({ person, isNewPerson, event, properties });
  if (!isNewPerson && (merge?.isChanged === true || update.isChanged)) markChanged(person);

  return {
    person: {
      uuid: person.uuid,
      createdAtMs: person.createdAtMs,
      properties: update.shownProperties,
      bytes: update.shownBytes,
      mode: personMode.full,
    },
    warnings: [...(merge?.warnings ?? []), ...update.warnings],
  };
}

function markChanged(person: PersonState): void {
  person.version += 1;
  person.isDirty = true;
}
