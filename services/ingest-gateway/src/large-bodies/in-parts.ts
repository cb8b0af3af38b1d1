import { slotsPerEvent } from '../capture/event-fields.ts';
import type { IncomingRequest } from '../capture/incoming-request.ts';
import type { CaptureRequest } from '../capture/parse-capture-request.ts';
import { readScannedEvent } from '../capture/read-scanned-event.ts';
import type { FoundRequest } from './body-job.ts';

/** Some milliseconds of work. */
const eventsPerPart = 128;

/** What a thread has found, its events read when their turn comes. */
export function inParts(found: FoundRequest): IncomingRequest {
  const { token, isHistorical, events } = found;
  return { token, isHistorical, events, parts: () => partsOf(found) };
}

function* partsOf({
  json,
  slots,
  events,
  token,
  isHistorical,
  sentAtMs,
  unreadableSentAt,
  tooDeep,
}: FoundRequest): Iterable<CaptureRequest> {
  const bytes = Buffer.from(json.buffer, json.byteOffset, json.length);
  const deep = new Set(tooDeep);
  for (let first = 0; first < events; first += eventsPerPart) {
    const indexes = Array.from({ length: Math.min(eventsPerPart, events - first) }, (_, place) => first + place);
    yield {
      token,
      isHistorical,
      sentAtMs,
      unreadableSentAt,
      firstIndex: first,
      tooDeep: indexes.filter((index) => deep.has(index)),
      events: indexes.map((index) => readScannedEvent(bytes, slots, index * slotsPerEvent)),
    };
  }
}
