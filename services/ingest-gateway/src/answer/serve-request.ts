import type { IncomingMessage, ServerResponse } from 'node:http';
import { toAppError } from '@millrace/http';
import type { Tracing } from '@millrace/runtime/tracing';
import type { ByteBudget, ByteLease } from '../body/byte-budget.ts';
import type { Uploads } from '../body/uploads.ts';
import type { RefusalLine } from './refusal-log.ts';
import { beginTrace, type RequestTrace } from './request-trace.ts';
import { type Answer, type Refusal, sendAnswer, sendRefusal } from './send-answer.ts';

/** A request and its response, and what differs between the protocols. */
export interface Exchange {
  request: IncomingMessage;
  response: ServerResponse;
  requestId: string;
  /** Name of the path in metrics and logs. */
  path: string;
  toRefusal(error: unknown): Refusal;
}

/** What a request uses while it is being served. */
export interface RequestScope {
  /** The memory of the request. It is released after the response. */
  lease: ByteLease;
  trace: RequestTrace;
  /** Adds the environment to the log line and the trace of the request. */
  setEnvironment(environmentId: number | null): void;
}

/** Dependencies of all requests, for events and for flags. */
export interface Serving {
  budget: ByteBudget;
  uploads: Uploads;
  /** Null if tracing is off. */
  tracing: Tracing | null;
  logRefusal(line: RefusalLine): void;
  isStopping(): boolean;
  metrics: {
    began(): void;
    /** @param outcome.code the error code. Null for a successful request. */
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
 * Serves a request: measures it, releases its memory, sends the response or the error, logs errors, and closes the
 * connection while the server is stopping. Never rejects.
 *
 * @param handle creates the response. If it throws, the client gets an error response.
 */
export async function serveRequest(
  { request, response, requestId, path, toRefusal }: Exchange,
  serving: Serving,
  handle: (scope: RequestScope) => Promise<Answer>,
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
    const answer = await handle({ lease, trace, setEnvironment });
    status = answer.status;
    sendAnswer(request, response, answer, { requestId, isLast: serving.isStopping() });
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
