import { normalizeProperties } from './events/normalize-properties.ts';
import { toEventRow } from './events/to-event-row.ts';
import { applyGroups } from './groups/apply-groups.ts';
import { applyIdentity } from './identity/apply-identity.ts';
import { personProcessing, personProfileWarnings } from './identity/person-processing.ts';
import { personlessPerson } from './identity/personless-person.ts';
import { refuseEvent } from './intake/refuse-event.ts';
import type { EventOutcome } from './model/event-outcome.ts';
import type { IncomingEvent } from './model/incoming-event.ts';
import type { ProjectLedger } from './model/ledger.ts';

/**
 * Decides everything about one event: changes the project's ledger in memory and returns the row to store, or why none
 * is stored. The ledger must hold all that `touchedBy` names. The event is not changed. Does no input or output, asks no
 * clock, and throws for no JSON a client can send. The rules by name: docs/ingestion-rules.md#what-an-event-name-does.
 */
export function processEvent(event: IncomingEvent, ledger: ProjectLedger): EventOutcome {
  const refusal = refuseEvent(event);
  if (refusal !== null) return { kind: 'drop', reason: refusal.reason, warnings: [refusal.warning] };

  const processing = personProcessing(event);
  const properties = normalizeProperties(event, processing);
  const identity =
    processing === 'full'
      ? applyIdentity(event, properties, ledger)
      : { person: personlessPerson(event, ledger), warnings: [] };
  const groups = applyGroups(event, processing, ledger);

  Object.assign(properties.over, groups.groupProperties);
  const row = toEventRow(event, properties, identity.person);
  const warnings = [...personProfileWarnings(event), ...identity.warnings, ...groups.warnings];
  return { kind: 'store', row, warnings };
}
