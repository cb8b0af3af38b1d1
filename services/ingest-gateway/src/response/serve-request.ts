// Serves one request, with metrics, tracing, memory limits and error handling.

import type { IncomingMessage, ServerResponse } from 'node:http';
import { toAppError } from '@millrace/http';
import {
  createStepAttribute,
  formatTraceparent,
  isSampled,
  parseTraceparent,
  type TraceAttributes,
  type Tracing,
} from '@millrace/runtime/tracing';
import type { ByteBudget, ByteLease } from '../body/byte-budget.ts';
import type { Uploads } from '../body/uploads.ts';
import type { RefusalLine } from './refusal-log.ts';
import { type GatewayResponse, type Refusal, sendRefusal, sendResponse } from './send-response.ts';

/** A request and its response, together with the functions that differ by protocol. */
export interface HttpExchange {
  request: IncomingMessage;
  response: ServerResponse;
  requestId: string;
  path: string;
  toRefusal(error: unknown): Refusal;
}

export interface RequestScope {
  /** The request's memory reservation. It is released after the response. */
  lease: ByteLease;
  trace: RequestTrace;
  /** Adds the environment ID to the request's log line and trace. */
  setEnvironment(environmentId: number | null): void;
}

export interface ServeDependencies {
  budget: ByteBudget;
  uploads: Uploads;
  tracing: Tracing | null;
  logRefusal(line: RefusalLine): void;
  isStopping(): boolean;
  metrics: {
    began(): void;
    /** @param outcome.code the error code, or null for a successful request */
    ended(outcome: {
      path: string;
      status: number;
      code: string | null;
      seconds: number;
      traceId: string | null;
    }): void;
  };
}

/**
 * Serves a request: sends the response or the error, measures and logs it, and releases its memory. Closes the
 * connection if the server is stopping. Never rejects.
 * @param handle a function that creates the response. If it throws, the client gets an error response.
 */
export async function serveRequest(
  { request, response, requestId, path, toRefusal }: HttpExchange,
  serving: ServeDependencies,
  handle: (scope: RequestScope) => Promise<GatewayResponse>,
): Promise<void> {
  const { budget, uploads, tracing, metrics } = serving;
  const startedAt = performance.now();
  const trace = beginTrace(tracing, request, path);
  const lease = budget.lease();
  let environmentId: number | null = null;
  const setEnvironment = (id: number | null) => {
    environmentId = id;
  };
  metrics.began();
  let status = 200;
  let code: string | null = null;
  try {
    const content = await handle({ lease, trace, setEnvironment });
    status = content.status;
    sendResponse(request, response, content, { requestId, isLast: serving.isStopping() });
  } catch (error) {
    const { method } = request;
    const { attr, cause } = toAppError(error);
    const refusal = toRefusal(error);
    ({ status, code } = refusal);
    serving.logRefusal({ requestId, method, path, status, code, attr, environmentId, cause });
    lease.releaseAll();
    const context = { requestId, isLast: serving.isStopping(), uploads };
    await sendRefusal(request, response, refusal, context).catch(() => response.destroy());
  } finally {
    lease.releaseAll();
    const seconds = (performance.now() - startedAt) / 1000;
    metrics.ended({ path, status, code, seconds, traceId: trace.traceId });
    trace.end({ status, code, environmentId });
  }
}

export interface RequestTrace {
  /** Null if the request is not traced. */
  traceId: string | null;
  /** Measures the time until `appended` is called. @returns headers that connect the log records with the trace */
  appending(events: number): RecordHeaders;
  appended(): void;
  end(outcome: { status: number; code: string | null; environmentId: number | null }): void;
}

/** Undefined if the request is not traced. */
type RecordHeaders = Record<string, string> | undefined;

/**
 * Decides whether to trace a request. Continues the client's trace, but follows its sampling decision only if clients
 * are trusted. Creates one span for the whole request. The append is only an attribute of it, because a separate span
 * would cost as much as one or two requests.
 * @param tracing null if tracing is off
 */
export function beginTrace(tracing: Tracing | null, request: IncomingMessage, path: string): RequestTrace {
  const sent = traceparentOf(request);
  const parent = sent === undefined ? null : parseTraceparent(sent);
  if (tracing === null || !tracing.shouldTrace(tracing.trustsParent && parent !== null && isSampled(parent))) {
    return untraced(tracing, sent, parent);
  }
  const span = tracing.start(`${request.method} ${path}`, {
    kind: 'server',
    parent: parent ?? undefined,
    attributes: { 'http.request.method': request.method ?? '', 'http.route': path },
  });
  const { context, traceparent } = span;
  let appendingSince: number | null = null;
  let appended: TraceAttributes = {};

  function noteAppended(): void {
    if (appendingSince !== null) appended = { ...appended, ...createStepAttribute('append', appendingSince) };
    appendingSince = null;
  }

  return {
    traceId: context.traceId,
    appending(events) {
      appendingSince = performance.now();
      appended = { 'messaging.batch.message_count': events };
      return { traceparent };
    },
    appended: noteAppended,
    end({ status, code, environmentId }) {
      noteAppended();
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
 * Returns the trace of a request that is not traced here. If tracing is on, its log records must not be marked as
 * sampled: any client could otherwise make the following services trace its events.
 */
function untraced(
  tracing: Tracing | null,
  sent: string | undefined,
  parent: ReturnType<typeof parseTraceparent>,
): RequestTrace {
  return {
    traceId: null,
    appending() {
      if (sent === undefined || parent === null) return undefined;
      return { traceparent: tracing === null ? sent : formatTraceparent({ ...parent, traceFlags: 0 }) };
    },
    appended() {},
    end() {},
  };
}

function traceparentOf({ headers }: IncomingMessage): string | undefined {
  const { traceparent } = headers;
  return typeof traceparent === 'string' ? traceparent : undefined;
}
