import type { IncomingMessage, ServerResponse } from 'node:http';
import type { TopicNames } from '@millrace/contracts';
import type { EventLog } from '@millrace/event-log';
import { toAppError } from '@millrace/http';
import {
  formatTraceparent,
  isSampled,
  parseTraceparent,
  stepAttribute,
  type TraceAttributes,
  type Tracing,
} from '@millrace/runtime/tracing';
import type { ProjectKeys } from '../access/project-keys.ts';
import type { RefusalLine } from '../answer/refusal-log.ts';
import { type Answer, type Refusal, sendAnswer, sendRefusal } from '../answer/send-answer.ts';
import type { ByteBudget, ByteLease } from '../body/byte-budget.ts';
import type { Uploads } from '../body/receive.ts';
import type { CaptureLimits } from '../config.ts';
import type { LargeBodies } from '../large-bodies/large-bodies.ts';
import type { TrafficControl } from '../limits/traffic-control.ts';
import type { CaptureMetrics } from './capture-metrics.ts';

/** A request and the response to it, with what differs between the capture protocols. */
export interface Exchange {
  request: IncomingMessage;
  response: ServerResponse;
  requestId: string;
  /** The path's name in metrics and in the log. */
  path: string;
  toRefusal(error: unknown): Refusal;
}

/** Of a request that is being served. */
export interface Progress {
  /** The project of the request, for its line in the log; null until it is known. */
  environmentId: number | null;
  readonly lease: ByteLease;
  /** Null: this request is not traced. */
  readonly trace: RequestTrace | null;
}

/** What the frame itself needs, whatever is served in it. */
type Frame = Pick<CaptureDependencies, 'budget' | 'uploads' | 'logRefusal' | 'isStopping' | 'tracing'> & {
  metrics: Pick<CaptureMetrics, 'began' | 'ended'>;
};

/**
 * What every request has around its steps: metrics, memory that is always given back, the answer to a refusal
 * and its line in the log, and the end of the connection while the server stops. Never rejects.
 *
 * @param steps from the head of the request to its answer; what they throw is refused.
 */
export async function serveRequest(
  { request, response, requestId, path, toRefusal }: Exchange,
  deps: Frame,
  steps: (progress: Progress) => Promise<Answer>,
): Promise<void> {
  const startedAt = performance.now();
  const trace = deps.tracing === null ? null : beginTrace(deps.tracing, request, path);
  const progress: Progress = { environmentId: null, lease: deps.budget.lease(), trace };
  deps.metrics.began();
  let status = 200;
  let code: string | null = null;
  try {
    const answer = await steps(progress);
    status = answer.status;
    sendAnswer(request, response, answer, { requestId, isLast: deps.isStopping() });
  } catch (error) {
    const { method } = request;
    const { environmentId } = progress;
    const { attr, cause } = toAppError(error);
    const refusal = toRefusal(error);
    ({ status, code } = refusal);
    deps.logRefusal({ requestId, method, path, status, code, attr, environmentId, cause });
    progress.lease.releaseAll();
    const context = { requestId, isLast: deps.isStopping(), uploads: deps.uploads };
    await sendRefusal(request, response, refusal, context).catch(() => response.destroy());
  } finally {
    progress.lease.releaseAll();
    const seconds = (performance.now() - startedAt) / 1000;
    deps.metrics.ended({ path, status, code, seconds, traceId: trace?.traceId ?? null });
    trace?.end({ status, code, environmentId: progress.environmentId });
  }
}

/** What the capture paths are served with. */
export interface CaptureDependencies {
  log: Pick<EventLog, 'append'>;
  topics: TopicNames;
  projectKeys: ProjectKeys;
  budget: ByteBudget;
  uploads: Uploads;
  traffic: TrafficControl;
  largeBodies: Pick<LargeBodies, 'find' | 'findInParts' | 'findV1'>;
  limits: CaptureLimits;
  metrics: CaptureMetrics;
  /** Null: nothing is traced. */
  tracing: Tracing | null;
  logRefusal(line: RefusalLine): void;
  isStopping(): boolean;
}

/** The trace of one request; nearly all have none. */
export interface RequestTrace {
  traceId: string;
  /** Work that makes records, which go on with the trace by these headers. */
  appending(events: number, append: (headers: RecordHeaders) => Promise<void>): Promise<void>;
  end(outcome: { status: number; code: string | null; environmentId: number | null }): void;
}

/** Under which the records of a request are found again in its trace; undefined when they belong to none. */
export type RecordHeaders = Record<string, string> | undefined;

/**
 * Decides whether a request is traced. Continues the caller's trace; its sampling decision counts only where it is trusted.
 * One span for all of it: what the log took is an attribute, since a span costs as much as a request or two.
 */
export function beginTrace(tracing: Tracing, request: IncomingMessage, path: string): RequestTrace | null {
  const sent = traceparentOf(request);
  const parent = sent === undefined ? null : parseTraceparent(sent);
  if (!tracing.choose(tracing.trustsParent && parent !== null && isSampled(parent))) return null;
  const span = tracing.start(`${request.method} ${path}`, {
    kind: 'server',
    parent: parent ?? undefined,
    attributes: { 'http.request.method': request.method ?? '', 'http.route': path },
  });
  const { context, traceparent } = span;
  let appended: TraceAttributes = {};
  return {
    traceId: context.traceId,
    async appending(events, append) {
      const startedAt = performance.now();
      try {
        await append({ traceparent });
      } finally {
        appended = { 'messaging.batch.message_count': events, ...stepAttribute('append', startedAt) };
      }
    },
    end({ status, code, environmentId }) {
      span.set({
        ...appended,
        'http.response.status_code': status,
        ...(environmentId === null ? {} : { 'millrace.environment_id': environmentId }),
        ...(code === null ? {} : { 'error.type': code }),
      });
      span.end(status >= 500 ? { failure: code ?? 'internal' } : {});
    },
  };
}

/**
 * Of a request that is not traced here. Where traces are made, its records must not say that it was: whoever sends it could
 * have everything traced that follows.
 */
export function untracedHeaders(request: IncomingMessage, tracing: Tracing | null): RecordHeaders {
  const sent = traceparentOf(request);
  const parent = sent === undefined ? null : parseTraceparent(sent);
  if (sent === undefined || parent === null) return undefined;
  return { traceparent: tracing === null ? sent : formatTraceparent({ ...parent, traceFlags: 0 }) };
}

function traceparentOf({ headers }: IncomingMessage): string | undefined {
  const { traceparent } = headers;
  return typeof traceparent === 'string' ? traceparent : undefined;
}
