import type { EventOutcome } from './events/event-outcome.ts';
import type { ProjectLedger } from './identity/ledger.ts';
import type { IncomingEvent } from './intake/incoming-event.ts';
import { processEvent } from './process-event.ts';

/** Applies the rules to events of one project in their order. One outcome per event, in the same order. */
export function processEvents(events: readonly IncomingEvent[], ledger: ProjectLedger): EventOutcome[] {
  return events.map((event) => processEvent(event, ledger));
}
