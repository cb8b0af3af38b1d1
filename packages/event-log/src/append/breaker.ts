// A circuit breaker for appends: while the log is unavailable, appends fail immediately instead of waiting.

import { AppError, isAppError, type Logger, type Metrics } from '@millrace/runtime';
import type { AppendRecord, EventLog } from '../log.ts';

export interface AppendBreakerOptions {
  logger: Logger;
  metrics?: Metrics;
  /** The breaker opens when appends have failed for this many milliseconds without an acknowledgement. */
  openAfterMs?: number;
  /** The minimum number of failures that open the breaker, so that one failed append does not count as an outage. */
  openAfterFailures?: number;
  /** How many milliseconds to wait after a failed probe before the next probe. */
  probeIntervalMs?: number;
}

/** The `Retry-After` of a rejected append. By that time, the breaker has probed the log again. */
const retryAfterSeconds = 2;

/**
 * Wraps a log in a circuit breaker: while the log is down, appends fail immediately. Without the breaker, each request
 * would wait for its whole time limit and hold its records in memory. An open breaker sends one append at a time as a
 * probe. The first acknowledgement closes the breaker. When the log reports that its server responds again, the next
 * append is sent as a probe immediately.
 *
 * The breaker does not affect readiness. A gateway whose log is down stays reachable, because its 503 with
 * `Retry-After` and CORS headers tells clients more than a refused connection. No other gateway could take over its
 * traffic, because all gateways of an installation lose the log at the same time.
 */
export function withAppendBreaker(log: EventLog, options: AppendBreakerOptions): EventLog {
  const { logger, metrics, probeIntervalMs = 500 } = options;
  const { state, refused, probes } = breakerMetrics(metrics);
  let isOpen = false;
  const failures = createFailureRun(options);
  let probesUnderWay = 0;
  let nextProbeAt = 0;
  let wasUnhealthy = false;
  state?.set(0);

  function mayProbe(): boolean {
    const isHealthy = log.isHealthy();
    const hasComeBack = isHealthy && wasUnhealthy;
    wasUnhealthy = !isHealthy;
    return hasComeBack || (probesUnderWay === 0 && performance.now() >= nextProbeAt);
  }

  function acknowledged(): void {
    failures.end();
    if (!isOpen) return;
    isOpen = false;
    state?.set(0);
    logger.info('event log available again: accepting records');
  }

  function failed(startedAt: number): void {
    const now = performance.now();
    failures.add(startedAt);
    if (isOpen || !failures.areMany(now)) return;
    isOpen = true;
    wasUnhealthy = !log.isHealthy();
    nextProbeAt = now + probeIntervalMs;
    state?.set(1);
    logger.warn('event log unavailable: rejecting records immediately until it acknowledges one');
  }

  /** Use `then`, because `await` would create another promise for each append. */
  function attempt(records: AppendRecord[]): Promise<void> {
    const startedAt = performance.now();
    return log.append(records).then(acknowledged, (error: unknown) => {
      // Any other error is caused by the records, not by the log.
      if (isAppError(error, 'unavailable')) failed(startedAt);
      throw error;
    });
  }

  async function probe(records: AppendRecord[]): Promise<void> {
    probesUnderWay += 1;
    try {
      await attempt(records);
      probes?.inc({ outcome: 'acknowledged' });
    } catch (error) {
      probes?.inc({ outcome: 'failed' });
      nextProbeAt = performance.now() + probeIntervalMs;
      throw error;
    } finally {
      probesUnderWay -= 1;
    }
  }

  return {
    ...log,
    append(records) {
      if (records.length === 0) return log.append(records);
      if (!isOpen) return attempt(records);
      if (mayProbe()) return probe(records);
      refused?.inc();
      return Promise.reject(outError());
    },
  };
}

function createFailureRun({ openAfterMs = 2000, openAfterFailures = 3 }: AppendBreakerOptions) {
  let failures = 0;
  let failingSince = 0;
  let acknowledgedAt = 0;
  return {
    add(startedAt: number): void {
      if (failures === 0) failingSince = Math.max(startedAt, acknowledgedAt);
      failures += 1;
    },
    areMany: (now: number) => failures >= openAfterFailures && now - failingSince >= openAfterMs,
    end(): void {
      acknowledgedAt = performance.now();
      failures = 0;
    },
  };
}

function outError(): AppError {
  return new AppError('unavailable', 'The event log is unavailable.', { retryAfterSeconds });
}

function breakerMetrics(metrics: Metrics | undefined) {
  return {
    state: metrics?.gauge(
      'millrace_log_breaker_open',
      '1 while appends are rejected immediately because the log is unavailable, 0 otherwise',
    ),
    refused: metrics?.counter(
      'millrace_log_breaker_refused_total',
      'Appends rejected immediately because the log is unavailable',
    ),
    probes: metrics?.counter(
      'millrace_log_breaker_probes_total',
      'Appends sent while the log was unavailable, to find out whether it is available again, by outcome',
      ['outcome'],
    ),
  };
}
