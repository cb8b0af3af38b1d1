import type { IncomingMessage } from 'node:http';
import {
  formatTraceparent,
  isSampled,
  parseTraceparent,
  stepAttribute,
  type TraceAttributes,
  type Tracing,
} from '@millrace/runtime/tracing';

/** The trace of one request; nearly all have none. */
export interface RequestTrace {
  traceId: string;
  /**
   * The log gets so many events; what it takes until `appended` is an attribute of the request.
   * @returns under which their records are found again in the trace.
   */
  appending(events: number): RecordHeaders;
  appended(): void;
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
