import type { Logger } from '@millrace/runtime';
import type { BatchContext, BatchResult, ConsumeOptions, LogBatch, LogRecord } from '../log.ts';
import type { ConsumeMetrics } from './metrics.ts';

/**
 * The outcome of a batch: the handler's result, `failed` if the handler threw, or `interrupted` if it threw after an
 * abort.
 */
export type Delivery = BatchResult | { outcome: 'failed' } | { outcome: 'interrupted' };

/** Passes one batch to the consumer's handler and records the outcome. Never throws. */
export async function deliverBatch(
  {
    consume,
    logger,
    metrics,
  }: {
    consume: Pick<ConsumeOptions, 'topic' | 'group' | 'handler'>;
    logger: Logger;
    metrics: ConsumeMetrics;
  },
  batch: LogBatch,
  context: BatchContext,
): Promise<Delivery> {
  const { topic, group } = consume;
  const startedAt = performance.now();
  const appendedAtMs = batch.records[0]?.appendedAtMs ?? Date.now();
  metrics.began(topic, group, batch.partition, appendedAtMs);
  try {
    const result = await consume.handler(batch, context);
    if (result.outcome === 'done') assertProgress(batch, result.nextOffset);
    if (result.outcome === 'stale') metrics.stale(topic, group);
    else {
      const seconds = (performance.now() - startedAt) / 1000;
      metrics.handled(topic, group, { records: batch.records.length, seconds, appendedAtMs });
    }
    return result;
  } catch (error) {
    if (context.signal.aborted) return { outcome: 'interrupted' };
    metrics.failed(topic, group);
    logger.warn('batch failed; it will be delivered again', {
      topic,
      group,
      partition: batch.partition,
      offset: String(batch.records[0]?.offset),
      records: batch.records.length,
      error,
    });
    return { outcome: 'failed' };
  }
}

/**
 * Throws if a batch made no progress. A handler that reports `done` without advancing the offset would otherwise
 * receive the same records again and again.
 */
function assertProgress({ records }: LogBatch, nextOffset: bigint): void {
  const first = records[0];
  if (first !== undefined && nextOffset <= first.offset) {
    throw new Error(
      `the handler reported the batch as done, but its next offset ${nextOffset} is not greater than ${first.offset}`,
    );
  }
}

/**
 * Returns the records of the next batch, starting at index `start`: at least one and at most `maxRecords` records. The
 * batch ends early when the total size of its values reaches `maxBytes`.
 */
export function takeBatch(records: LogRecord[], start: number, maxRecords: number, maxBytes: number): LogRecord[] {
  let bytes = 0;
  let end = start;
  while (end < records.length && end - start < maxRecords && (end === start || bytes < maxBytes)) {
    bytes += records[end]?.value.length ?? 0;
    end += 1;
  }
  return records.slice(start, end);
}
