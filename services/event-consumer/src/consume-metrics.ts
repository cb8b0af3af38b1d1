import { type Metrics, observerOf } from '@millrace/runtime';
import type { BatchReport } from './batch-work.ts';
import type { FailureClass } from './failures/failure-class.ts';

export type RetriedFailure = Exclude<FailureClass['kind'], 'poison' | 'systemic'>;

/** What the on-call person sees of one lane. Every event ends in exactly one of stored, duplicate, dropped, dead-lettered. */
export interface ConsumeMetrics {
  report(report: BatchReport): void;
  retried(failure: RetriedFailure): void;
  /** Returns the function that ends the measurement. It takes a trace that the batch goes on with, if there is one. */
  startBatch(): (traceId: string | null) => void;
  batchEnded(outcome: 'done' | 'stale'): void;
}

/** Registers the figures once; gives each lane its own view of them. */
export function createConsumeMetrics(metrics: Metrics): (lane: string) => ConsumeMetrics {
  const stored = metrics.counter('millrace_consumer_events_stored_total', 'Events stored', ['lane']);
  const duplicates = metrics.counter('millrace_consumer_events_duplicate_total', 'Events decided before', ['lane']);
  const dropped = metrics.counter('millrace_consumer_events_dropped_total', 'Events dropped', ['lane', 'reason']);
  const dead = metrics.counter('millrace_consumer_dead_letters_total', 'Records given up', ['lane', 'reason']);
  const retries = metrics.counter('millrace_consumer_retries_total', 'Batches tried again', ['lane', 'failure']);
  const batches = metrics.counter('millrace_consumer_batches_total', 'Batches handled', ['lane', 'outcome']);
  const seconds = metrics.histogram(
    'millrace_consumer_batch_seconds',
    'Time from receiving a batch to its commit, retries included',
    [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 15, 60],
    ['lane'],
    { withExemplars: true },
  );
  const observeSeconds = observerOf(metrics, seconds);
  return (lane) => ({
    report(report) {
      stored.inc({ lane }, report.stored);
      duplicates.inc({ lane }, report.duplicates);
      for (const reason of report.dropped) dropped.inc({ lane, reason });
      for (const reason of report.deadLettered) dead.inc({ lane, reason });
      if (report.wasReadTwice) retries.inc({ lane, failure: 'unreadable' });
    },
    retried: (failure) => retries.inc({ lane, failure }),
    startBatch() {
      const startedAt = performance.now();
      return (traceId) => observeSeconds((performance.now() - startedAt) / 1000, { lane }, traceId);
    },
    batchEnded: (outcome) => batches.inc({ lane, outcome }),
  });
}
