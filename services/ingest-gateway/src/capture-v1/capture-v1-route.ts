import type { IncomingMessage, ServerResponse } from 'node:http';
import { AppError } from '@millrace/errors';
import { Router } from 'express';
import { authorize, requirePossibleKey } from '../access/authorize.ts';
import type { Answer } from '../answer/send-answer.ts';
import type { CaptureDependencies } from '../capture/capture-dependencies.ts';
import { publishRequest } from '../capture/publish-request.ts';
import { type Progress, serveRequest } from '../capture/serve-request.ts';
import { requestIdOf } from '../head/request-id.ts';
import { echoedRequestId, readV1Head } from '../request-v1/v1-head.ts';
import { readV1Request } from './read-v1-request.ts';
import { toV1Refusal } from './v1-refusal.ts';
import { createV1Results, type V1Results } from './v1-results.ts';
import { createV1Tally } from './v1-tally.ts';

const path = '/i/v1/analytics/events';

/** Capture v1, with a result for every event (docs/wire-rules.md#capture-v1). */
export function captureV1Routes(deps: CaptureDependencies): Router {
  const router = Router();
  router.all(path, (request, response) => captureV1(request, response, deps));
  return router;
}

/** From the head of a request to its answer, as on the other capture paths. Never rejects. */
function captureV1(request: IncomingMessage, response: ServerResponse, deps: CaptureDependencies): Promise<void> {
  const requestId = String(response.getHeader('x-request-id') ?? requestIdOf(request));
  const echoed = echoedRequestId(request.headers);
  if (echoed !== null) response.setHeader('posthog-request-id', echoed);
  const exchange = { request, response, requestId, path, toRefusal: toV1Refusal };
  return serveRequest(exchange, deps, (progress) => capture(request, progress, deps));
}

/** The steps in their order. */
async function capture(request: IncomingMessage, progress: Progress, deps: CaptureDependencies): Promise<Answer> {
  const receivedAtMs = Date.now();
  if (request.method !== 'POST') throw new AppError('method_not_allowed', 'This path takes POST requests.');
  const head = readV1Head(request.headers);
  const { token } = head;
  await requirePossibleKey(token, deps.projectKeys);
  const incoming = await readV1Request(request, head, progress.lease, deps);
  const { isHistorical, uuids } = incoming;
  const results = createV1Results(uuids);
  const dropped = createV1Tally(incoming, results);
  const project = await authorize({ token, isHistorical }, deps.projectKeys);
  progress.environmentId = project?.environmentId ?? null;
  const admission = { token, project, isHistorical, events: uuids.length };
  if (deps.traffic.admit(admission, asRetryingOn503) === 'quota_limited') {
    deps.metrics.dropped('quota_limited', admission.events);
    results.restLimited();
    return answerOf(results);
  }
  const { trace } = progress;
  await publishRequest(request, incoming, { admission, receivedAtMs, nameForNameless: null, dropped, trace }, deps);
  return answerOf(results);
}

async function answerOf(results: V1Results): Promise<Answer> {
  return { status: 200, body: await results.toBody(), headers: {} };
}

/**
 * Of the clients that speak this protocol only some try again after 429, all of them after 503
 * (docs/wire-rules.md#capture-v1): a sender without a name is never told 429.
 */
const asRetryingOn503 = { method: 'POST', headers: {} };
