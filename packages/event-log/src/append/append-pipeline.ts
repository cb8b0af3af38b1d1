import { AppError } from '@millrace/errors';
import type { Logger, Metrics } from '@millrace/runtime';
import type { AppendRecord } from '../port/event-log.ts';
import { type AppendCall, createExpiry, fail } from './append-call.ts';
import { createAppendMetrics } from './append-metrics.ts';
import { createAppendRoutes } from './append-routes.ts';
import type { AppendSettings } from './append-settings.ts';
import type { AppendTransport, OutgoingRecord } from './append-transport.ts';
import { createOpenCalls } from './open-calls.ts';
import { recordSize } from './record-size.ts';

export interface AppendPipelineOptions {
  settings: AppendSettings;
  transport: AppendTransport;
  logger: Logger;
  metrics: Metrics | undefined;
}

/**
 * The way of a record from `append` to the log, the same for both adapters. The records of calls are put into one queue
 * per partition; queues with the same leader share a request; a call is settled when all its records have been
 * acknowledged.
 */
export function createAppendPipeline(options: AppendPipelineOptions) {
  const { settings, transport, logger } = options;
  let inFlightBytes = 0;
  let isClosed = false;
  const metrics = createAppendMetrics(options.metrics, () => inFlightBytes);
  const calls = createOpenCalls(metrics);
  const routes = createAppendRoutes({
    ...{ settings, transport, logger, metrics },
    released(entries) {
      for (const { bytes } of entries) inFlightBytes -= bytes;
    },
  });
  const expiry = createExpiry(settings.appendTimeoutMs, (call) => {
    metrics.rejected(isClosed ? 'closed' : 'expired');
    fail(call, expiredError(call));
    routes.forgetSettled();
  });

  function append(records: AppendRecord[]): Promise<void> {
    if (records.length === 0) return Promise.resolve();
    if (isClosed) return reject('closed', closedError());
    const outgoing = records.map(toOutgoing);
    const sizes = outgoing.map(recordSize);
    let bytes = 0;
    for (const size of sizes) {
      if (size > settings.maxRecordBytes) return reject('too_large', tooLargeError(settings));
      bytes += size;
    }
    // A call larger than the whole budget is taken when it is alone: it could never be sent otherwise.
    if (inFlightBytes > 0 && inFlightBytes + bytes > settings.maxInFlightBytes) return reject('budget', budgetError());
    inFlightBytes += bytes;
    return take(outgoing, sizes);
  }

  function take(records: OutgoingRecord[], sizes: number[]): Promise<void> {
    const { call, settled } = calls.open(records.length);
    expiry.watch(call);
    records.forEach((record, index) => {
      routes.add({ record, bytes: sizes[index] ?? 0, call });
    });
    routes.sendWhenDue();
    return settled;
  }

  function reject(reason: 'too_large' | 'budget' | 'closed', error: AppError): Promise<never> {
    metrics.rejected(reason);
    return Promise.reject(error);
  }

  /** Sends what is still waiting and refuses new records. What is not acknowledged within `timeoutMs` is rejected. */
  async function close(timeoutMs: number): Promise<void> {
    isClosed = true;
    routes.sendNow();
    await calls.idle(timeoutMs);
    expiry.expireAll();
  }

  return { append, close, refreshLayouts: routes.refreshLayouts };
}

function expiredError({ lastError }: AppendCall): AppError {
  return new AppError('unavailable', 'The event log did not answer in time.', {
    retryAfterSeconds: 2,
    cause: lastError ?? undefined,
  });
}

function toOutgoing(record: AppendRecord): OutgoingRecord {
  const { topic, key, value, headers } = record;
  const keyBytes = key === null ? null : Buffer.from(key, 'utf8');
  // Field by field: this runs once per record, and spreading costs ten times as much.
  return headers === undefined ? { topic, key, value, keyBytes } : { topic, key, value, headers, keyBytes };
}

function closedError(): AppError {
  return new AppError('unavailable', 'The event log is closing.', { retryAfterSeconds: 1 });
}

function budgetError(): AppError {
  return new AppError('unavailable', 'Too many records are waiting for the event log.', { retryAfterSeconds: 1 });
}

function tooLargeError({ maxRecordBytes }: AppendSettings): AppError {
  return new AppError('too_large', 'A record is larger than the event log takes.', { details: { maxRecordBytes } });
}
