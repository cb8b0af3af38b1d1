import type { BatchContext, BatchResult, LogBatch } from '@millrace/event-log';
import type { Logger } from '@millrace/runtime';
import type { ConsumeMetrics } from './consume-metrics.ts';
import type { DeadLetterReason } from './dead-letters/dead-letter.ts';
import { describeFailure } from './describe-failure.ts';
import { classifyFailure } from './failure-class.ts';
import type { BatchReport, BatchWork, StaleBatch } from './process-batch.ts';

export interface ConsumeDeps {
  group: string;
  /** processBatch with its dependencies. */
  process(work: BatchWork): Promise<BatchReport | StaleBatch>;
  logger: Logger;
  metrics: ConsumeMetrics;
  /** Resolves after the time, or at once when the signal aborts. */
  sleep(ms: number, signal: AbortSignal): Promise<void>;
}

/** Quick repetitions here; after them the log delivers the batch again, with longer pauses, for as long as it takes. */
const maxTransientRetries = 4;
/**
 * Lost races are short, and seldom lost twice; so many in a row, some ten seconds of them, mean that the stored data
 * contradicts itself.
 */
const maxMovedRetries = 20;
const heartbeatMs = 1000;

/**
 * The handler of one lane: the one owner of retry. Every batch ends as stored, as dead letters with a reason, or as an
 * exception that makes the log deliver it again; nothing is skipped.
 */
export function createBatchHandler(
  deps: ConsumeDeps,
): (batch: LogBatch, context: BatchContext) => Promise<BatchResult> {
  const { group, logger, metrics } = deps;

  return async function handleBatch(batch, context) {
    const beat = setInterval(() => void context.heartbeat(), heartbeatMs);
    const stopTimer = metrics.startBatch();
    try {
      const result = await settle(batch, context);
      metrics.batchEnded(result.outcome);
      return result;
    } finally {
      stopTimer();
      clearInterval(beat);
    }
  };

  /** Processes the batch; when one of its records is poison, its halves one after the other, down to that record. */
  async function settle(batch: LogBatch, context: BatchContext): Promise<BatchResult> {
    const attempt = await tryUntilClear(batch, null, context);
    if (attempt.kind === 'settled') return attempt.result;
    if (batch.records.length === 1) return giveUp(batch, attempt.reason, attempt.error, context);

    const [left, right] = halves(batch);
    const first = await settle(left, context);
    if (context.signal.aborted) return first;
    // Should another member have moved the offset meanwhile, the right half finds itself stale.
    return settle(right, context);
  }

  async function giveUp(
    batch: LogBatch,
    reason: DeadLetterReason,
    error: unknown,
    context: BatchContext,
  ): Promise<BatchResult> {
    logger.error('a record cannot be processed and becomes a dead letter', {
      ...placeOf(batch),
      reason,
      ...describeFailure(error),
    });
    const attempt = await tryUntilClear(batch, reason, context);
    if (attempt.kind === 'settled') return attempt.result;
    // Not even its dead letter can be written: never skip it.
    throw attempt.error;
  }

  /** Repeats what may succeed when repeated. @throws the last error when it still might, later. */
  async function tryUntilClear(
    batch: LogBatch,
    verdict: DeadLetterReason | null,
    context: BatchContext,
  ): Promise<Attempt> {
    for (let moved = 0, transient = 0; ; ) {
      try {
        const result = await deps.process({ batch, group, verdict, lockFirst: moved > 0 });
        if (result.outcome === 'done') metrics.report(result);
        return { kind: 'settled', result };
      } catch (error) {
        const failure = classifyFailure(error);
        switch (failure.kind) {
          case 'poison':
            return { kind: 'poison', reason: failure.reason, error };
          case 'moved':
            moved += 1;
            if (moved > maxMovedRetries) return { kind: 'poison', reason: 'ledger_conflict', error };
            break;
          case 'transient':
            transient += 1;
            if (transient > maxTransientRetries) throw error;
            break;
          case 'systemic':
            logger.error('batches cannot be processed until somebody acts', {
              ...placeOf(batch),
              ...describeFailure(error),
            });
            throw error;
        }
        metrics.retried(failure.kind);
        logger.debug('a batch is tried again', { ...placeOf(batch), failure: failure.kind, ...describeFailure(error) });
        if (context.signal.aborted) throw error;
        await deps.sleep(pauseMs(failure.kind, failure.kind === 'moved' ? moved : transient), context.signal);
      }
    }
  }
}

type Attempt =
  | { kind: 'settled'; result: BatchReport | StaleBatch }
  | { kind: 'poison'; reason: DeadLetterReason; error: unknown };

/** A lost race is over when we hear of it, so the first repetition is immediate; a server needs time. Half is chance. */
function pauseMs(kind: 'moved' | 'transient', attempt: number): number {
  const ms = kind === 'moved' ? 2 ** attempt - 2 : 50 * 2 ** attempt;
  return Math.min(ms, 1000) * (0.5 + Math.random() / 2);
}

/** The right half continues where the left half ends. */
function halves(batch: LogBatch): [LogBatch, LogBatch & { continuesFrom: bigint }] {
  const middle = Math.ceil(batch.records.length / 2);
  const left = batch.records.slice(0, middle);
  const right = batch.records.slice(middle);
  const lastLeft = left.at(-1);
  if (lastLeft === undefined || right.length === 0) throw new Error('a batch of one record has no halves');
  return [
    { ...batch, records: left },
    { ...batch, records: right, continuesFrom: lastLeft.offset + 1n },
  ];
}

function placeOf({ topic, partition, records }: LogBatch) {
  return { topic, partition, offset: String(records[0]?.offset), records: records.length };
}
