import type { IncomingMessage, ServerResponse } from 'node:http';
import { toAppError } from '@millrace/http';
import { type Answer, type Refusal, sendAnswer, sendRefusal } from '../answer/send-answer.ts';
import type { ByteLease } from '../memory/byte-budget.ts';
import type { CaptureDependencies } from './capture-dependencies.ts';
import type { CaptureMetrics } from './capture-metrics.ts';
import { beginTrace, type RequestTrace } from './request-trace.ts';

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
type Frame = Pick<CaptureDependencies, 'budget' | 'logRefusal' | 'isStopping' | 'tracing'> & {
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
    const context = { requestId, isLast: deps.isStopping() };
    await sendRefusal(request, response, refusal, context).catch(() => response.destroy());
  } finally {
    progress.lease.releaseAll();
    const seconds = (performance.now() - startedAt) / 1000;
    deps.metrics.ended({ path, status, code, seconds, traceId: trace?.traceId ?? null });
    trace?.end({ status, code, environmentId: progress.environmentId });
  }
}
