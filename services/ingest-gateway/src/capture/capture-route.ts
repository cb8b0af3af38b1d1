import type { IncomingMessage, ServerResponse } from 'node:http';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { TopicNames } from '@millrace/contracts';
import { AppError } from '@millrace/errors';
import type { EventLog } from '@millrace/event-log';
import { toAppError } from '@millrace/http';
import { v7 as createUuid } from 'uuid';
import { authorize, requirePossibleKey } from '../access/authorize.ts';
import type { ProjectKeys } from '../access/project-keys.ts';
import { preflightHeaders } from '../answer/cors.ts';
import type { RefusalLine } from '../answer/refusal-log.ts';
import { sendAnswer, sendRefusal, toRefusal } from '../answer/send-answer.ts';
import { type DecodedBody, decodeBody, isLongLz64 } from '../bytes/decode-body.ts';
import { claimedSize } from '../bytes/gunzip.ts';
import { type ReceivedBody, receiveBody } from '../bytes/read-body.ts';
import type { CaptureLimits } from '../config.ts';
import { createDropTally, type DropTally } from '../event/drop-tally.ts';
import { isMultipart } from '../event-parts/read-parts.ts';
import type { CapturePath } from '../head/capture-path.ts';
import { type CaptureQuery, parseCaptureQuery } from '../head/capture-query.ts';
import { clientAddress } from '../head/client-address.ts';
import { requestIdOf } from '../head/request-id.ts';
import { traceHeaders } from '../head/trace-headers.ts';
import { inParts } from '../large-bodies/in-parts.ts';
import { isLarge } from '../large-bodies/is-large.ts';
import type { LargeBodies } from '../large-bodies/large-bodies.ts';
import type { TrafficControl } from '../limits/traffic-control.ts';
import type { ByteBudget, ByteLease } from '../memory/byte-budget.ts';
import { createPublication } from '../publish/publish.ts';
import { type IncomingRequest, inOnePart } from '../request/incoming-request.ts';
import { parseCaptureRequest, type RequestHints } from '../request/parse-capture-request.ts';
import { type CapturedEvents, toCapturedEvents } from '../request/to-captured-events.ts';
import type { CaptureMetrics } from './capture-metrics.ts';
import { readPartsRequest } from './read-parts-request.ts';

export interface CaptureDependencies {
  log: Pick<EventLog, 'append'>;
  topics: TopicNames;
  projectKeys: ProjectKeys;
  budget: ByteBudget;
  traffic: TrafficControl;
  largeBodies: Pick<LargeBodies, 'find' | 'findInParts' | 'findV1'>;
  limits: CaptureLimits;
  metrics: CaptureMetrics;
  logRefusal(line: RefusalLine): void;
  isStopping(): boolean;
}

const accepted = { status: 200, body: '{"status":"Ok"}', headers: {} };
/** Browsers then stop sending for a minute (reference/sdk-wire.md section 1); never 204, its body would be lost. */
const quotaLimited = { status: 200, body: '{"status":"Ok","quota_limited":["events"]}', headers: {} };
const acceptedBeacon = { status: 204, body: '', headers: {} };

const plainJson = { compression: null, contentType: 'application/json', contentEncoding: '' };

/** Where a request has got to, for its line in the log. */
interface Journey {
  environmentId: number | null;
  lease: ByteLease;
}

/**
 * Station 1: one request of a capture path, from its head to its answer. Answers 200 only after the log has
 * acknowledged every event (contract/ingestion.md; ARCHITECTURE.md, "The way of one event"). Never rejects.
 *
 * @param query the text after `?`.
 */
export async function captureRoute(
  request: IncomingMessage,
  response: ServerResponse,
  target: { path: CapturePath; query: string },
  deps: CaptureDependencies,
): Promise<void> {
  const { path } = target;
  const { method } = request;
  const startedAt = performance.now();
  const journey: Journey = { environmentId: null, lease: deps.budget.lease() };
  const context = { requestId: requestIdOf(request), isLast: deps.isStopping() };
  deps.metrics.began();
  let status = 200;
  let code: string | null = null;
  try {
    if (method === 'OPTIONS') {
      sendAnswer(
        request,
        response,
        { status, body: '', headers: { ...preflightHeaders(request), 'content-length': 0 } },
        context,
      );
    } else {
      const query = parseCaptureQuery(target.query);
      const outcome = await capture(request, { path, query }, journey, deps);
      context.isLast = deps.isStopping();
      const answer = outcome === 'quota_limited' ? quotaLimited : query.isBeacon ? acceptedBeacon : accepted;
      status = answer.status;
      sendAnswer(request, response, answer, context);
    }
  } catch (error) {
    const { environmentId } = journey;
    const { attr, cause } = toAppError(error);
    const refusal = toRefusal(error);
    ({ status, code } = refusal);
    const { requestId } = context;
    deps.logRefusal({ requestId, method, path: path.label, status, code, attr, environmentId, cause });
    context.isLast = deps.isStopping();
    journey.lease.releaseAll();
    await sendRefusal(request, response, refusal, context).catch(() => response.destroy());
  } finally {
    journey.lease.releaseAll();
    deps.metrics.ended({ path: path.label, status, code, seconds: (performance.now() - startedAt) / 1000 });
  }
}

/** The stations in their order. */
async function capture(
  request: IncomingMessage,
  { path, query }: { path: CapturePath; query: CaptureQuery },
  journey: Journey,
  deps: CaptureDependencies,
): Promise<'accepted' | 'quota_limited'> {
  const { limits, metrics, traffic } = deps;
  const receivedAtMs = Date.now();
  if (request.method !== 'GET' && request.method !== 'POST') throw methodNotAllowed();
  const { lease } = journey;
  const said = { path, apiKey: request.method === 'GET' ? query.apiKey : null, sentAt: query.sentAt };
  // A body that comes with its head is there after this. From here on only what is not at hand is waited for: to wait for
  // nothing costs each request a promise and a turn.
  await undefined;
  const received = receiveBody(request, query, { limits, lease, onReceived: metrics.bodyReceived });
  const body = received instanceof Promise ? await received : received;
  const read = isMultipart(body.hints.contentType)
    ? readPartsRequest(body.raw, request.headers, { said, lease, deps })
    : readRequest(body, { said, lease, deps });
  const incoming = read instanceof Promise ? await read : read;
  const access = authorize(incoming, deps.projectKeys);
  const project = access instanceof Promise ? await access : access;
  journey.environmentId = project?.environmentId ?? null;
  const { token, isHistorical, events } = incoming;
  const arriving = { token, project, isHistorical, events };
  if (traffic.admit(arriving, request) === 'quota_limited') {
    metrics.dropped('quota_limited', arriving.events);
    return 'quota_limited';
  }
  const arrival = {
    receivedAtMs,
    ip: clientAddress(request.headers, request.socket.remoteAddress, limits.trustProxy),
    environmentId: journey.environmentId,
    nameForNameless: path.nameForNameless,
    createUuid,
  };
  const dropped = createDropTally();
  const publication = createPublication({
    log: deps.log,
    topics: deps.topics,
    maxRecordBytes: limits.maxRecordBytes,
    createUuid,
    headers: traceHeaders(request),
  });
  let last: CapturedEvents | null = null;
  for (const part of incoming.parts()) {
    // Others get their turn.
    if (last !== null) await nextTurn();
    last = traffic.steer(toCapturedEvents(part, arrival, dropped), project);
    const added = publication.add(last, events === 1);
    if (added !== undefined) await added;
  }
  if (incoming.leftOut !== undefined) {
    notePartsLeftOut(incoming.leftOut, last, dropped);
    metrics.partsLeftOut(incoming.leftOut.length);
  }
  if (last !== null) await publication.end(last);
  const written = publication.written();
  traffic.noteStored(arriving, written);
  metrics.published(isHistorical ? 'historical' : 'live', written, dropped);
  return 'accepted';
}

/** The event is stored with a note in their place; its project is told. */
function notePartsLeftOut(parts: readonly string[], last: CapturedEvents | null, dropped: DropTally): void {
  const record = last?.accepted[0]?.record;
  if (parts.length === 0 || record === undefined) return;
  dropped.note('part_left_out', { index: 0, uuid: record.uuid, event: record.event, parts });
}

interface Reading {
  said: RequestHints;
  lease: ByteLease;
  deps: Pick<CaptureDependencies, 'limits' | 'largeBodies' | 'projectKeys'>;
}

/** Stations 2 and 3, in this thread or, for a body that would keep it too long, in another one. */
function readRequest({ raw, hints }: ReceivedBody, reading: Reading): IncomingRequest | Promise<IncomingRequest> {
  const { said, lease, deps } = reading;
  const isLong = isLarge(raw.length) || isLarge(claimedSize(raw)) || isLongLz64(raw, hints);
  if (isLong) return readElsewhere({ raw, hints, said }, reading);
  const { maxDecompressedBytes } = deps.limits;
  const body = decodeBody(raw, hints, { maxDecompressedBytes, lease });
  return body instanceof Promise ? body.then((decoded) => readDecoded(decoded, reading)) : readDecoded(body, reading);
}

function readDecoded(
  { json, apiKey, envelopeKey }: DecodedBody,
  reading: Reading,
): IncomingRequest | Promise<IncomingRequest> {
  const said = { ...reading.said, apiKey: apiKey ?? reading.said.apiKey };
  if (isLarge(json.length)) return readElsewhere({ raw: json, hints: plainJson, said }, reading);
  const parse = () => inOnePart(parseCaptureRequest(json, said));
  // A large body is not parsed for somebody whose key is nobody's.
  return envelopeKey === null ? parse() : requirePossibleKey(envelopeKey, reading.deps.projectKeys).then(parse);
}

async function readElsewhere(
  { raw, hints, said }: ReceivedBody & { said: RequestHints },
  { lease, deps }: Reading,
): Promise<IncomingRequest> {
  const { maxDecompressedBytes } = deps.limits;
  const checkKey = (key: string) => requirePossibleKey(key, deps.projectKeys);
  return inParts(await deps.largeBodies.find({ raw, hints, request: said, maxDecompressedBytes, lease, checkKey }));
}

function methodNotAllowed(): AppError {
  return new AppError('method_not_allowed', 'This path takes POST requests.');
}
