import { AppError, isAppError, type Logger, type Metrics } from '@millrace/runtime';
import type { AppendRecord, EventLog } from '../log.ts';

export interface AppendBreakerOptions {
  logger: Logger;
  metrics?: Metrics;
  /** How long nothing must have been acknowledged, while appends failed, before it opens. */
  openAfterMs?: number;
  /** How many appends must have failed in that time: one unlucky append is no outage. */
  openAfterFailures?: number;
  /** From a failed probe to the next one. */
  probeIntervalMs?: number;
}

/** The `Retry-After` of a refusal: in that time the log has been probed again. */
const retryAfterSeconds = 2;

/**
 * The same log, with appends that fail at once while it is out. When nothing has been acknowledged for a while, waiting
 * for the full time limit is useless, and each waiting request holds its records in memory. One append at a time goes
 * through to find out whether the log is back; the first acknowledgement lets all appends through again. When the log
 * itself finds that its server answers, the next append is tried at once.
 *
 * Readiness is not decided here. A gateway whose log is out stays reachable: its 503 with `Retry-After` (and with the
 * headers that let a page read it) tells clients more than no gateway at all, and all gateways of an installation lose
 * the log together.
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

  /** Without `await`, which would cost each append one more promise. */
  function attempt(records: AppendRecord[]): Promise<void> {
    const startedAt = performance.now();
    return log.append(records).then(acknowledged, (error: unknown) => {
      // Only this kind says something about the log; the others are about the records.
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

/** Failures since the last acknowledgement. */
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
