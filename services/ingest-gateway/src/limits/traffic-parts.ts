import type { KeyValue } from '@millrace/cache';
import type { TopicNames } from '@millrace/contracts';
import type { ProjectChanges, Sql } from '@millrace/db/sql';
import type { EventLog } from '@millrace/event-log';
import type { Logger, Metrics } from '@millrace/runtime';
import type { GatewayConfig } from '../config.ts';
import { createHotKeys, type HotKeys } from './hot-keys.ts';
import { createKeySketch } from './key-sketch.ts';
import { createProjectSpikes, type ProjectSpikes } from './project-spikes.ts';
import { createQuotas, type Quotas } from './quotas.ts';
import { createRateLimit, type RateLimit } from './rate-limit.ts';
import { parseRestrictionList } from './restriction-set.ts';
import { createRestrictions, type Restrictions } from './restrictions.ts';
import { createSharedCounters, type SharedCounters } from './shared-counters.ts';
import { createTrafficMetrics, type TrafficMetrics } from './traffic-metrics.ts';
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

/** Puts the parts together. Reads the operator's lists before it resolves, if PostgreSQL answers soon. */
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
    cache,
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
