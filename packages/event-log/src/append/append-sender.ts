import { AppError } from '@millrace/errors';
import type { Logger } from '@millrace/runtime';
import { acknowledge, fail } from './append-call.ts';
import type { AppendMetrics } from './append-metrics.ts';
import type { AppendTransport, BatchRefusal } from './append-transport.ts';
import {
  type PartitionQueue,
  type QueuedRecord,
  removeInFlight,
  removeSettled,
  takeOldest,
} from './partition-queue.ts';

export interface SenderOptions {
  transport: Pick<AppendTransport, 'send'>;
  logger: Logger;
  metrics: AppendMetrics;
  lingerMs: number;
  /** Bytes of one partition in one request at most. */
  maxBatchBytes: number;
  /** Bytes of one request at most. */
  maxRequestBytes: number;
  /** Told when records have left their queue, for the byte budget. */
  released(records: QueuedRecord[]): void;
}

interface Taken {
  queue: PartitionQueue;
  entries: QueuedRecord[];
}

const firstRetryDelayMs = 25;
const maxRetryDelayMs = 400;

/**
 * Sends to one leader. At most one request is under way, so that the records of a partition keep their order through
 * retries. New records gather meanwhile, so batches grow under load.
 */
export function createSender(options: SenderOptions) {
  const { transport, logger, metrics } = options;
  const queues = new Set<PartitionQueue>();
  let waitingBytes = 0;
  let waitingSince = 0;
  let isPumping = false;
  let isClosing = false;
  let timer: NodeJS.Timeout | undefined;
  let lastError: Error | null = null;

  function enqueue(queue: PartitionQueue, entry: QueuedRecord): void {
    if (waitingBytes === 0) waitingSince = performance.now();
    waitingBytes += entry.bytes;
    queue.entries.push(entry);
    queues.add(queue);
  }

  /** Sends when there are enough records or the linger is over; otherwise sets a timer for it. */
  function sendWhenDue(): void {
    if (isPumping || waitingBytes === 0) return;
    const restMs = waitingSince + options.lingerMs - performance.now();
    if (isClosing || waitingBytes >= options.maxBatchBytes || restMs <= 0) void pump();
    else timer ??= setTimeout(pump, restMs);
  }

  async function pump(): Promise<void> {
    clearTimeout(timer);
    timer = undefined;
    isPumping = true;
    let failures = 0;
    for (let taken = take(); taken.length > 0; taken = take()) {
      if (await attempt(taken)) {
        failures = 0;
        if (!isDue()) break;
      } else {
        if (failures === 0) logger.warn('records could not be appended and are tried again', { error: lastError });
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
    return isClosing || waitingBytes >= options.maxBatchBytes || performance.now() - waitingSince >= options.lingerMs;
  }

  function take(): Taken[] {
    const taken: Taken[] = [];
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

  /** True when every batch was appended. */
  async function attempt(taken: Taken[]): Promise<boolean> {
    let refusals: (BatchRefusal | null)[];
    metrics.sending(
      taken.reduce((sum, { entries }) => sum + entries.length, 0),
      taken.reduce((sum, { entries }) => sum + sumBytes(entries), 0),
    );
    try {
      refusals = await transport.send(
        taken.map(({ queue, entries }) => ({
          topic: queue.topic,
          partition: queue.partition,
          records: entries.map(({ record }) => record),
        })),
      );
    } catch (error) {
      metrics.attemptFailed();
      refusals = taken.map(() => ({ reason: 'not_now', error: error as Error }));
    }
    taken.forEach((one, index) => {
      settle(one, refusals[index] ?? null);
    });
    lastError = refusals.find((refusal) => refusal !== null)?.error ?? null;
    return lastError === null;
  }

  function settle({ queue, entries }: Taken, refusal: BatchRefusal | null): void {
    if (refusal === null) {
      options.released(removeInFlight(queue));
      for (const { call } of entries) acknowledge(call);
      return;
    }
    if (refusal.reason === 'too_large') shrink(queue, entries, refusal.error);
    for (const { call } of entries) call.lastError = refusal.error;
    queue.inFlight = 0;
    waitingBytes += sumBytes(entries);
    forget(queue);
  }

  /**
   * The server's limit is smaller than ours: batches are smaller from now on, and a record that alone is too large is
   * refused.
   */
  function shrink(queue: PartitionQueue, entries: QueuedRecord[], cause: Error): void {
    const [only] = entries;
    if (entries.length > 1) {
      queue.maxBatchBytes = Math.ceil(sumBytes(entries) / 2);
      return;
    }
    metrics.rejected('too_large');
    if (only !== undefined)
      fail(only.call, new AppError('too_large', 'A record is larger than the log takes.', { cause }));
  }

  function forget(queue: PartitionQueue): void {
    const removed = removeSettled(queue);
    if (removed.length === 0) return;
    waitingBytes -= sumBytes(removed);
    options.released(removed);
  }

  return {
    enqueue,
    sendWhenDue,
    /** Takes over a queue whose partition has moved here; only between requests. */
    adopt(queue: PartitionQueue): void {
      for (const entry of queue.entries.splice(0)) enqueue(queue, entry);
      sendWhenDue();
    },
    dismiss(queue: PartitionQueue): void {
      if (queues.delete(queue)) waitingBytes -= sumBytes(queue.entries);
    },
    /** Drops waiting records of calls that were settled in another way. */
    forgetSettled(): void {
      for (const queue of queues) forget(queue);
    },
    /** No more lingering: used when closing. */
    sendNow(): void {
      isClosing = true;
      sendWhenDue();
    },
  };
}

export type Sender = ReturnType<typeof createSender>;

function sumBytes(entries: QueuedRecord[]): number {
  let bytes = 0;
  for (const entry of entries) bytes += entry.bytes;
  return bytes;
}
