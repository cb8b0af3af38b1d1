import type { EventOutcome } from './events/event-outcome.ts';
import type { ProjectLedger } from './identity/ledger.ts';
import type { IncomingEvent } from './intake/incoming-event.ts';

/** Decides everything about one event: changes the ledger in memory, returns the row. Never throws. */
export function processEvent(_event: IncomingEvent, _ledger: ProjectLedger): EventOutcome {
  throw new Error('to be written');
}
