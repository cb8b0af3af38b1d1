import type { JsonObject } from '@millrace/contracts';
import type { EventPerson } from '../identity/event-person.ts';
import type { IncomingEvent } from '../intake/incoming-event.ts';
import { elementsChain } from './elements-chain.ts';
import type { EventRow } from './event-row.ts';

/** The row of an event, with its person as of now (reference/event-processing.md section 7). */
export function toEventRow(event: IncomingEvent, properties: JsonObject, person: EventPerson): EventRow {
  const row: EventRow = {
    projectId: event.project.id,
    uuid: event.uuid,
    event: event.event,
    distinctId: event.distinctId,
    timestampMs: event.timestampMs,
    capturedAtMs: event.capturedAtMs,
    properties,
    elementsChain: elementsChain(event.properties),
    personUuid: person.uuid,
    personCreatedAtMs: person.createdAtMs,
    personProperties: person.properties,
    personMode: person.mode,
    isHistorical: event.isHistorical,
  };
  if (event.written !== undefined) row.written = event.written;
  return row;
}
