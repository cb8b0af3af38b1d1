import type { IncomingMessage } from 'node:http';
import {
  formatTraceparent,
  isSampled,
  parseTraceparent,
  stepAttribute,
  type TraceAttributes,
  type Tracing,
} from '@millrace/runtime/tracing';

/** The trace of a request. Most requests are not traced. */
export interface RequestTrace {
  /** Null if the request is not traced. */
  traceId: string | null;
  /**
   * Starts measuring how long the append takes, until `appended`.
   * @returns headers that connect the log records with the trace.
   */
  appending(events: number): RecordHeaders;
  appended(): void;
  end(outcome: { status: number; code: string | null; environmentId: number | null }): void;
}

/** Trace headers of log records. Undefined if the records do not belong to a trace. */
type RecordHeaders = Record<string, string> | undefined;

/**
 * Decides whether to trace a request. Continues the client's trace, but follows its sampling decision only if clients are
 * trusted. Creates one span for the complete request. The append is an attribute of this span, because a span of its own
 * would cost as much as one or two requests.
 *
 * @param tracing null if tracing is off.
 */
export function beginTrace(tracing: Tracing | null, request: IncomingMessage, path: string): RequestTrace {
  const sent = traceparentOf(request);
  const parent = sent === undefined ? null : parseTraceparent(sent);
  if (tracing === null || !tracing.choose(tracing.trustsParent && parent !== null && isSampled(parent))) {
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
    if (appendingSince !== null) appended = { ...appended, ...stepAttribute('append', appendingSince) };
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
 * A request that is not traced here. If tracing is on, its records must not be marked as sampled. Otherwise any client could
 * cause everything that happens to its events to be traced.
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
