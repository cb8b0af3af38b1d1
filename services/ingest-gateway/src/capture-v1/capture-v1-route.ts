import type { IncomingMessage, ServerResponse } from 'node:http';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { AppError } from '@millrace/errors';
import { toAppError } from '@millrace/http';
import { Router } from 'express';
import { v7 as createUuid } from 'uuid';
import { authorize, requirePossibleKey } from '../access/authorize.ts';
import { type AnswerBody, sendAnswer, sendRefusal } from '../answer/send-answer.ts';
import type { CaptureDependencies } from '../capture/capture-route.ts';
import { clientAddress } from '../head/client-address.ts';
import { requestIdOf } from '../head/request-id.ts';
import { traceHeaders } from '../head/trace-headers.ts';
import type { ByteLease } from '../memory/byte-budget.ts';
import { createPublication } from '../publish/publish.ts';
import { type CapturedEvents, toCapturedEvents } from '../request/to-captured-events.ts';
import { echoedRequestId, readV1Head } from '../request-v1/v1-head.ts';
import { readV1Request } from './read-v1-request.ts';
import { toV1Refusal } from './v1-refusal.ts';
import { createV1Results } from './v1-results.ts';
import { createV1Tally } from './v1-tally.ts';

const path = '/i/v1/analytics/events';

/** Capture v1, with a result for every event (reference/sdk-wire.md section 6; section 9, row 20). */
export function captureV1Routes(deps: CaptureDependencies): Router {
  const router = Router();
  router.all(path, (request, response) => captureV1(request, response, deps));
  return router;
}

/** Where a request has got to, for its line in the log. */
interface Journey {
  environmentId: number | null;
  lease: ByteLease;
}

/** From the head of a request to its answer, as on the other capture paths. Never rejects. */
async function captureV1(request: IncomingMessage, response: ServerResponse, deps: CaptureDependencies): Promise<void> {
  const startedAt = performance.now();
  const journey: Journey = { environmentId: null, lease: deps.budget.lease() };
  const requestId = String(response.getHeader('x-request-id') ?? requestIdOf(request));
  const echoed = echoedRequestId(request.headers);
  if (echoed !== null) response.setHeader('posthog-request-id', echoed);
  deps.metrics.began();
  let status = 200;
  let code: string | null = null;
  try {
    const body = await capture(request, journey, deps);
    sendAnswer(request, response, { status, body, headers: {} }, { requestId, isLast: deps.isStopping() });
  } catch (error) {
    const { method } = request;
    const { attr, cause } = toAppError(error);
    const refusal = toV1Refusal(error);
    ({ status, code } = refusal);
    deps.logRefusal({ requestId, method, path, status, code, attr, environmentId: journey.environmentId, cause });
    journey.lease.releaseAll();
    const context = { requestId, isLast: deps.isStopping() };
    await sendRefusal(request, response, refusal, context).catch(() => response.destroy());
  } finally {
    journey.lease.releaseAll();
    deps.metrics.ended({ path, status, code, seconds: (performance.now() - startedAt) / 1000 });
  }
}

/** The stations in their order; the text of the answer. */
async function capture(request: IncomingMessage, journey: Journey, deps: CaptureDependencies): Promise<AnswerBody> {
  const { limits, metrics, traffic } = deps;
  const receivedAtMs = Date.now();
  if (request.method !== 'POST') throw new AppError('method_not_allowed', 'This path takes POST requests.');
  const head = readV1Head(request.headers);
  const { token } = head;
  await requirePossibleKey(token, deps.projectKeys);
  const incoming = await readV1Request(request, head, journey.lease, deps);
  const { isHistorical, uuids } = incoming;
  const results = createV1Results(uuids);
  const dropped = createV1Tally(incoming, results);
  const project = await authorize({ token, isHistorical }, deps.projectKeys);
  journey.environmentId = project?.environmentId ?? null;
  const arriving = { token, project, isHistorical, events: uuids.length };
  if (traffic.admit(arriving, asRetryingOn503) === 'quota_limited') {
    metrics.dropped('quota_limited', arriving.events);
    results.restLimited();
    return results.toBody();
  }
  const arrival = {
    receivedAtMs,
    ip: clientAddress(request.headers, request.socket.remoteAddress, limits.trustProxy),
    environmentId: journey.environmentId,
    nameForNameless: null,
    createUuid,
  };
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
    await publication.add(last, arriving.events === 1);
  }
  if (last !== null) await publication.end(last);
  const written = publication.written();
  traffic.noteStored(arriving, written);
  metrics.published(isHistorical ? 'historical' : 'live', written, dropped);
  return results.toBody();
}

/**
 * Of the clients that speak this protocol only some try again after 429, all of them after 503 (reference/sdk-wire.md
 * section 6): a sender without a name is never told 429.
 */
const asRetryingOn503 = { method: 'POST', headers: {} };
