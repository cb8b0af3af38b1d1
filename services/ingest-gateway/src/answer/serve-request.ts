import type { IncomingMessage, ServerResponse } from 'node:http';
import { toAppError } from '@millrace/http';
import type { Tracing } from '@millrace/runtime/tracing';
import type { ByteBudget, ByteLease } from '../body/byte-budget.ts';
import type { Uploads } from '../body/receive.ts';
import type { RefusalLine } from './refusal-log.ts';
import { beginTrace, type RequestTrace } from './request-trace.ts';
import { type Answer, type Refusal, sendAnswer, sendRefusal } from './send-answer.ts';

/** A request and the response to it, with what differs between the protocols. */
export interface Exchange {
  request: IncomingMessage;
  response: ServerResponse;
  requestId: string;
  /** The path's name in metrics and in the log. */
  path: string;
  toRefusal(error: unknown): Refusal;
}

/** State of a request that is being served. */
export interface Progress {
  /** The project of the request, for its line in the log; null until it is known. */
  environmentId: number | null;
  readonly lease: ByteLease;
  /** Null: this request is not traced. */
  readonly trace: RequestTrace | null;
}

/** What every request is served with, of events or of flags. */
export interface Serving {
  budget: ByteBudget;
  uploads: Uploads;
  /** Null: nothing is traced. */
  tracing: Tracing | null;
  logRefusal(line: RefusalLine): void;
  isStopping(): boolean;
  metrics: {
    began(): void;
    /** @param code of the error answer; null for a success. */
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
 * What every request has around its steps: metrics, memory that is always given back, the answer to a refusal
 * and its line in the log, and the end of the connection while the server stops. Never rejects.
 *
 * @param steps from the headers of the request to its answer; what they throw is refused.
 */
export async function serveRequest(
  { request, response, requestId, path, toRefusal }: Exchange,
  serving: Serving,
  steps: (progress: Progress) => Promise<Answer>,
): Promise<void> {
  const { budget, uploads, tracing, metrics } = serving;
  const startedAt = performance.now();
  const trace = tracing === null ? null : beginTrace(tracing, request, path);
  const progress: Progress = { environmentId: null, lease: budget.lease(), trace };
  metrics.began();
  let status = 200;
  let code: string | null = null;
  try {
    const answer = await steps(progress);
    status = answer.status;
    sendAnswer(request, response, answer, { requestId, isLast: serving.isStopping() });
  } catch (error) {
    const { method } = request;
    const { environmentId } = progress;
    const { attr, cause } = toAppError(error);
    const refusal = toRefusal(error);
    ({ status, code } = refusal);
    serving.logRefusal({ requestId, method, path, status, code, attr, environmentId, cause });
    progress.lease.releaseAll();
    const context = { requestId, isLast: serving.isStopping(), uploads };
    await sendRefusal(request, response, refusal, context).catch(() => response.destroy());
  } finally {
    progress.lease.releaseAll();
    const seconds = (performance.now() - startedAt) / 1000;
    metrics.ended({ path, status, code, seconds, traceId: trace?.traceId ?? null });
    trace?.end({ status, code, environmentId: progress.environmentId });
  }
}
