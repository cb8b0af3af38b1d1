// All steps of a capture request, from reading the headers to sending the response.

import type { IncomingMessage, ServerResponse } from 'node:http';
import { setImmediate as nextLoop } from 'node:timers/promises';
import type { TopicNames } from '@millrace/contracts';
import type { EventLog } from '@millrace/event-log';
import { v7 as createUuid } from 'uuid';
import { authorize } from './access/authorize.ts';
import {
  type CapturedEvents,
  type CaptureReader,
  type ReaderDependencies,
  toCapturedEvents,
} from './capture/capture-request.ts';
import type { DropTally } from './capture/drops.ts';
import type { TrafficControl } from './limits/traffic-control.ts';
import { createEventAppender } from './publish/append-events.ts';
import { findClientAddress, readSender } from './request-head.ts';
import { createPreflightHeaders, type GatewayResponse } from './response/send-response.ts';
import { type RequestScope, type ServeDependencies, serveRequest } from './response/serve-request.ts';

export interface CaptureDependencies extends Omit<ServeDependencies, 'metrics'>, ReaderDependencies {
  log: Pick<EventLog, 'append'>;
  topics: TopicNames;
  traffic: TrafficControl;
}

/** Serves a capture request of any protocol. Never rejects. */
export function serveCaptureRequest(
  { request, response, requestId }: { request: IncomingMessage; response: ServerResponse; requestId: string },
  reader: CaptureReader,
  deps: CaptureDependencies,
): Promise<void> {
  const exchange = { request, response, requestId, path: reader.path, toRefusal: reader.toRefusal };
  return serveRequest(exchange, deps, (scope) => capture(request, { reader, scope, deps }));
}

/**
 * Handles a capture request. The response is 200 only after the log has acknowledged all events that were not dropped
 * (docs/wire-rules.md#responses).
 * @throws AppError if the request is rejected. No event is then stored, unless the log did not acknowledge them
 * (`unavailable`): some may be stored, and the client must send all of them again with the same UUIDs.
 */
async function capture(
  request: IncomingMessage,
  { reader, scope, deps }: { reader: CaptureReader; scope: RequestScope; deps: CaptureDependencies },
): Promise<GatewayResponse> {
  const { projectKeys, traffic, log, topics, limits, metrics } = deps;
  if (request.method === 'OPTIONS') return preflight(request);
  const receivedAtMs = Date.now();
  const incoming = await reader.read(request, scope.lease);
  const { token, isHistorical, eventCount, dropped, retriesOn429, omittedParts } = incoming;

  const project = await authorize({ token, isHistorical }, projectKeys);
  const environmentId = project?.environmentId ?? null;
  scope.setEnvironment(environmentId);

  const admission = { token, project, isHistorical, events: eventCount, retriesOn429 };
  if (traffic.admit(admission) === 'quota_limited') {
    metrics.dropped('quota_limited', eventCount);
    return incoming.respond('quota_limited');
  }

  const ip = findClientAddress(request, limits);
  const context = { receivedAtMs, ip, environmentId, nameForNameless: reader.nameForNameless, createUuid };
  const publication = createEventAppender({
    log,
    topics,
    maxRecordBytes: reader.maxRecordBytes,
    refusesLarge: eventCount === 1 || reader.refusesLargeEvents,
    sender: readSender(request.headers, reader.path),
    createUuid,
    headers: scope.trace.appending(eventCount),
  });
  let last: CapturedEvents | null = null;
  for (const slice of incoming.slices()) {
    if (last !== null) await nextLoop();
    last = traffic.route(toCapturedEvents(incoming, slice, context), project);
    await publication.add(last);
  }
  if (omittedParts !== undefined) {
    metrics.partsOmitted(omittedParts.length);
    noteOmittedParts(omittedParts, last, dropped);
  }
  if (last !== null) await publication.end(last);
  scope.trace.appended();

  traffic.noteStored(admission, publication.eventCount());
  metrics.published(isHistorical ? 'historical' : 'live', publication.eventCount(), dropped);
  return incoming.respond('accepted');
}

/**
 * Reports multipart parts that are not stored, in a warning for the project. The event itself contains a note for each
 * part.
 */
function noteOmittedParts(parts: readonly string[], stored: CapturedEvents | null, dropped: DropTally): void {
  const record = stored?.accepted[0]?.record;
  if (parts.length === 0 || record === undefined) return;
  dropped.note('part_left_out', { index: 0, uuid: record.uuid, event: record.event, parts });
}

function preflight(request: IncomingMessage): GatewayResponse {
  return { status: 200, body: '', headers: { ...createPreflightHeaders(request), 'content-length': 0 } };
}
