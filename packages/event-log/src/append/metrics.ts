import type { Metrics } from '@millrace/runtime';

export type AppendFailure = 'too_large' | 'budget' | 'expired' | 'closed';

export interface AppendMetrics {
  sending(records: number, bytes: number): void;
  attemptFailed(): void;
  acknowledged(seconds: number): void;
  rejected(reason: AppendFailure): void;
}

/**
 * Creates the append metrics, which record nothing if `metrics` is undefined.
 * @param inFlightBytes a function that is called at each scrape, so that appending does not have to update a gauge
 */
export function createAppendMetrics(metrics: Metrics | undefined, inFlightBytes: () => number): AppendMetrics {
  if (metrics === undefined) {
    const ignore = () => {};
    return { sending: ignore, attemptFailed: ignore, acknowledged: ignore, rejected: ignore };
  }
  const records = metrics.histogram(
    'millrace_log_append_batch_records',
    'Number of records in one request to the log',
    [1, 2, 5, 10, 25, 50, 100, 250, 500, 1000, 2500, 5000],
  );
  const bytes = metrics.histogram(
    'millrace_log_append_batch_bytes',
    'Size of one request to the log, in bytes',
    [1024, 4096, 16_384, 65_536, 262_144, 1_048_576, 4_194_304, 16_777_216],
  );
  const latency = metrics.histogram(
    'millrace_log_append_seconds',
    'Time from an append until the log acknowledges it, in seconds',
    [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2, 3],
  );
  const failures = metrics.counter('millrace_log_append_failures_total', 'Rejected appends, by reason', ['reason']);
  const attempts = metrics.counter(
    'millrace_log_append_attempt_failures_total',
    'Failed requests to the log, including those that are retried',
  );
  const inFlight = metrics.gauge(
    'millrace_log_append_in_flight_bytes',
    'Bytes that were accepted for the log and are neither acknowledged nor rejected yet',
  );
  Object.assign(inFlight, { collect: () => inFlight.set(inFlightBytes()) });
  return {
    sending(recordCount, byteCount) {
      records.observe(recordCount);
      bytes.observe(byteCount);
    },
    attemptFailed: () => attempts.inc(),
    acknowledged: (seconds) => latency.observe(seconds),
    rejected: (reason) => failures.inc({ reason }),
  };
}
