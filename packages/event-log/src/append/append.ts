// Appends records to the log, with backpressure: a call is rejected when too many bytes are in flight.

import { AppError, type Logger, type Metrics, sleep } from '@millrace/runtime';
import type { AppendRecord } from '../log.ts';
import { type AppendFailure, createAppendMetrics } from './metrics.ts';
import type { AppendCall } from './partition-queue.ts';
import { Sender } from './sender.ts';
import { type AppendSettings, type AppendTransport, type OutgoingRecord, recordSize } from './transport.ts';

/**
 * Appends records to the log, for both adapters. A call is either accepted completely or rejected immediately. The
 * sender batches and retries its records. The call settles when all its records are acknowledged, when one of them is
 * permanently rejected, or at the time limit.
 */
export function createAppender(options: {
  settings: AppendSettings;
  transport: AppendTransport;
  logger: Logger;
  metrics: Metrics | undefined;
}) {
  const { settings, transport, logger } = options;
  const budget = { usedBytes: 0 };
  const metrics = createAppendMetrics(options.metrics, () => budget.usedBytes);
  const sender = new Sender({ settings, transport, logger, metrics, budget });
  const open = new Set<OpenCall>();
  let isClosed = false;

  async function append(records: AppendRecord[]): Promise<void> {
    if (records.length === 0) return;
    if (isClosed) throw refused('closed', closedError());
    const outgoing = records.map(toOutgoing);
    const sizes = outgoing.map(recordSize);
    let bytes = 0;
    for (const size of sizes) {
      if (size > settings.maxRecordBytes) throw refused('too_large', tooLargeError(settings));
      bytes += size;
    }
    // A call that is larger than the whole budget could otherwise never be sent, so accept it when no other call is
    // pending.
    if (budget.usedBytes > 0 && budget.usedBytes + bytes > settings.maxInFlightBytes) {
      throw refused('budget', budgetError());
    }
    budget.usedBytes += bytes;
    await take(outgoing, sizes);
  }

  function refused(reason: AppendFailure, error: AppError): AppError {
    metrics.rejected(reason);
    return error;
  }

  function take(records: OutgoingRecord[], sizes: number[]): Promise<void> {
    const { call, settled } = openCall(records.length);
    open.add(call);
    records.forEach((record, index) => {
      sender.add({ record, bytes: sizes[index] ?? 0, call });
    });
    sender.sendSoon();
    return settled;
  }

  function openCall(records: number): { call: OpenCall; settled: Promise<void> } {
    const startedAt = performance.now();
    let pending = records;
    let settle: (error: AppError | null) => void = () => {};
    const settled = new Promise<void>((resolve, reject) => {
      settle = (error) => (error === null ? resolve() : reject(error));
    });
    const end = (error: AppError | null) => {
      if (!open.delete(call)) return;
      call.isSettled = true;
      clearTimeout(timer);
      if (error === null) metrics.acknowledged((performance.now() - startedAt) / 1000);
      settle(error);
    };
    const call: OpenCall = {
      isSettled: false,
      lastError: null,
      settled,
      acknowledge() {
        pending -= 1;
        if (pending === 0) end(null);
      },
      fail: end,
    };
    const timer = setTimeout(() => expire([call]), settings.appendTimeoutMs);
    return { call, settled };
  }

  function expire(calls: readonly OpenCall[]): void {
    for (const call of calls) call.fail(refused(isClosed ? 'closed' : 'expired', expiredError(call)));
    sender.forgetSettled();
  }

  /**
   * Rejects new calls, and sends the waiting records. After `timeoutMs`, rejects the calls whose records are not
   * acknowledged.
   */
  async function close(timeoutMs: number): Promise<void> {
    isClosed = true;
    sender.close();
    const timeLimit = new AbortController();
    await Promise.race([
      Promise.allSettled([...open].map(({ settled }) => settled)),
      sleep(timeoutMs, timeLimit.signal),
    ]);
    timeLimit.abort();
    expire([...open]);
  }

  return { append, close };
}

interface OpenCall extends AppendCall {
  isSettled: boolean;
  settled: Promise<void>;
}

function expiredError({ lastError }: AppendCall): AppError {
  return new AppError('unavailable', 'The event log did not respond in time.', {
    retryAfterSeconds: 2,
    cause: lastError ?? undefined,
  });
}

function toOutgoing(record: AppendRecord): OutgoingRecord {
  const { topic, key, value, headers } = record;
  const keyBytes = key === null ? null : Buffer.from(key, 'utf8');
  // The fields are listed individually, because this code runs once per record and a spread costs ten times as much.
  return headers === undefined ? { topic, key, value, keyBytes } : { topic, key, value, headers, keyBytes };
}

function closedError(): AppError {
  return new AppError('unavailable', 'The service is stopping and no longer writes to the event log.', {
    retryAfterSeconds: 1,
  });
}

function budgetError(): AppError {
  return new AppError('unavailable', 'Too many records are waiting for the event log.', { retryAfterSeconds: 1 });
}

function tooLargeError({ maxRecordBytes }: AppendSettings): AppError {
  return new AppError('too_large', 'A record exceeds the maximum size that the event log accepts.', {
    details: { maxRecordBytes },
  });
}
