import { personMode } from '../model/event-row.ts';
import type { IncomingEvent } from '../model/incoming-event.ts';
import type { ProjectLedger } from '../model/ledger.ts';
import type { EventPerson } from './event-person.ts';
import { newPersonUuid, personOf } from './ledger-persons.ts';

/** Events this much younger than their person are taken for the same visit that created it. */
const upgradeAfterMs = 60_000;

/**
 * The person of an event without person processing: the real one if the distinct id has one, else the uuid it would
 * have. Its properties are never shown. An anonymous event of a known person is marked `forceUpgrade`
 * (docs/ingestion-rules.md#anonymous-events). The ledger stays as it is.
 */
export function personlessPerson(event: IncomingEvent, ledger: ProjectLedger): EventPerson {
  const person = personOf(event.distinctId, ledger);
  if (person === null) {
    const uuid = newPersonUuid(event.distinctId, ledger);
    return { uuid, createdAtMs: null, properties: {}, bytes: 0, mode: personMode.propertyless };
  }
  const isUpgraded = !event.project.personProcessingOptOut && event.timestampMs > person.createdAtMs + upgradeAfterMs;
  const mode = isUpgraded ? personMode.forceUpgrade : personMode.propertyless;
  return { uuid: person.uuid, createdAtMs: person.createdAtMs, properties: {}, bytes: 0, mode };
}
