import type { Metrics } from '@millrace/runtime';

export type FlagOutcome = 'evaluated' | 'with_errors' | 'disabled' | 'quota_limited' | 'no_flags_requested';

export interface FlagMetrics {
  began(): void;
  /** @param outcome.code the error code, or null for a successful request */
  ended(outcome: { path: string; status: number; code: string | null; seconds: number }): void;
  countOutcome(outcome: FlagOutcome): void;
  failed(reason: string): void;
}

const durationBuckets = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5];

export function createFlagMetrics(metrics: Metrics): FlagMetrics {
  const requests = metrics.counter('millrace_flag_requests_total', 'Completed flag and flag definition requests', [
    'path',
    'status',
  ]);
  const refused = metrics.counter(
    'millrace_flag_requests_refused_total',
    'Flag and flag definition requests that got an error response',
    ['code'],
  );
  const outcomes = metrics.counter(
    'millrace_flag_evaluations_total',
    'Completed flag requests, by outcome: evaluated, with_errors, disabled, quota_limited, no_flags_requested',
    ['outcome'],
  );
  const failures = metrics.counter(
    'millrace_flag_evaluation_errors_total',
    'Flags that could not be evaluated, by the reason given in the response',
    ['reason'],
  );
  const running = metrics.gauge('millrace_flag_requests_in_flight', 'Flag and flag definition requests in progress');
  const duration = metrics.histogram(
    'millrace_flag_request_seconds',
    'Time from receiving the headers of a flag or flag definition request to the response',
    durationBuckets,
  );
  let inFlight = 0;
  Object.assign(running, { collect: () => running.set(inFlight) });

  return {
    began: () => {
      inFlight += 1;
    },
    ended({ path, status, code, seconds }) {
      inFlight -= 1;
      requests.inc({ path, status: String(status) });
      if (code !== null) refused.inc({ code });
      duration.observe(seconds);
    },
    countOutcome: (outcome) => outcomes.inc({ outcome }),
    failed: (reason) => failures.inc({ reason }),
  };
}
