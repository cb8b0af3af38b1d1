import type { Metrics } from '@millrace/runtime';

/** The metrics of a consumer. Label values are limited to this process's topics, groups and partitions. */
export interface ConsumeMetrics {
  /** Called when a batch starts. Its first record is the oldest unprocessed record in the partition. */
  began(topic: string, group: string, partition: number, appendedAtMs: number): void;
  /** Called when a batch's effects are stored. `batch.appendedAtMs` is the time of its first record. */
  handled(topic: string, group: string, batch: { records: number; seconds: number; appendedAtMs: number }): void;
  stale(topic: string, group: string): void;
  failed(topic: string, group: string): void;
  lag(topic: string, group: string, partition: number, records: number): void;
  /** Stops reporting a partition's lag when the partition moves to another member, which then reports it. */
  forgetLag(topic: string, group: string, partition: number): void;
  truncated(topic: string, group: string, partition: number, isTruncated: boolean): void;
  deletedUnread(topic: string, group: string, records: number): void;
}

/**
 * The maximum time between acknowledgement and visibility, according to the objective
 * (docs/operations/alerts.md#objectives).
 */
const lateAfterMs = 60_000;

/** Creates the consumer metrics, which record nothing if `metrics` is undefined. */
export function createConsumeMetrics(metrics: Metrics | undefined): ConsumeMetrics {
  if (metrics === undefined) {
    const ignore = () => {};
    return {
      began: ignore,
      handled: ignore,
      stale: ignore,
      failed: ignore,
      lag: ignore,
      forgetLag: ignore,
      truncated: ignore,
      deletedUnread: ignore,
    };
  }
  const labels = ['topic', 'group'] as const;
  const records = metrics.counter('millrace_log_consumed_records_total', 'Records in committed batches', labels);
  const seconds = metrics.histogram(
    'millrace_log_batch_seconds',
    'Time that the consumer took to process one committed batch, in seconds',
    [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30],
    labels,
  );
  const stale = metrics.counter(
    'millrace_log_stale_batches_total',
    'Batches discarded because another consumer had already committed them',
    labels,
  );
  const failures = metrics.counter('millrace_log_handler_failures_total', 'Batches whose processing failed', labels);
  const lag = metrics.gauge(
    'millrace_log_lag_records',
    'Records in the partition that the group has not committed yet',
    ['topic', 'group', 'partition'],
  );
  const late = metrics.counter(
    'millrace_log_late_records_total',
    'Records in batches that were committed more than a minute after their first record was appended',
    labels,
  );
  const wait = createWaitGauge(metrics);
  const truncated = metrics.gauge(
    'millrace_log_truncated_partitions',
    '1 while a partition is paused because the log ends before the position that was already read. Use millrace offsets to continue',
    ['topic', 'group', 'partition'],
  );
  const deletedUnread = metrics.counter(
    'millrace_log_deleted_unread_records_total',
    'Records lost because log retention deleted them before they were read',
    labels,
  );
  return {
    began: wait.began,
    handled(topic, group, batch) {
      records.inc({ topic, group }, batch.records);
      seconds.observe({ topic, group }, batch.seconds);
      late.inc({ topic, group }, Date.now() - batch.appendedAtMs > lateAfterMs ? batch.records : 0);
    },
    stale: (topic, group) => stale.inc({ topic, group }),
    failed: (topic, group) => failures.inc({ topic, group }),
    lag(topic, group, partition, count) {
      lag.set({ topic, group, partition }, count);
      if (count <= 0) wait.ended(topic, group, partition);
    },
    forgetLag(topic, group, partition) {
      lag.remove({ topic, group, partition });
      wait.forget(topic, group, partition);
    },
    truncated(topic, group, partition, isTruncated) {
      if (isTruncated) truncated.set({ topic, group, partition }, 1);
      else truncated.remove({ topic, group, partition });
    },
    deletedUnread: (topic, group, count) => deletedUnread.inc({ topic, group }, count),
  };
}

interface Waiting {
  topic: string;
  group: string;
  partition: number;
  /** When the oldest unprocessed record was appended, or null if all records are processed. */
  sinceMs: number | null;
}

/**
 * Creates a gauge for the age of each partition's oldest unprocessed record. The age is computed at each scrape, so it
 * grows even while nothing is consumed.
 */
function createWaitGauge(metrics: Metrics) {
  const seconds = metrics.gauge(
    'millrace_log_lag_seconds',
    'Age of the oldest record in the partition that is not committed yet, in seconds',
    ['topic', 'group', 'partition'],
  );
  const waiting = new Map<string, Waiting>();
  const note = (topic: string, group: string, partition: number, sinceMs: number | null) =>
    void waiting.set(`${topic} ${group} ${partition}`, { topic, group, partition, sinceMs });
  Object.assign(seconds, {
    collect() {
      const nowMs = Date.now();
      for (const { topic, group, partition, sinceMs } of waiting.values()) {
        seconds.set({ topic, group, partition }, sinceMs === null ? 0 : Math.max(0, nowMs - sinceMs) / 1000);
      }
    },
  });
  return {
    began: note,
    ended: (topic: string, group: string, partition: number) => note(topic, group, partition, null),
    forget(topic: string, group: string, partition: number) {
      waiting.delete(`${topic} ${group} ${partition}`);
      seconds.remove({ topic, group, partition });
    },
  };
}
