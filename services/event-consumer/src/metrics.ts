// Metrics of the event consumer: the outcome of events, and the duration of each processing step.

import type { EventTopic } from '@millrace/contracts';
import { createObserver, type Metrics } from '@millrace/runtime';
import type { BatchReport } from './batch.ts';
import type { FailureClass } from './failures.ts';

type RetriedFailure = Exclude<FailureClass['kind'], 'poison' | 'systemic'>;

/** A topic's metrics. Every event is counted exactly once: as stored, duplicate, dropped or dead-lettered. */
export interface ConsumeMetrics {
  report(report: BatchReport): void;
  retried(failure: RetriedFailure): void;
  /**
   * Starts measuring a batch. Call the returned function at the end, with the batch's trace ID (null if not traced).
   */
  startBatch(): (traceId: string | null) => void;
  batchEnded(outcome: 'done' | 'stale'): void;
}

export function createConsumeMetrics(metrics: Metrics): (topic: string) => ConsumeMetrics {
  const stored = metrics.counter('millrace_consumer_events_stored_total', 'Stored events', ['topic']);
  const duplicates = metrics.counter(
    'millrace_consumer_events_duplicate_total',
    'Events skipped because they were already processed',
    ['topic'],
  );
  const dropped = metrics.counter('millrace_consumer_events_dropped_total', 'Dropped events, by reason', [
    'topic',
    'reason',
  ]);
  const dead = metrics.counter(
    'millrace_consumer_dead_letters_total',
    'Records stored as dead letters because they could not be processed, by reason',
    ['topic', 'reason'],
  );
  const retries = metrics.counter('millrace_consumer_retries_total', 'Retries of batches, by kind of failure', [
    'topic',
    'failure',
  ]);
  const batches = metrics.counter(
    'millrace_consumer_batches_total',
    'Completed batches: committed (done), or already committed by another consumer (stale)',
    ['topic', 'outcome'],
  );
  const seconds = metrics.histogram(
    'millrace_consumer_batch_seconds',
    'Time from receiving a batch to its commit, including retries, in seconds',
    [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 15, 60],
    ['topic'],
    { withExemplars: true },
  );
  const observeSeconds = createObserver(metrics, seconds);
  return (topic) => ({
    report(report) {
      stored.inc({ topic }, report.stored);
      duplicates.inc({ topic }, report.duplicates);
      for (const reason of report.dropped) dropped.inc({ topic, reason });
      for (const reason of report.deadLettered) dead.inc({ topic, reason });
    },
    retried: (failure) => retries.inc({ topic, failure }),
    startBatch() {
      const startedAt = performance.now();
      return (traceId) => observeSeconds((performance.now() - startedAt) / 1000, { topic }, traceId);
    },
    batchEnded: (outcome) => batches.inc({ topic, outcome }),
  });
}

/**
 * Records the end of a step of a batch. The time since the end of the previous step counts as the duration of this
 * step. Returns the step's result unchanged. Step names are constants (process-batch.ts), so the number of label values
 * is limited.
 */
export type RecordStep = <Result>(step: string, result: Result) => Result;

export function createStepTimer(metrics: Metrics): () => RecordStep {
  const seconds = metrics.histogram(
    'millrace_consumer_step_seconds',
    'Duration of one step in processing a batch, in seconds',
    [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1, 5],
    ['step'],
  );
  return () => {
    let startedAt = performance.now();
    return (step, result) => {
      const endedAt = performance.now();
      seconds.observe({ step }, (endedAt - startedAt) / 1000);
      startedAt = endedAt;
      return result;
    };
  };
}

export function createPublishMetrics(metrics: Metrics): (topic: EventTopic, count: number) => void {
  const published = metrics.counter(
    'millrace_consumer_events_published_total',
    'Stored events published to the topic events.processed',
    ['topic'],
  );
  return (topic, count) => published.inc({ topic }, count);
}
