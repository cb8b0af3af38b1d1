import { slotsPerEvent } from '../event/event-fields.ts';
import { type IncomingRequest, sentEvents } from '../request/incoming-request.ts';
import type { CaptureRequest } from '../request/parse-capture-request.ts';
import { readScannedEvent } from '../scan/read-scanned-event.ts';
import type { FoundRequest } from './body-job.ts';

/** Some milliseconds of work. */
const eventsPerPart = 128;

/** What a thread has found. The events of each part are read when the part is reached. */
export function inParts(found: FoundRequest): IncomingRequest {
  const { token, isHistorical, events, drops } = found;
  return { token, isHistorical, events: sentEvents(events, drops), parts: () => partsOf(found) };
}

function* partsOf(found: FoundRequest): Iterable<CaptureRequest> {
  const { json, slots, events, indexes, drops = [], token, isHistorical, sentAtMs, unreadableSentAt } = found;
  const bytes = Buffer.from(json.buffer, json.byteOffset, json.length);
  for (let first = 0; first < events; first += eventsPerPart) {
    const numbers = Array.from({ length: Math.min(eventsPerPart, events - first) }, (_, number) => first + number);
    yield {
      token,
      isHistorical,
      sentAtMs,
      unreadableSentAt,
      firstIndex: first,
      indexes: indexes?.subarray(first, first + eventsPerPart),
      drops: first === 0 ? drops : [],
      events: numbers.map((number) => readScannedEvent(bytes, slots, number * slotsPerEvent)),
    };
  }
}
