// Decides what happens when a batch fails: retry the batch, split it, or store a record as a dead letter.

import type { BatchContext, BatchResult, LogBatch } from '@millrace/event-log';
import type { Logger } from '@millrace/runtime';
import type { BatchReport, BatchWork, StaleBatch } from './batch.ts';
import type { DeadLetterReason } from './dead-letters.ts';
import { classifyFailure, describeFailure } from './failures.ts';
import type { ConsumeMetrics } from './metrics.ts';

export interface ConsumeDeps {
  group: string;
  process(work: BatchWork): Promise<BatchReport | StaleBatch>;
  logger: Logger;
  metrics: ConsumeMetrics;
  /** Returns a batch's trace ID, or null if none of its records is traced. */
  traceIdOf(batch: LogBatch): string | null;
  /**
   * Releases the locks of crashed processes. Called when a lock timed out, because a crashed process may still hold the
   * lock. Never throws.
   */
  releaseLocks(): Promise<void>;
  sleep(ms: number, signal: AbortSignal): Promise<void>;
}

/**
 * The number of retries in this process, after which the log delivers the batch again, with longer delays, until it
 * succeeds.
 */
const maxTransientRetries = 4;
/**
 * The maximum number of consecutive conflicts. Conflicts between batches are brief and rarely repeat, so this many
 * conflicts (about ten seconds) mean that the stored data is inconsistent.
 */
const maxMovedRetries = 20;
/**
 * How often a single record can cause a statement timeout before it becomes a dead letter. The first timeout is usually
 * caused by a busy server.
 */
const maxSlowAttempts = 3;
const heartbeatMs = 1000;

/**
 * Creates a topic's batch handler, which is the only place for retries. Every batch ends in one of three ways: its
 * events are stored, its records become dead letters with a reason, or an error makes the log deliver it again. Nothing
 * is skipped.
 */
export function createBatchHandler(
  deps: ConsumeDeps,
): (batch: LogBatch, context: BatchContext) => Promise<BatchResult> {
  const { group, logger, metrics, traceIdOf } = deps;

  return async function handleBatch(batch, context) {
    const beat = setInterval(() => void context.heartbeat(), heartbeatMs);
    const stopTimer = metrics.startBatch();
    try {
      const result = await processOrSplit(batch, context);
      metrics.batchEnded(result.outcome);
      return result;
    } finally {
      stopTimer(traceIdOf(batch));
      clearInterval(beat);
    }
  };

  /**
   * Processes a batch. If it is too large, splits it and processes its parts in order. If a record cannot be processed,
   * halves the batch repeatedly until only that record is left.
   */
  async function processOrSplit(batch: LogBatch, context: BatchContext): Promise<BatchResult> {
    const attempt = await retryUntilDecided(batch, null, context);
    if (attempt.kind === 'processed') return attempt.result;
    if (batch.records.length === 1) return giveUp(batch, attempt.reason, attempt.error, context);

    const [first, ...others] = splitBatch(batch, attempt.partCount);
    let result = await processOrSplit(first, context);
    for (const part of others) {
      if (context.signal.aborted) break;
      // If another member has advanced the offset in the meantime, the result is stale.
      result = await processOrSplit(part, context);
    }
    return result;
  }

  async function giveUp(
    batch: LogBatch,
    reason: DeadLetterReason,
    error: unknown,
    context: BatchContext,
  ): Promise<BatchResult> {
    logger.error('could not process a record; storing it as a dead letter', {
      ...positionOf(batch),
      reason,
      ...describeFailure(error),
    });
    const attempt = await retryUntilDecided(batch, reason, context);
    if (attempt.kind === 'processed') return attempt.result;
    // Even the dead letter cannot be written, and the record must not be skipped.
    throw attempt.error;
  }

  /**
   * Processes a batch, and retries it as long as a retry can help.
   * @throws the last error if the log should deliver the batch again
   */
  async function retryUntilDecided(
    batch: LogBatch,
    deadLetterReason: DeadLetterReason | null,
    context: BatchContext,
  ): Promise<Attempt> {
    const failures: Failures = { moved: 0, transient: 0, slow: 0 };
    for (;;) {
      try {
        const result = await deps.process({ batch, group, deadLetterReason, lockFirst: failures.moved > 0 });
        if (result.outcome === 'done') metrics.report(result);
        return { kind: 'processed', result };
      } catch (error) {
        const next = await afterFailure(deps, { error, batch, failures });
        if (next.kind === 'split') return next;
        const { failure } = next;
        logger.debug('retrying a batch', { ...positionOf(batch), failure, ...describeFailure(error) });
        if (context.signal.aborted) throw error;
        await deps.sleep(pauseMs(failure, failures[failure]), context.signal);
      }
    }
  }
}

/**
 * Counts a batch's failure and decides whether to retry or split the batch.
 * @throws the error if the log should deliver the batch again
 */
async function afterFailure(
  { logger, metrics, releaseLocks }: ConsumeDeps,
  { error, batch, failures }: { error: unknown; batch: LogBatch; failures: Failures },
): Promise<RetryRequired | SplitRequired> {
  const failure = classifyFailure(error);
  if (failure.kind !== 'poison' && failure.kind !== 'systemic') metrics.retried(failure.kind);
  switch (failure.kind) {
    case 'poison':
      return { kind: 'split', partCount: 2, reason: failure.reason, error };
    case 'too_large':
      return { kind: 'split', partCount: failure.partCount, reason: 'processing_error', error };
    case 'moved':
      failures.moved += 1;
      if (failures.moved > maxMovedRetries) return { kind: 'split', partCount: 2, reason: 'ledger_conflict', error };
      return { kind: 'retry', failure: 'moved' };
    case 'slow':
      failures.slow += 1;
      // Retry the record a few times. Writing a dead letter requires a similar transaction, which also fails while the
      // server is this slow.
      if (batch.records.length === 1 && failures.slow < maxSlowAttempts) return { kind: 'retry', failure: 'slow' };
      return { kind: 'split', partCount: 2, reason: 'timed_out', error };
    case 'transient':
      failures.transient += 1;
      if (failures.transient > maxTransientRetries) throw error;
      return { kind: 'retry', failure: 'transient' };
    case 'blocked':
      // The log will deliver the batch again. If the batch waited here, it would block a slot that other partitions can
      // use.
      await releaseLocks();
      throw error;
    case 'systemic':
      logger.error('could not process a batch; retrying until an operator fixes the cause', {
        ...positionOf(batch),
        ...describeFailure(error),
      });
      throw error;
  }
}

type Failures = Record<'moved' | 'transient' | 'slow', number>;

interface RetryRequired {
  kind: 'retry';
  failure: keyof Failures;
}

type Attempt = { kind: 'processed'; result: BatchReport | StaleBatch } | SplitRequired;

/** The batch must be split. If it has only one record, the record becomes a dead letter with this reason. */
interface SplitRequired {
  kind: 'split';
  partCount: number;
  reason: DeadLetterReason;
  error: unknown;
}

/**
 * Returns the delay before a retry in milliseconds. After a conflict, the first retry is immediate, because the other
 * batch has finished. After a transient failure, the server needs time to recover. Half of the delay is random, so that
 * batches do not conflict again.
 */
function pauseMs(kind: keyof Failures, attempt: number): number {
  const ms = kind === 'moved' ? 2 ** attempt - 2 : 50 * 2 ** attempt;
  return Math.min(ms, 1000) * (0.5 + Math.random() / 2);
}

/** Splits a batch into parts of about equal size. Each part continues where the previous one ends. */
function splitBatch(batch: LogBatch, partCount: number): [LogBatch, ...LogBatch[]] {
  const { records } = batch;
  const size = Math.ceil(records.length / Math.min(Math.max(partCount, 2), records.length));
  const [first, ...others] = Array.from({ length: Math.ceil(records.length / size) }, (_, part) =>
    records.slice(part * size, (part + 1) * size),
  );
  if (first === undefined || others.length === 0) throw new Error('a batch with one record cannot be split');
  let continuesFrom = first.at(-1)?.offset ?? 0n;
  return [
    { ...batch, records: first },
    ...others.map((part) => {
      const cut = { ...batch, records: part, continuesFrom: continuesFrom + 1n };
      continuesFrom = part.at(-1)?.offset ?? continuesFrom;
      return cut;
    }),
  ];
}

function positionOf({ topic, partition, records }: LogBatch) {
  return { topic, partition, offset: String(records[0]?.offset), records: records.length };
}
