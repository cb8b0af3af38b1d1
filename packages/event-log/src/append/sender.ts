import { AppError, type Logger } from '@millrace/runtime';
import { acknowledge, fail } from './calls.ts';
import type { AppendMetrics } from './metrics.ts';
import { type PartitionQueue, type QueuedRecord, removeInFlight, removeSettled, takeOldest } from './queues.ts';
import type { AppendTransport, BatchRefusal } from './transport.ts';

interface SenderOptions extends LeaderQueuesOptions {
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

interface LeaderQueuesOptions {
  /** Bytes of one partition in one request at most. */
  maxBatchBytes: number;
  /** Bytes of one request at most. */
  maxRequestBytes: number;
  /** Told when records have left their queue, for the byte budget. */
  released(records: QueuedRecord[]): void;
}

/** What is sent of one queue in one request. */
interface TakenBatch {
  queue: PartitionQueue;
  entries: QueuedRecord[];
}

/** The queues of the partitions of one leader, and how much waits in them. */
function createLeaderQueues(options: LeaderQueuesOptions) {
  const queues = new Set<PartitionQueue>();
  let waitingBytes = 0;
  let waitingSince = 0;

  function enqueue(queue: PartitionQueue, entry: QueuedRecord): void {
    if (waitingBytes === 0) waitingSince = performance.now();
    waitingBytes += entry.bytes;
    queue.entries.push(entry);
    queues.add(queue);
  }

  /** The oldest records of each queue, as far as one request takes them. */
  function take(): TakenBatch[] {
    const taken: TakenBatch[] = [];
    let requestBytes = 0;
    for (const queue of [...queues]) {
      if (requestBytes >= options.maxRequestBytes) break;
      forget(queue);
      const entries = takeOldest(queue, Math.min(queue.maxBatchBytes, options.maxBatchBytes));
      // A queue goes to the end of the line each time, so that full requests do not leave a queue out for ever.
      queues.delete(queue);
      if (entries.length === 0) continue;
      queues.add(queue);
      const bytes = sumBytes(entries);
      requestBytes += bytes;
      waitingBytes -= bytes;
      taken.push({ queue, entries });
    }
    waitingSince = performance.now();
    return taken;
  }

  function forget(queue: PartitionQueue): void {
    const removed = removeSettled(queue);
    if (removed.length === 0) return;
    waitingBytes -= sumBytes(removed);
    options.released(removed);
  }

  return {
    enqueue,
    take,
    waitingBytes: () => waitingBytes,
    /** When the oldest record began to wait, or the last request was put together. */
    waitingSince: () => waitingSince,
    acknowledge({ queue, entries }: TakenBatch): void {
      options.released(removeInFlight(queue));
      for (const { call } of entries) acknowledge(call);
    },
    /** A batch that is to be sent again. */
    putBack({ queue, entries }: TakenBatch, error: Error): void {
      for (const { call } of entries) call.lastError = error;
      queue.inFlight = 0;
      waitingBytes += sumBytes(entries);
      forget(queue);
    },
    dismiss(queue: PartitionQueue): void {
      if (queues.delete(queue)) waitingBytes -= sumBytes(queue.entries);
    },
    /** Drops waiting records of calls that were settled in another way. */
    forgetSettled(): void {
      for (const queue of queues) forget(queue);
    },
  };
}

function sumBytes(entries: QueuedRecord[]): number {
  let bytes = 0;
  for (const entry of entries) bytes += entry.bytes;
  return bytes;
}
