import type { IncomingMessage, ServerResponse } from 'node:http';
import { setImmediate as nextLoop } from 'node:timers/promises';
import { v7 as createUuid } from 'uuid';
import { authorize } from './access/authorize.ts';
import { untracedHeaders } from './answer/request-trace.ts';
import { type Answer, preflightHeaders } from './answer/send-answer.ts';
import { type Progress, serveRequest } from './answer/serve-request.ts';
import type { CaptureDependencies, CaptureReader } from './capture/reader.ts';
import { clientAddress, senderOf } from './head.ts';
import { createPublication } from './publish/publication.ts';
import { type CapturedEvents, toCapturedEvents } from './readers/captured-events.ts';
import type { DropTally } from './readers/drops.ts';

/** One request of a capture path, in whatever protocol its reader reads. Never rejects. */
export function captureRoute(
  { request, response, requestId }: { request: IncomingMessage; response: ServerResponse; requestId: string },
  reader: CaptureReader,
  deps: CaptureDependencies,
): Promise<void> {
  const exchange = { request, response, requestId, path: reader.path, toRefusal: reader.toRefusal };
  return serveRequest(exchange, deps, (progress) => capture(request, reader, progress, deps));
}

/**
 * The way of a captured event, from the headers of its request to the answer: 200 only after the log has acknowledged every
 * event that was not dropped (docs/wire-rules.md#responses).
 *
 * @throws AppError for a request that is refused as a whole: nothing of it is stored. `unavailable` when the log did not
 * acknowledge: events may be stored, and the client has to send all of them again, under the same uuids.
 */
async function capture(
  request: IncomingMessage,
  reader: CaptureReader,
  progress: Progress,
  { projectKeys, traffic, log, topics, limits, metrics, tracing }: CaptureDependencies,
): Promise<Answer> {
  if (request.method === 'OPTIONS') return preflight(request);
  const receivedAtMs = Date.now();
  const incoming = await reader.read(request, progress.lease);
  const { token, isHistorical, events, dropped } = incoming;

  const project = await authorize({ token, isHistorical }, projectKeys);
  const environmentId = project?.environmentId ?? null;
  progress.environmentId = environmentId;

  const admission = { token, project, isHistorical, events };
  if (traffic.admit(admission, incoming.retriesOn429) === 'quota_limited') {
    metrics.dropped('quota_limited', events);
    return incoming.answer('quota_limited');
  }

  const ip = clientAddress(request.headers, request.socket.remoteAddress, limits.trustProxy);
  const context = { receivedAtMs, ip, environmentId, nameForNameless: reader.nameForNameless, createUuid };
  const headers = progress.trace?.appending(events) ?? untracedHeaders(request, tracing);
  const refusesLarge = events === 1 || reader.refusesLargeEvents;
  const sender = senderOf(request.headers, reader.path);
  const options = { maxRecordBytes: reader.maxRecordBytes, refusesLarge, sender, createUuid, headers };
  const publication = createPublication({ log, topics, ...options });
  let last: CapturedEvents | null = null;
  for (const part of incoming.parts()) {
    // Between the slices of a large request others are served.
    if (last !== null) await nextLoop();
    last = traffic.route(toCapturedEvents(part, context, dropped), project);
    await publication.add(last);
  }
  if (incoming.leftOut !== undefined) {
    metrics.partsLeftOut(incoming.leftOut.length);
    notePartsLeftOut(incoming.leftOut, last, dropped);
  }
  if (last !== null) await publication.end(last);
  progress.trace?.appended();

  traffic.noteStored(admission, publication.written());
  metrics.published(isHistorical ? 'historical' : 'live', publication.written(), dropped);
  return incoming.answer('accepted');
}

/** The event is stored with a note instead of them, and its project is told. */
function notePartsLeftOut(parts: readonly string[], stored: CapturedEvents | null, dropped: DropTally): void {
  const record = stored?.accepted[0]?.record;
  if (parts.length === 0 || record === undefined) return;
  dropped.note('part_left_out', { index: 0, uuid: record.uuid, event: record.event, parts });
}

function preflight(request: IncomingMessage): Answer {
  return { status: 200, body: '', headers: { ...preflightHeaders(request), 'content-length': 0 } };
}
