import type { IncomingMessage, ServerResponse } from 'node:http';
import { AppError } from '@millrace/runtime';
import { Router } from 'express';
import { authorize, requirePossibleKey } from '../access/authorize.ts';
import type { Answer } from '../answer/send-answer.ts';
import type { ByteLease } from '../body/byte-budget.ts';
import { claimedSize } from '../body/inflate.ts';
import { requestIdOf } from '../head.ts';
import type { FoundV1 } from '../large-bodies/body-job.ts';
import { findTurn } from '../large-bodies/body-threads.ts';
import { inParts, isLarge } from '../large-bodies/large-bodies.ts';
import type { CaptureRequest } from '../readers/classic.ts';
import { parseV1Batch, type ValidatedBatch, validateBatch } from '../readers/v1-batch.ts';
import {
  decodeV1Body,
  echoedRequestId,
  readV1Head,
  receiveV1Body,
  type V1Body,
  type V1Head,
} from '../readers/v1-request.ts';
import { publishRequest } from './publish-request.ts';
import { type CaptureDependencies, type Progress, serveRequest } from './serve-request.ts';
import { createV1Results, createV1Tally, toV1Refusal, type V1Results } from './v1-answer.ts';

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

/** A request of Capture v1 whose events were looked at, wherever that was done. */
interface V1Request extends Omit<ValidatedBatch, 'events'> {
  /** The events that go on, at least one part; those of a large request come in several. */
  parts(): Iterable<CaptureRequest>;
}

/**
 * Steps 2 and 3, in this thread or, for a body that would keep it too long, in another one.
 *
 * @throws AppError see `receiveV1Body`, `decodeV1Body`, `parseV1Batch`; `unavailable` when the thread was lost.
 */
async function readV1Request(
  request: IncomingMessage,
  head: V1Head,
  lease: ByteLease,
  { limits, uploads, metrics, largeBodies, projectKeys }: CaptureDependencies,
): Promise<V1Request> {
  const { maxDecompressedBytes, trustProxy } = limits;
  const { sdk } = head;
  const inThread = async (body: V1Body) => {
    const turn = await findTurn(request, [head.token], { projectKeys, trustProxy });
    return fromThread(await largeBodies.findV1({ ...body, sdk, maxDecompressedBytes, lease, turn }), head);
  };
  const body = await receiveV1Body(request, { limits, lease, uploads, onReceived: metrics.bodyReceived });
  if (isLarge(body.raw.length) || isLarge(claimedSize(body.raw))) return inThread(body);
  const json = await decodeV1Body(body, { maxDecompressedBytes, lease });
  if (isLarge(json.length)) return inThread({ raw: json, contentEncoding: undefined });
  const { events, ...validated } = validateBatch(parseV1Batch(json.toString('utf8')), sdk);
  return { ...validated, parts: () => [{ ...of(head, validated), events }] };
}

function fromThread({ json, slots, events, uuids, ...validated }: FoundV1, head: V1Head): V1Request {
  const common = of(head, validated);
  const { parts } = inParts({ kind: 'capture', ...common, json, slots, events });
  // Dropped events are reported to the project even when no event is left.
  return { ...validated, uuids: uuids.split(','), parts: events === 0 ? () => [{ ...common, events: [] }] : parts };
}

function of({ token, sentAtMs }: V1Head, { isHistorical }: Pick<ValidatedBatch, 'isHistorical'>) {
  return { token, sentAtMs, isHistorical };
}
