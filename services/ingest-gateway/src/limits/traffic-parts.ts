import type { TopicNames } from '@millrace/contracts';
import type { ProjectChanges, Sql } from '@millrace/db/sql';
import type { EventLog } from '@millrace/event-log';
import type { Logger, MetricName, Metrics } from '@millrace/runtime';
import type { KeyValue } from '@millrace/runtime/cache';
import type { GatewayConfig } from '../config.ts';
import { createHotKeys, createKeySketch, type HotKeys } from './hot-keys.ts';
import { createQuotas, createRateLimit, type Quotas, type RateLimit } from './quotas.ts';
import { createRestrictions, parseRestrictionList, type Restrictions } from './restrictions.ts';
import { createSharedCounters, type SharedCounters } from './shared-counters.ts';
import { createProjectSpikes, type ProjectSpikes } from './spikes.ts';
import { createTrafficReports, type TrafficReports } from './traffic-reports.ts';

/** The part of the settings that limits need; their names say what they are. */
export type TrafficConfig = Pick<
  GatewayConfig,
  | 'dropEventsByTokenDistinctId'
  | 'ingestionForceOverflowByTokenDistinctId'
  | 'skipPersonProcessingByTokenDistinctId'
  | 'restrictionsRefreshMs'
  | 'trafficWindowMs'
  | 'spikeMinEventsPerSecond'
  | 'spikeFactor'
  | 'spikeWarmUpMs'
  | 'overflowEventsPerSecond'
  | 'overflowHoldMs'
  | 'limitFlushMs'
  | 'trafficReportMs'
>;

export interface TrafficControlDependencies {
  cache: KeyValue;
  sql: Sql;
  changes: Pick<ProjectChanges, 'subscribe'>;
  log: Pick<EventLog, 'append'>;
  topics: Pick<TopicNames, 'live'>;
  config: TrafficConfig;
  logger: Logger;
  metrics: Metrics;
  now?: () => number;
}

/** What traffic is counted, limited and reported by. */
export interface TrafficParts {
  counters: SharedCounters;
  quotas: Quotas;
  rateLimit: RateLimit;
  restrictions: Restrictions;
  projectSpikes: ProjectSpikes;
  hotKeys: HotKeys;
  metrics: TrafficMetrics;
  reports: TrafficReports;
}

/** Wires what limits need. Reads the operator's lists before it resolves, if PostgreSQL answers soon. */
export async function createTrafficParts(deps: TrafficControlDependencies): Promise<TrafficParts> {
  const { cache, sql, log, config, logger, now = Date.now } = deps;
  const { trafficWindowMs: windowMs, limitFlushMs, trafficReportMs } = config;
  const perWindow = (eventsPerSecond: number) => Math.ceil((eventsPerSecond * windowMs) / 1000);

  const counters = createSharedCounters({
    store: cache,
    now,
    flushAfterMs: limitFlushMs,
    onFlush: (outcome, count) => metrics.countersFlushed(outcome, count),
  });
  const quotas = createQuotas({ counters, now });
  const rateLimit = createRateLimit({ counters, now, windowMs });
  const restrictions = await createRestrictions({
    sql,
    changes: deps.changes,
    logger,
    refreshAfterMs: config.restrictionsRefreshMs,
    configured: [
      ...parseRestrictionList('drop_event', config.dropEventsByTokenDistinctId),
      ...parseRestrictionList('force_overflow', config.ingestionForceOverflowByTokenDistinctId),
      ...parseRestrictionList('skip_person_processing', config.skipPersonProcessingByTokenDistinctId),
    ],
  });
  const projectSpikes = createProjectSpikes({
    counters,
    now,
    windowMs,
    minEvents: perWindow(config.spikeMinEventsPerSecond),
    factor: config.spikeFactor,
    warmUpMs: config.spikeWarmUpMs,
  });
  const hotKeys = await createHotKeys({
    counters,
    channel: cache,
    sketch: createKeySketch(),
    now,
    windowMs,
    hotEvents: perWindow(config.overflowEventsPerSecond),
    holdMs: config.overflowHoldMs,
  });
  const metrics: TrafficMetrics = createTrafficMetrics(deps.metrics, {
    spikingProjects: projectSpikes.spiking,
    hotKeys: hotKeys.size,
    restrictions: restrictions.size,
    counters: counters.size,
  });
  const reports = createTrafficReports({
    log,
    topic: deps.topics.live,
    now,
    firstAfterMs: Math.min(trafficReportMs, 1000),
    furtherAfterMs: trafficReportMs,
    onLost: (warnings) => metrics.reportsLost(warnings),
  });
  return { counters, quotas, rateLimit, restrictions, projectSpikes, hotKeys, metrics, reports };
}

/** Figures of limits and fairness. What is dropped counts under `millrace_capture_events_dropped_total{cause}`. */
interface TrafficMetrics {
  rateLimited(events: number): void;
  rerouted(reason: 'hot_key' | 'force_overflow', events: number): void;
  personProcessingSkipped(events: number): void;
  spike(scope: 'project' | 'distinct_id'): void;
  countersFlushed(outcome: 'ok' | 'failed', counters: number): void;
  reportsLost(warnings: number): void;
}

/** What is looked at when somebody asks for the figures. */
interface TrafficState {
  spikingProjects(): number;
  hotKeys(): number;
  restrictions(): number;
  counters(): number;
}

function createTrafficMetrics(metrics: Metrics, state: TrafficState): TrafficMetrics {
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
