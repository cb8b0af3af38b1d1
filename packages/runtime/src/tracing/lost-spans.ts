// Reports trace spans that did not reach the trace collector.

import type { Logger } from '../logger.ts';
import type { Metrics } from '../metrics.ts';

const warnings = {
  not_taken: 'spans lost: the trace collector does not accept them',
  queue_full: 'spans dropped: they are created faster than the trace collector accepts them',
};
const quietMs = 60_000;

export type ReportLostSpans = (reason: keyof typeof warnings, spans: number, error?: Error) => void;

/** Creates a function that counts lost spans, and logs at most one warning per minute and reason. */
export function createLostSpanReporter({ logger, metrics }: { logger: Logger; metrics: Metrics }): ReportLostSpans {
  const lost = metrics.counter(
    'millrace_trace_spans_lost_total',
    'Spans that did not reach the trace collector, by reason',
    ['reason'],
  );
  const quietUntilMs = { not_taken: 0, queue_full: 0 };
  return (reason, spans, error) => {
    lost.inc({ reason }, spans);
    if (performance.now() < quietUntilMs[reason]) return;
    quietUntilMs[reason] = performance.now() + quietMs;
    logger.warn(warnings[reason], { spans, error });
  };
}
