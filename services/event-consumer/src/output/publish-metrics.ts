import type { Lane } from '@millrace/contracts';
import type { Metrics } from '@millrace/runtime';

/** Counts what was published; returns the function to tell. */
export function createPublishMetrics(metrics: Metrics): (lane: Lane, count: number) => void {
  const published = metrics.counter('millrace_consumer_events_published_total', 'Stored events published', ['lane']);
  return (lane, count) => published.inc({ lane }, count);
}
