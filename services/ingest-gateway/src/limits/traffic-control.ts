// Applies all traffic limits to a request: quota, rate limit, restrictions and hot keys.

import { computeRecordKey, type Restriction, type TopicNames } from '@millrace/contracts';
import type { ProjectChanges, Sql } from '@millrace/db/sql';
import type { EventLog } from '@millrace/event-log';
import { AppError, type Logger, type Metrics } from '@millrace/runtime';
import type { KeyValueStore } from '@millrace/runtime/cache';
import type { KnownProject } from '../access/project-key-store.ts';
import type { AcceptedEvent, CapturedEvents } from '../capture/capture-request.ts';
import type { GatewayConfig } from '../config.ts';
import { createHotKeys, createKeySketch, type HotKeys } from './hot-keys.ts';
import { createQuotas, createRateLimit } from './quotas.ts';
import { createRestrictions, type KeyRestrictions, parseRestrictionList } from './restrictions.ts';
import { createSharedCounters } from './shared-counters.ts';
import { createProjectSpikes, type ProjectSpikes } from './spikes.ts';
import { createTrafficMetrics, type TrafficMetrics } from './traffic-metrics.ts';
import { createTrafficReports, type TrafficReports } from './traffic-reports.ts';

export interface Admission {
  token: string;
  /** The API key's project. If null, the key could not be looked up, and limits do not apply. */
  project: KnownProject | null;
  isHistorical: boolean;
  events: number;
}

/** All limits of the gateway: quotas, the rate limit, the operator's restrictions, spikes and hot keys. */
export interface TrafficControl {
  /**
   * Decides whether the request's events can be stored. `quota_limited` means that the plan's quota is used up. The
   * response is then 200, and nothing is stored (docs/wire-rules.md#quotas-and-limits).
   * @param request.retriesOn429 false for a client that drops its events after any 4xx
   * @throws AppError `rate_limited`, or `unavailable` if the client would drop its events after 429
   */
  admit(request: Admission & { retriesOn429: boolean }): 'admitted' | 'quota_limited';
  /** Counts live events, applies the operator's restrictions, and sends events with hot keys to the overflow topic. */
  route(captured: CapturedEvents, project: KnownProject | null): CapturedEvents;
  noteStored(request: Admission, events: number): void;
  stop(): Promise<void>;
}

export interface TrafficControlDependencies {
  cache: KeyValueStore;
  sql: Sql;
  changes: Pick<ProjectChanges, 'subscribe'>;
  log: Pick<EventLog, 'append'>;
  topics: Pick<TopicNames, 'live'>;
  config: Pick<
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
  logger: Logger;
  metrics: Metrics;
  now?: () => number;
}

/**
 * Creates the traffic control. Resolves when the operator's restrictions have been read, or when PostgreSQL has not
 * responded in time. Never rejects because a store is unavailable.
 */
export async function createTrafficControl(deps: TrafficControlDependencies): Promise<TrafficControl> {
  const { cache, sql, changes, log, config, logger, now = Date.now } = deps;
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
    changes,
    logger,
    refreshAfterMs: config.restrictionsRefreshMs,
    configured: configuredRestrictions(config),
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
    metrics,
  });

  return {
    admit({ token, project, isHistorical, events, retriesOn429 }) {
      // Historical migrations are not limited: they have a separate topic, and the plan includes them
      // (docs/ingestion-rules.md#historical-migrations).
      if (project === null || isHistorical) return 'admitted';
      const { environmentId } = project;
      if (quotas.isUsedUp(project)) {
        const { eventsPerMonth } = project;
        reports.quotaUsedUp({ token, environmentId }, { events, period: quotas.period(), eventsPerMonth });
        return 'quota_limited';
      }
      const retryAfterSeconds = rateLimit.admit(project, events);
      if (retryAfterSeconds === null) return 'admitted';
      metrics.rateLimited(events);
      reports.rateLimited({ token, environmentId }, { events, eventsPerSecond: project.eventsPerSecond });
      throw throttled(retriesOn429 ? 'rate_limited' : 'unavailable', retryAfterSeconds);
    },
    route(captured, project) {
      if (captured.topic === 'historical' && project === null) markUnchecked(captured);
      const restricted = restrictions.of(captured.token);
      if (captured.topic === 'live') noteTraffic(captured, project, { projectSpikes, hotKeys, reports });
      if (restricted === undefined && (captured.topic === 'historical' || !hotKeys.hasAny())) return captured;
      const routing = routeEvents(captured, restricted, hotKeys.isHot);
      if (routing.forced > 0) metrics.rerouted('force_overflow', routing.forced);
      if (routing.hot > 0) metrics.rerouted('hot_key', routing.hot);
      if (routing.personless > 0) metrics.personProcessingSkipped(routing.personless);
      if (routing.blocked > 0) reports.blocked(captured, routing.blocked);
      return routing.captured;
    },
    noteStored({ project, isHistorical }, events) {
      if (project !== null && !isHistorical) quotas.noteStored(project, events);
    },
    async stop() {
      restrictions.stop();
      await reports.stop();
      await counters.stop();
    },
  };
}

function configuredRestrictions(config: TrafficControlDependencies['config']): Restriction[] {
  return [
    ...parseRestrictionList('drop_event', config.dropEventsByTokenDistinctId),
    ...parseRestrictionList('force_overflow', config.ingestionForceOverflowByTokenDistinctId),
    ...parseRestrictionList('skip_person_processing', config.skipPersonProcessingByTokenDistinctId),
  ];
}

function noteTraffic(
  captured: CapturedEvents,
  project: KnownProject | null,
  {
    projectSpikes,
    hotKeys,
    reports,
  }: { projectSpikes: ProjectSpikes; hotKeys: Pick<HotKeys, 'note'>; reports: TrafficReports },
): void {
  const { token, accepted } = captured;
  if (project !== null) {
    const spike = projectSpikes.note(project.environmentId, accepted.length);
    if (spike !== null) reports.spike(captured, { distinctId: null, spike });
  }
  const ids = accepted.map(({ partitionId }) => partitionId);
  for (const { id, spike } of hotKeys.note(token, ids)) {
    // A cookieless visitor's `id` is the IP address, which must not be reported. All cookieless visitors share one
    // distinct ID.
    const hot = accepted.find(({ partitionId }) => partitionId === id);
    reports.spike(captured, { distinctId: hot?.record.distinct_id ?? '', spike });
  }
}

function throttled(kind: 'rate_limited' | 'unavailable', retryAfterSeconds: number): AppError {
  const message = 'The project is sending events faster than its plan allows. Send these events again later.';
  return new AppError(kind, message, { code: 'throttled', retryAfterSeconds });
}

/**
 * Marks a migration's events as not checked. The key could not be looked up, so the consumer must check whether the
 * plan includes migrations.
 */
function markUnchecked({ accepted }: CapturedEvents): void {
  for (const { record } of accepted) record.plan_unchecked = true;
}

interface Routing {
  captured: CapturedEvents;
  blocked: number;
  forced: number;
  personless: number;
  hot: number;
}

/**
 * Applies the operator's restrictions, and sends the events of hot keys to the overflow topic. The order of precedence
 * is: drop, then historical (never rerouted), then forced overflow, then hot key (docs/wire-rules.md#topics).
 *
 * - Forced overflow: the record has no key and no person, so the events are spread over all partitions (case
 *   topic-009).
 * - Hot key: the record keeps its key, so that the person's events stay in order. Only events in the same partition of
 *   the overflow topic are delayed.
 *
 * @param restrictions the restrictions for the request's API key, if there are any
 */
function routeEvents(
  captured: CapturedEvents,
  restrictions: KeyRestrictions | undefined,
  isHot: (key: string) => boolean,
): Routing {
  const routing: Routing = { captured, blocked: 0, forced: 0, personless: 0, hot: 0 };
  const isLive = captured.topic === 'live';
  const accepted: AcceptedEvent[] = [];
  for (const event of captured.accepted) {
    const { record, index, partitionId } = event;
    if (restrictions?.applies('drop_event', record.distinct_id)) {
      captured.dropped.add('blocked_token', { index, uuid: record.uuid, event: record.event });
      routing.blocked += 1;
      continue;
    }
    accepted.push(event);
    const isForced = isLive && restrictions?.applies('force_overflow', record.distinct_id) === true;
    if (isForced || restrictions?.applies('skip_person_processing', record.distinct_id)) {
      record.force_disable_person_processing = true;
      routing.personless += 1;
    }
    if (isForced) {
      event.overflow = 'spread';
      routing.forced += 1;
    } else if (isLive && isHot(computeRecordKey('live', captured.token, partitionId))) {
      event.overflow = 'in_order';
      routing.hot += 1;
    }
  }
  if (routing.blocked > 0) routing.captured = { ...captured, accepted };
  return routing;
}
