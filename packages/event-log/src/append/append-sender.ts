import { AppError } from '@millrace/errors';
import type { Logger } from '@millrace/runtime';
import { fail } from './append-call.ts';
import type { AppendMetrics } from './append-metrics.ts';
import type { AppendTransport, BatchRefusal } from './append-transport.ts';
import { createLeaderQueues, type LeaderQueuesOptions, sumBytes, type TakenBatch } from './leader-queues.ts';
import type { PartitionQueue } from './partition-queue.ts';

export interface SenderOptions extends LeaderQueuesOptions {
  transport: Pick<AppendTransport, 'send'>;
  logger: Logger;
  metrics: AppendMetrics;
  lingerMs: number;
}

const firstRetryDelayMs = 25;
const maxRetryDelayMs = 400;

/**
 * Sends to one leader. At most one request is under way, so that the records of a partition keep their order through
 * retries. New records gather meanwhile, so batches grow under load.
 */
export function createSender(options: SenderOptions) {
  const { logger, lingerMs, maxBatchBytes } = options;
  const queues = createLeaderQueues(options);
  let isPumping = false;
  let isClosing = false;
  let timer: NodeJS.Timeout | undefined;

  /** Sends when there are enough records or the linger is over; otherwise sets a timer for it. */
  function sendWhenDue(): void {
    if (isPumping || queues.waitingBytes() === 0) return;
    if (isDue()) void pump();
    else timer ??= setTimeout(pump, queues.waitingSince() + lingerMs - performance.now());
  }

  async function pump(): Promise<void> {
    clearTimeout(timer);
    timer = undefined;
    isPumping = true;
    let failures = 0;
    for (let taken = queues.take(); taken.length > 0; taken = queues.take()) {
      const error = settle(taken, await sendBatches(options, taken));
      if (error === null) {
        failures = 0;
        if (!isDue()) break;
      } else {
        if (failures === 0) logger.warn('records could not be appended and are tried again', { error });
        await new Promise((resolve) =>
          setTimeout(resolve, Math.min(firstRetryDelayMs * 2 ** failures, maxRetryDelayMs)),
        );
        failures += 1;
      }
    }
    isPumping = false;
    sendWhenDue();
  }

  function isDue(): boolean {
    return isClosing || queues.waitingBytes() >= maxBatchBytes || performance.now() - queues.waitingSince() >= lingerMs;
  }

  /** @returns why a batch did not find its place in the log; null when all did. */
  function settle(taken: TakenBatch[], refusals: (BatchRefusal | null)[]): Error | null {
    for (const [index, batch] of taken.entries()) {
      const refusal = refusals[index] ?? null;
      if (refusal?.reason === 'too_large') shrink(batch, refusal.error, options.metrics);
      if (refusal === null) queues.acknowledge(batch);
      else queues.putBack(batch, refusal.error);
    }
    return refusals.find((refusal) => refusal !== null)?.error ?? null;
  }

  return {
    enqueue: queues.enqueue,
    sendWhenDue,
    /** Takes over a queue whose partition has moved here; only between requests. */
    adopt(queue: PartitionQueue): void {
      for (const entry of queue.entries.splice(0)) queues.enqueue(queue, entry);
      sendWhenDue();
    },
    dismiss: queues.dismiss,
    forgetSettled: queues.forgetSettled,
    /** No more lingering: used when closing. */
    sendNow(): void {
      isClosing = true;
      sendWhenDue();
    },
  };
}

export type Sender = ReturnType<typeof createSender>;

/** One request. @returns what became of each batch; null: it is in the log. */
async function sendBatches(
  { transport, metrics }: Pick<SenderOptions, 'transport' | 'metrics'>,
  taken: TakenBatch[],
): Promise<(BatchRefusal | null)[]> {
  metrics.sending(
    taken.reduce((sum, { entries }) => sum + entries.length, 0),
    taken.reduce((sum, { entries }) => sum + sumBytes(entries), 0),
  );
  try {
    return await transport.send(
      taken.map(({ queue, entries }) => ({
        topic: queue.topic,
        partition: queue.partition,
        records: entries.map(({ record }) => record),
      })),
    );
  } catch (error) {
    metrics.attemptFailed();
    return taken.map(() => ({ reason: 'not_now', error: error as Error }));
  }
}

/**
 * The server's limit is smaller than ours: batches are smaller from now on, and a record that alone is too large is
 * refused.
 */
function shrink({ queue, entries }: TakenBatch, cause: Error, metrics: AppendMetrics): void {
  const [only] = entries;
  if (entries.length > 1) {
    queue.maxBatchBytes = Math.ceil(sumBytes(entries) / 2);
    return;
  }
  metrics.rejected('too_large');
  if (only !== undefined)
    fail(only.call, new AppError('too_large', 'A record is larger than the log takes.', { cause }));
}
