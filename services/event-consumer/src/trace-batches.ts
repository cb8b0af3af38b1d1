// Continues the traces of records while their batch is processed.

import type { LogBatch, LogRecord } from '@millrace/event-log';
import {
  createStepAttribute,
  isSampled,
  parseTraceparent,
  type TraceAttributes,
  type TraceSpan,
  type Tracing,
} from '@millrace/runtime/tracing';
import type { BatchReport, BatchWork, StaleBatch } from './batch.ts';
import type { RecordStep } from './metrics.ts';

type SpanContext = TraceSpan['context'];
type ProcessBatch = (work: BatchWork, startStepTimer: () => RecordStep) => Promise<BatchReport | StaleBatch>;

/** The maximum number of records in a batch whose traces are continued. More would add no information. */
const maxTracedRecords = 20;

/**
 * Continues the traces of a batch's records until the batch is committed. A batch with traced records has its own
 * trace, with its position in the log and the duration of each step. The records' spans link to the batch's trace.
 * Batches without traced records are processed without additional cost.
 */
export function withBatchTracing(
  tracing: Tracing,
  process: ProcessBatch,
  startStepTimer: () => RecordStep,
): (work: BatchWork) => ReturnType<ProcessBatch> {
  return async (work) => {
    const parents = tracedParents(work.batch.records).filter(() => tracing.shouldTrace(true));
    if (parents.length === 0) return process(work, startStepTimer);
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
      const result = await process(work, () => tracedSteps(steps, startStepTimer()));
      endAll({ ...steps, 'millrace.outcome': result.outcome });
      return result;
    } catch (error) {
      endAll(steps, { failure: error instanceof Error ? error.name : 'error' });
      throw error;
    }
  };
}

export function findTraceId({ records }: LogBatch): string | null {
  return tracedParents(records, 1)[0]?.traceId ?? null;
}

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

/**
 * Records steps as span attributes. They are not separate spans, because a batch has about fifteen steps, and each span
 * costs a tenth of a millisecond.
 */
function tracedSteps(steps: TraceAttributes, recordStep: RecordStep): RecordStep {
  let startedAt = performance.now();
  return (step, result) => {
    Object.assign(steps, createStepAttribute(step, startedAt));
    startedAt = performance.now();
    return recordStep(step, result);
  };
}
