import { eventNames, type JsonObject } from '@millrace/contracts';
import type { PersonProcessing } from '../identity/person-processing.ts';
import type { IncomingEvent } from '../model/incoming-event.ts';
import type { ProjectLedger } from '../model/ledger.ts';
import type { RuleWarning } from '../model/warning.ts';
import { groupIdentify } from './group-identify.ts';
import { groupKeys } from './group-keys.ts';

export interface GroupOutcome {
  /** Overlay for the properties the event is stored with; null when there is nothing to add. */
  groupProperties: JsonObject | null;
  warnings: RuleWarning[];
}

/**
 * Resolves the groups an event belongs to and writes the group it describes. An anonymous event belongs to no groups,
 * but may describe one (docs/ingestion-rules.md#groups).
 */
export function applyGroups(event: IncomingEvent, processing: PersonProcessing, ledger: ProjectLedger): GroupOutcome {
  const keys = processing === 'full' ? groupKeys(event, ledger) : null;
  const warnings = event.event === eventNames.groupIdentify ? groupIdentify(event, ledger) : [];
  return { groupProperties: keys?.properties ?? null, warnings: [...(keys?.warnings ?? []), ...warnings] };
}
