import type { MetricName, Metrics } from '@millrace/runtime';

/** Figures of limits and fairness. What is dropped counts under `millrace_capture_events_dropped_total{cause}`. */
export interface TrafficMetrics {
  rateLimited(events: number): void;
  rerouted(reason: 'hot_key' | 'force_overflow', events: number): void;
  personProcessingSkipped(events: number): void;
  spike(scope: 'project' | 'distinct_id'): void;
  countersFlushed(outcome: 'ok' | 'failed', counters: number): void;
  reportsLost(warnings: number): void;
}

/** What is looked at when somebody asks for the figures. */
export interface TrafficState {
  spikingProjects(): number;
  hotKeys(): number;
  restrictions(): number;
  counters(): number;
}

export function createTrafficMetrics(metrics: Metrics, state: TrafficState): TrafficMetrics {
  const rateLimited = metrics.counter(
    'millrace_capture_events_rate_limited_total',
    'Events of requests put off because the project sends faster than its plan allows',
  );
  const rerouted = metrics.counter(
    'millrace_capture_events_rerouted_overflow_total',
    'Live events written to the overflow lane',
    ['reason'],
  );
  const personless = metrics.counter(
    'millrace_capture_events_person_processing_skipped_total',
    'Events for which the operator wants no person',
  );
  const spikes = metrics.counter('millrace_traffic_spikes_total', 'Spikes of live traffic that began', ['scope']);
  const flushed = metrics.counter(
    'millrace_limit_counters_flushed_total',
    'Counters told to the key-value store; a failed one is told again',
    ['outcome'],
  );
  const lost = metrics.counter('millrace_traffic_reports_lost_total', 'Warnings about traffic that were not written');
  const gauges: [MetricName, string, () => number][] = [
    ['millrace_traffic_spiking_projects', 'Projects in a spike', state.spikingProjects],
    ['millrace_traffic_hot_keys', 'Distinct ids whose live events go to the overflow lane', state.hotKeys],
    ['millrace_ingestion_restrictions', "Entries of the operator's lists in force", state.restrictions],
    ['millrace_limit_counters', 'Counters held in memory', state.counters],
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
