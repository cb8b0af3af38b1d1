import { slotsPerEvent } from '../event/event-fields.ts';
import { parseCaptureRequest, type RequestHints } from '../request/parse-capture-request.ts';
import { createScanner, type Scan } from '../scan/scan-request.ts';
import type { FoundRequest } from './body-job.ts';

const scan = createScanner();

/**
 * Step 3 for a large body: validates it like a small one and gives its events as positions in JSON, which can be
 * transferred to another thread at no cost. JSON that had to be repaired is written anew.
 *
 * @throws AppError see `parseCaptureRequest`.
 */
export function findRequest(json: Buffer, hints: RequestHints): FoundRequest {
  const { events, ...request } = parseCaptureRequest(json, hints);
  const isAsWritten = events.every(({ raw }) => raw !== undefined);
  const text = isAsWritten ? json : Buffer.from(JSON.stringify({ batch: events }), 'utf8');
  const found = scan(text);
  if (found === null) throw new Error('What was repaired cannot be scanned.');
  // JSON that was written anew holds the usable events only.
  const slots = isAsWritten && request.indexes !== undefined ? slotsAt(found, request.indexes) : eventSlots(found);
  return { kind: 'capture', ...request, json: text, slots, events: events.length };
}

function eventSlots({ shape, events, slots }: Scan): Int32Array<ArrayBuffer> {
  return shape === 'event' ? slots.slice(0, slotsPerEvent) : slots.slice(slotsPerEvent, (1 + events) * slotsPerEvent);
}

/** Those of the events at these indexes. */
function slotsAt({ slots }: Scan, indexes: Int32Array): Int32Array<ArrayBuffer> {
  const kept = new Int32Array(indexes.length * slotsPerEvent);
  for (let number = 0; number < indexes.length; number++) {
    const from = (1 + (indexes[number] ?? 0)) * slotsPerEvent;
    kept.set(slots.subarray(from, from + slotsPerEvent), number * slotsPerEvent);
  }
  return kept;
}
