import type { BatchContext, BatchResult, LogBatch } from '@millrace/event-log';
import { createMetrics } from '@millrace/runtime';
import type { BatchReport, BatchWork, StaleBatch } from '../batch.ts';
import { createBatchHandler } from '../consume.ts';
import { createConsumeMetrics } from '../metrics.ts';
import { type ProcessBatchDeps, processBatch } from '../process-batch.ts';
import type { ConsumerFixture } from './consumer-fixture.ts';

export interface HandlerFixture {
  handle(batch: LogBatch, signal?: AbortSignal): Promise<BatchResult>;
  /** Returns a counter's total over all labels, or its count for the given label. */
  counted(name: string, label?: string): Promise<number>;
  /** The delays before retries, in milliseconds. */
  pauses: number[];
}

/** Creates a topic's batch handler as consume-topic.ts does, with real stores. Records delays instead of waiting. */
export function createHandlerFixture(
  fixture: ConsumerFixture,
  deps: ProcessBatchDeps,
  process: (
    work: BatchWork,
    run: (work: BatchWork) => Promise<BatchReport | StaleBatch>,
  ) => Promise<BatchReport | StaleBatch> = (work, run) => run(work),
): HandlerFixture {
  const metrics = createMetrics({ withProcessMetrics: false });
  const pauses: number[] = [];
  const runBatch = (work: BatchWork) => processBatch(work, deps);
  const handler = createBatchHandler({
    group: 'g',
    process: (work) => process(work, runBatch),
    logger: fixture.logger,
    metrics: createConsumeMetrics(metrics)('live'),
    traceIdOf: () => null,
    releaseLocks: async () => {},
    sleep: async (ms) => {
      pauses.push(ms);
    },
  });
  return {
    pauses,
    handle(batch, signal = new AbortController().signal) {
      const context: BatchContext = { signal, heartbeat: async () => {} };
      return handler(batch, context);
    },
    async counted(name, label) {
      const values = (await metrics.registry.getSingleMetric(`millrace_consumer_${name}`)?.get())?.values ?? [];
      return values
        .filter(({ labels }) => label === undefined || Object.values(labels).includes(label))
        .reduce((sum, { value }) => sum + value, 0);
    },
  };
}
