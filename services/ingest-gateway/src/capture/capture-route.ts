import type { IncomingMessage, ServerResponse } from 'node:http';
import { AppError } from '@millrace/runtime';
import { authorize } from '../access/authorize.ts';
import { type Answer, preflightHeaders, toRefusal } from '../answer/send-answer.ts';
import { type CapturePath, parseCaptureQuery, requestIdOf } from '../head.ts';
import { createDropTally } from '../readers/drops.ts';
import { publishRequest } from './publish-request.ts';
import { readRequest } from './read-request.ts';
import { type CaptureDependencies, type Progress, serveRequest } from './serve-request.ts';

const accepted = { status: 200, body: '{"status":"Ok"}', headers: {} };
/**
 * Browsers then stop sending for a minute (docs/wire-rules.md#what-sdks-do-with-an-answer); never 204, its body would
 * be lost.
 */
const quotaLimited = { status: 200, body: '{"status":"Ok","quota_limited":["events"]}', headers: {} };
const acceptedBeacon = { status: 204, body: '', headers: {} };

/** A capture path and the text after `?`. */
export interface CaptureTarget {
  path: CapturePath;
  query: string;
}

/**
 * Step 1: one request of a capture path, from its head to its answer. Answers 200 only after the log has
 * acknowledged every event (docs/wire-rules.md#answers). Never rejects.
 */
export function captureRoute(
  request: IncomingMessage,
  response: ServerResponse,
  target: CaptureTarget,
  deps: CaptureDependencies,
): Promise<void> {
  const exchange = { request, response, requestId: requestIdOf(request), path: target.path.label, toRefusal };
  return serveRequest(exchange, deps, (progress) => capture(request, target, progress, deps));
}

/** The steps in their order. */
async function capture(
  request: IncomingMessage,
  target: CaptureTarget,
  progress: Progress,
  deps: CaptureDependencies,
): Promise<Answer> {
  if (request.method === 'OPTIONS') return preflight(request);
  const { path } = target;
  const query = parseCaptureQuery(target.query);
  const receivedAtMs = Date.now();
  requireGetOrPost(request);
  // After this, a body that was sent together with its head is there. From here on nothing is awaited that is at hand:
  // awaiting it would cost each request a promise and one more turn of the microtask queue.
  await undefined;
  const read = readRequest(request, { path, query }, progress.lease, deps);
  const incoming = read instanceof Promise ? await read : read;
  const access = authorize(incoming, deps.projectKeys);
  const project = access instanceof Promise ? await access : access;
  progress.environmentId = project?.environmentId ?? null;
  const { token, isHistorical, events } = incoming;
  const admission = { token, project, isHistorical, events };
  if (deps.traffic.admit(admission, request) === 'quota_limited') {
    deps.metrics.dropped('quota_limited', events);
    return quotaLimited;
  }
  const { nameForNameless } = path;
  await publishRequest(
    request,
    incoming,
    { admission, receivedAtMs, nameForNameless, dropped: createDropTally(), trace: progress.trace },
    deps,
  );
  return query.isBeacon ? acceptedBeacon : accepted;
}

function preflight(request: IncomingMessage): Answer {
  return { status: 200, body: '', headers: { ...preflightHeaders(request), 'content-length': 0 } };
}

function requireGetOrPost({ method }: IncomingMessage): void {
  if (method !== 'GET' && method !== 'POST') throw new AppError('method_not_allowed', 'This path takes POST requests.');
}
