import type { LogBatch, LogRecord } from '@millrace/event-log';
import {
  isSampled,
  parseTraceparent,
  stepAttribute,
  type TraceAttributes,
  type TraceSpan,
  type Tracing,
} from '@millrace/runtime/tracing';
import type { BatchReport, BatchWork, StaleBatch } from './batch.ts';
import type { Timed } from './metrics.ts';

type SpanContext = TraceSpan['context'];
type ProcessBatch = (work: BatchWork, startTimer: () => Timed) => Promise<BatchReport | StaleBatch>;

/** Traced records of one batch; more of them tell nothing new. */
const maxTracedRecords = 20;

/**
 * Goes on with the traces of a batch's records, from when it is begun to its commit. A batch with such records has a trace of
 * its own that tells where they lay and how long each step took, and each of their spans is linked to it. Batches without are processed as if this were not there.
 */
export function traceBatches(
  tracing: Tracing,
  process: ProcessBatch,
  startTimer: () => Timed,
): (work: BatchWork) => ReturnType<ProcessBatch> {
  return async (work) => {
    const parents = tracedParents(work.batch.records).filter(() => tracing.choose(true));
    if (parents.length === 0) return process(work, startTimer);
    const { topic, partition, records } = work.batch;
    const batch = tracing.start('process a batch', {
      kind: 'consumer',
      links: parents,
      attributes: {
        'messaging.destination.name': topic,
        'messaging.destination.partition.id': String(partition),
        'messaging.batch.message_count': records.length,
      },
    });
    const links = [batch.context];
    const events = parents.map((parent) => tracing.start('process an event', { kind: 'consumer', parent, links }));
    const steps: TraceAttributes = {};
    const endAll = (attributes: TraceAttributes, ended?: { failure: string }) => {
      batch.set(attributes);
      for (const span of [...events, batch]) span.end(ended);
    };
    try {
      const result = await process(work, () => tracedSteps(steps, startTimer()));
      endAll({ ...steps, 'millrace.outcome': result.outcome });
      return result;
    } catch (error) {
      endAll(steps, { failure: error instanceof Error ? error.name : 'error' });
      throw error;
    }
  };
}

/** The first trace that the batch continues with; null without one. */
export function traceIdOf({ records }: LogBatch): string | null {
  return tracedParents(records, 1)[0]?.traceId ?? null;
}

/** Of records whose gateway has recorded them. */
function tracedParents(records: readonly LogRecord[], most = maxTracedRecords): SpanContext[] {
  const parents: SpanContext[] = [];
  for (const { headers } of records) {
    const { traceparent } = headers;
    if (traceparent === undefined) continue;
    const parent = parseTraceparent(traceparent);
    if (parent === null || !isSampled(parent)) continue;
    parents.push(parent);
    if (parents.length === most) break;
  }
  return parents;
}

/** Attributes rather than spans: a batch has some fifteen steps, and each span costs the process a tenth of a millisecond. */
function tracedSteps(steps: TraceAttributes, timed: Timed): Timed {
  let startedAt = performance.now();
  return (step, result) => {
    Object.assign(steps, stepAttribute(step, startedAt));
    startedAt = performance.now();
    return timed(step, result);
  };
}
