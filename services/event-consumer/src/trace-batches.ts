import type { LogBatch, LogRecord } from '@millrace/event-log';
import { isSampled, parseTraceparent, type TraceSpan, type Tracing } from '@millrace/tracing';
import type { BatchReport, BatchWork, StaleBatch } from './batch-work.ts';
import type { StepTimer } from './step-timer.ts';

type SpanContext = TraceSpan['context'];
type ProcessBatch = (work: BatchWork, step: StepTimer) => Promise<BatchReport | StaleBatch>;

/** Traced records of one batch; more of them tell nothing new. */
const maxTracedRecords = 20;

/**
 * Goes on with the traces of a batch's records, from when it is begun to its commit. A batch with such records has a trace of
 * its own that tells how long each step took, and each of their spans is linked to it. Batches without are processed as if this were not there.
 */
export function traceBatches(
  tracing: Tracing,
  process: ProcessBatch,
  step: StepTimer,
): (work: BatchWork) => ReturnType<ProcessBatch> {
  return async (work) => {
    const parents = tracedParents(work.batch.records);
    if (parents.length === 0 || !tracing.choose(true)) return process(work, step);
    const { topic, partition, records } = work.batch;
    const attributes = { 'messaging.destination.name': topic, 'messaging.destination.partition.id': String(partition) };
    const batch = tracing.start('process a batch', {
      kind: 'consumer',
      links: parents,
      attributes: { ...attributes, 'messaging.batch.message_count': records.length },
    });
    const events = parents.map((parent) =>
      tracing.start('process an event', { kind: 'consumer', parent, links: [batch.context], attributes }),
    );
    const endAll = (ended?: { failure: string }) => {
      for (const span of [...events, batch]) span.end(ended);
    };
    try {
      const result = await process(work, tracedSteps(batch, step));
      batch.set({ 'millrace.outcome': result.outcome });
      endAll();
      return result;
    } catch (error) {
      endAll({ failure: error instanceof Error ? error.name : 'error' });
      throw error;
    }
  };
}

/** The first trace that the batch goes on with; null without one. */
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
function tracedSteps(batch: TraceSpan, step: StepTimer): StepTimer {
  return async (name, work) => {
    const startedAt = performance.now();
    try {
      return await step(name, work);
    } finally {
      batch.set({ [`millrace.step.${name}.ms`]: Math.round((performance.now() - startedAt) * 1000) / 1000 });
    }
  };
}
