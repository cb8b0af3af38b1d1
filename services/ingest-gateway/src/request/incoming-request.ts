import type { CaptureRequest } from './parse-capture-request.ts';
import type { EventDrop } from './validate-events.ts';

/** A request after step 3, whichever way it was read. */
export interface IncomingRequest {
  token: string;
  isHistorical: boolean;
  /** How many events were sent, those with a fault included. */
  events: number;
  /** Of an event that came in parts: names of those that are not stored. */
  leftOut?: readonly string[];
  /** Its events in their order. A large request has several parts, so that others are served between them. */
  parts(): Iterable<CaptureRequest>;
}

export function inOnePart(request: CaptureRequest): IncomingRequest {
  const { token, isHistorical, events, drops } = request;
  return { token, isHistorical, events: sentEvents(events.length, drops), parts: () => [request] };
}

/** @param usable how many are left of them. */
export function sentEvents(usable: number, drops: readonly EventDrop[] = []): number {
  return drops.reduce((sum, { count }) => sum + count, usable);
}
