import type { MetricName, Metrics } from '@millrace/runtime';

/** Metrics about the limits. `millrace_capture_events_dropped_total{cause}` counts dropped events. */
export interface TrafficMetrics {
  rateLimited(events: number): void;
  rerouted(reason: 'hot_key' | 'force_overflow', events: number): void;
  personProcessingSkipped(events: number): void;
  spike(scope: 'project' | 'distinct_id'): void;
  countersFlushed(outcome: 'ok' | 'failed', counters: number): void;
  reportsLost(warnings: number): void;
}

/** Each function is called when metrics are scraped. */
interface TrafficState {
  spikingProjects(): number;
  hotKeys(): number;
  restrictions(): number;
  counters(): number;
}

export function createTrafficMetrics(metrics: Metrics, state: TrafficState): TrafficMetrics {
  const rateLimited = metrics.counter(
    'millrace_capture_events_rate_limited_total',
    'Events in requests that were rejected because the project sent events faster than its plan allows',
  );
  const rerouted = metrics.counter(
    'millrace_capture_events_rerouted_overflow_total',
    'Live events written to the topic `overflow`',
    ['reason'],
  );
  const personless = metrics.counter(
    'millrace_capture_events_person_processing_skipped_total',
    'Events stored without person processing because of an ingestion restriction',
  );
  const spikes = metrics.counter('millrace_traffic_spikes_total', 'Detected spikes in live traffic', ['scope']);
  const flushed = metrics.counter(
    'millrace_limit_counters_flushed_total',
    'Counters written to the key-value store. A failed write is retried',
    ['outcome'],
  );
  const lost = metrics.counter('millrace_traffic_reports_lost_total', 'Traffic warnings that could not be written');
  const gauges: [MetricName, string, () => number][] = [
    ['millrace_traffic_spiking_projects', 'Projects that currently have a traffic spike', state.spikingProjects],
    ['millrace_traffic_hot_keys', 'Distinct IDs whose live events go to the topic `overflow`', state.hotKeys],
    ['millrace_ingestion_restrictions', 'Ingestion restrictions in effect', state.restrictions],
    ['millrace_limit_counters', 'Limit counters in memory', state.counters],
  ];
  for (const [name, help, read] of gauges) {
    const gauge = metrics.gauge(name, help);
    Object.assign(gauge, { collect: () => gauge.set(read()) });
  }
  return {
    rateLimited: (events) => rateLimited.inc(events),
    rerouted: (reason, events) => rerouted.inc({ reason }, events),
    personProcessingSkipped: (events) => personless.inc(events),
    spike: (scope) => spikes.inc({ scope }),
    countersFlushed: (outcome, counters) => flushed.inc({ outcome }, counters),
    reportsLost: (warnings) => lost.inc(warnings),
  };
}
