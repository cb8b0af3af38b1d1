import type { IncomingMessage } from 'node:http';
import {
  formatTraceparent,
  isSampled,
  parseTraceparent,
  stepAttribute,
  type TraceAttributes,
  type Tracing,
} from '@millrace/tracing';

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
 * Decides whether a request is traced. A caller has its trace gone on with, but decides for itself only where it is trusted.
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
