import type { ClientEvent } from '../event/capture-schema.ts';
import { rawDistinctId } from '../event/distinct-id.ts';
import { slotsPerEvent } from '../event/event-fields.ts';
import { invalidField } from '../event/invalid-field.ts';
import { readEnvelope, readScannedEvent } from '../scan/read-scanned-event.ts';
import { createScanner } from '../scan/scan-request.ts';

type Fields = Record<string, unknown>;

/** The events of a request and what is around them. */
export interface RequestShape {
  /** The object around a batch, null for the other shapes. */
  envelope: Fields | null;
  /** As they were sent: what is no object may be among them. */
  events: (Fields | null)[];
  /** True when no event can be nested too deep. */
  isShallow: boolean;
  /** How the position of an event is written in `attr`. */
  pathOf(index: number): string[];
}

const pathIn = {
  event: () => [],
  array: (index: number) => [String(index)],
  batch: (index: number) => ['batch', String(index)],
};

const scan = createScanner();

/** Null for an unusual request: parsing then says more. */
export function scanShape(json: Buffer): RequestShape | null {
  const found = scan(json);
  if (found === null) return null;
  const { shape, slots } = found;
  const events: Fields[] = [];
  if (shape === 'event') events.push(readScannedEvent(json, slots, 0));
  for (let number = 1; number <= found.events; number++) {
    events.push(readScannedEvent(json, slots, number * slotsPerEvent));
  }
  if (events.some(hasRoundedId)) return null;
  const envelope = shape === 'batch' ? readEnvelope(json, slots) : null;
  return { envelope, events, isShallow: true, pathOf: pathIn[shape] };
}

export function readShape(parsed: unknown): RequestShape {
  const isShallow = false;
  if (Array.isArray(parsed)) return { envelope: null, events: parsed, isShallow, pathOf: pathIn.array };
  if (typeof parsed !== 'object' || parsed === null) {
    throw invalidField([], 'The body must be a JSON object or array', parsed);
  }
  const object = parsed as Fields;
  if (Array.isArray(object.batch)) {
    return { envelope: object, events: object.batch, isShallow, pathOf: pathIn.batch };
  }
  if ('batch' in object && typeof object.event !== 'string') {
    throw invalidField(['batch'], 'The field `batch` must be an array of events', object.batch);
  }
  return { envelope: null, events: [object], isShallow, pathOf: pathIn.event };
}

/** Whether it is neither a batch nor an array nor an event with a name: something was forgotten or misspelt. */
export function isNameless({ envelope, events, pathOf }: RequestShape): boolean {
  return envelope === null && pathOf === pathIn.event && typeof events[0]?.event !== 'string';
}

/** Whether its id is a number too large to be held exactly: then it has to be read as text. */
export function hasRoundedId(event: unknown): boolean {
  if (typeof event !== 'object' || event === null) return false;
  const id = rawDistinctId(event as ClientEvent);
  return typeof id === 'number' && Number.isInteger(id) && !Number.isSafeInteger(id);
}
