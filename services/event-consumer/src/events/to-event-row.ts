import type { EventPerson } from '../identity/event-person.ts';
import type { EventRow } from '../model/event-row.ts';
import type { IncomingEvent } from '../model/incoming-event.ts';
import type { Overlay } from '../values/overlay.ts';
import { elementsChain } from './elements-chain.ts';

/** The row of an event, with its person as of now (docs/ingestion-rules.md#the-event-row). */
export function toEventRow(event: IncomingEvent, properties: Overlay, person: EventPerson): EventRow {
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
    personBytes: person.bytes,
    personMode: person.mode,
    isHistorical: event.isHistorical,
  };
  // What was left out is still in the text.
  if (event.written !== undefined && properties.under === event.properties) row.written = event.written;
  return row;
}
