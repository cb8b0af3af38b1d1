import type { IncomingMessage, ServerResponse } from 'node:http';
import type { TopicNames } from '@millrace/contracts';
import { AppError } from '@millrace/errors';
import type { EventLog } from '@millrace/event-log';
import { toAppError } from '@millrace/http';
import { v7 as createUuid } from 'uuid';
import { authorize, requirePossibleKey } from '../access/authorize.ts';
import type { ProjectKeys } from '../access/project-keys.ts';
import type { CaptureLimits } from '../config.ts';
import type { ByteBudget, ByteLease } from '../limits/byte-budget.ts';
import type { TrafficControl } from '../limits/traffic-control.ts';
import type { CaptureMetrics } from './capture-metrics.ts';
import type { CapturePath } from './capture-path.ts';
import { type CaptureQuery, parseCaptureQuery } from './capture-query.ts';
import { clientAddress } from './client-address.ts';
import { preflightHeaders } from './cors.ts';
import { parseCaptureRequest } from './parse-capture-request.ts';
import { publish } from './publish.ts';
import { readBody } from './read-body.ts';
import type { RefusalLine } from './refusal-log.ts';
import { requestIdOf } from './request-id.ts';
import { sendAnswer, sendRefusal, toRefusal } from './send-answer.ts';
import { toCapturedEvents } from './to-captured-events.ts';
import { traceHeaders } from './trace-headers.ts';

export interface CaptureDependencies {
  log: Pick<EventLog, 'append'>;
  topics: TopicNames;
  projectKeys: ProjectKeys;
  budget: ByteBudget;
  traffic: TrafficControl;
  limits: CaptureLimits;
  metrics: CaptureMetrics;
  logRefusal(line: RefusalLine): void;
  isStopping(): boolean;
}

const accepted = { status: 200, body: '{"status":"Ok"}', headers: {} };
/** Browsers then stop sending for a minute (reference/sdk-wire.md section 1); never 204, its body would be lost. */
const quotaLimited = { status: 200, body: '{"status":"Ok","quota_limited":["events"]}', headers: {} };
const acceptedBeacon = { status: 204, body: '', headers: {} };

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
  const isGet = request.method === 'GET';
  if (!isGet && request.method !== 'POST') throw methodNotAllowed();
  const body = await readBody(request, query, { limits, lease: journey.lease, onReceived: metrics.bodyReceived });
  // A large body is not parsed for somebody whose key is nobody's.
  if (body.envelopeKey !== null) await requirePossibleKey(body.envelopeKey, deps.projectKeys);
  const capturing = parseCaptureRequest(body.json, {
    apiKey: body.apiKey ?? (isGet ? query.apiKey : null),
    sentAt: query.sentAt,
  });
  const project = await authorize(capturing, deps.projectKeys);
  journey.environmentId = project?.environmentId ?? null;
  const { token, isHistorical } = capturing;
  const arriving = { token, project, isHistorical, events: capturing.events.length };
  if (traffic.admit(arriving, request) === 'quota_limited') {
    metrics.dropped('quota_limited', arriving.events);
    return 'quota_limited';
  }
  const assembled = toCapturedEvents(capturing, {
    receivedAtMs,
    ip: clientAddress(request.headers, request.socket.remoteAddress, limits.trustProxy),
    nameForNameless: path.nameForNameless,
    createUuid,
  });
  const captured = traffic.steer(assembled, project);
  const written = await publish(captured, {
    log: deps.log,
    topics: deps.topics,
    maxRecordBytes: limits.maxRecordBytes,
    createUuid,
    headers: traceHeaders(request),
  });
  traffic.noteStored(arriving, written);
  metrics.published(captured.lane, written, captured.dropped);
  return 'accepted';
}

function methodNotAllowed(): AppError {
  return new AppError('method_not_allowed', 'This path takes POST requests.');
}
