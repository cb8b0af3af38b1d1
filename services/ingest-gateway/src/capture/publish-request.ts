import type { IncomingMessage } from 'node:http';
import { setImmediate as nextLoop } from 'node:timers/promises';
import { v7 as createUuid } from 'uuid';
import { clientAddress } from '../head.ts';
import type { Admission } from '../limits/traffic-control.ts';
import { createPublication } from '../publish/publication.ts';
import { type CapturedEvents, type RequestContext, toCapturedEvents } from '../readers/captured-events.ts';
import type { IncomingRequest } from '../readers/classic.ts';
import type { DropTally } from '../readers/drops.ts';
import { type CaptureDependencies, type RecordHeaders, type RequestTrace, untracedHeaders } from './serve-request.ts';

export interface Publishing extends Pick<RequestContext, 'receivedAtMs' | 'nameForNameless'> {
  admission: Admission;
  /** Where the events that are left out are counted. */
  dropped: DropTally;
  trace: RequestTrace | null;
}

type Incoming = Pick<IncomingRequest, 'parts' | 'leftOut'>;

/**
 * Steps 5 and 6: accepted events become records in their lanes. Resolves when the log has acknowledged all of them.
 *
 * @throws AppError see `createPublication`.
 */
export function publishRequest(
  request: IncomingMessage,
  incoming: Incoming,
  publishing: Publishing,
  deps: CaptureDependencies,
): Promise<void> {
  const { trace, admission } = publishing;
  const publish = (headers: RecordHeaders) => publishWith(headers, request, { ...publishing, incoming }, deps);
  return trace === null ? publish(untracedHeaders(request, deps.tracing)) : trace.appending(admission.events, publish);
}

async function publishWith(
  headers: RecordHeaders,
  request: IncomingMessage,
  { incoming, admission, receivedAtMs, nameForNameless, dropped }: Publishing & { incoming: Incoming },
  { log, topics, limits, traffic, metrics }: CaptureDependencies,
): Promise<void> {
  const { project, isHistorical, events } = admission;
  const context = {
    receivedAtMs,
    ip: clientAddress(request.headers, request.socket.remoteAddress, limits.trustProxy),
    environmentId: project?.environmentId ?? null,
    nameForNameless,
    createUuid,
  };
  const { maxRecordBytes } = limits;
  const publication = createPublication({ log, topics, maxRecordBytes, createUuid, headers });
  let last: CapturedEvents | null = null;
  for (const part of incoming.parts()) {
    // Lets other requests be served.
    if (last !== null) await nextLoop();
    last = traffic.route(toCapturedEvents(part, context, dropped), project);
    const added = publication.add(last, events === 1);
    if (added !== undefined) await added;
  }
  if (incoming.leftOut !== undefined) {
    notePartsLeftOut(incoming.leftOut, last, dropped);
    metrics.partsLeftOut(incoming.leftOut.length);
  }
  if (last !== null) await publication.end(last);
  const written = publication.written();
  traffic.noteStored(admission, written);
  metrics.published(isHistorical ? 'historical' : 'live', written, dropped);
}

/** The event is stored with a note instead of them, and its project is told. */
function notePartsLeftOut(parts: readonly string[], last: CapturedEvents | null, dropped: DropTally): void {
  const record = last?.accepted[0]?.record;
  if (parts.length === 0 || record === undefined) return;
  dropped.note('part_left_out', { index: 0, uuid: record.uuid, event: record.event, parts });
}
