import type { IncomingMessage } from 'node:http';
import type { KeyValue } from '@millrace/cache';
import type { TopicNames } from '@millrace/contracts';
import type { Sql } from '@millrace/db';
import { AppError } from '@millrace/errors';
import type { EventLog } from '@millrace/event-log';
import type { Logger, Metrics } from '@millrace/runtime';
import type { KnownProject } from '../access/project-key-store.ts';
import type { CapturedEvents } from '../capture/to-captured-events.ts';
import type { GatewayConfig } from '../config.ts';
import { createHotKeys } from './hot-keys.ts';
import { createKeySketch } from './key-sketch.ts';
import { createProjectSpikes } from './project-spikes.ts';
import { createQuotas } from './quotas.ts';
import { createRateLimit } from './rate-limit.ts';
import { parseRestrictionList } from './restriction-set.ts';
import { createRestrictions } from './restrictions.ts';
import { retriesOn429 } from './retries-on-429.ts';
import { createSharedCounters } from './shared-counters.ts';
import { steerEvents } from './steer-events.ts';
import { createTrafficMetrics, type TrafficMetrics } from './traffic-metrics.ts';
import { createTrafficReports } from './traffic-reports.ts';
import type { TrafficSpike } from './traffic-spike.ts';

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
  log: Pick<EventLog, 'append'>;
  topics: Pick<TopicNames, 'live'>;
  config: TrafficConfig;
  logger: Logger;
  metrics: Metrics;
  now?: () => number;
}

/** What one request is, before its events are looked at. */
export interface Arriving {
  token: string;
  /** Null: no store could say whose key it is, so that nothing is limited. */
  project: KnownProject | null;
  isHistorical: boolean;
  events: number;
}

/** Limits and fairness of the gateway: quotas, the abuse limit, the operator's lists, spikes and hot keys. */
export interface TrafficControl {
  /**
   * Whether the request's events may be stored. `quota_limited`: the plan's events are used up; the request is answered
   * with 200 and nothing is stored (reference/ingest-wire.md section 7.1).
   * @throws AppError `rate_limited`, or `unavailable` for a client that would drop its events at any 4xx.
   */
  admit(arriving: Arriving, request: Pick<IncomingMessage, 'method' | 'headers'>): 'admitted' | 'quota_limited';
  /** Counts live traffic, applies the operator's lists, and sends the events of hot keys to the overflow lane. */
  steer(captured: CapturedEvents, project: KnownProject | null): CapturedEvents;
  /** Tells that the log has acknowledged events of the request. */
  noteStored(arriving: Arriving, events: number): void;
  stop(): Promise<void>;
}

/** Reads the operator's lists before it resolves, if PostgreSQL answers soon. Never rejects for a store that is away. */
export async function createTrafficControl(deps: TrafficControlDependencies): Promise<TrafficControl> {
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

  function noteTraffic({ token, accepted }: CapturedEvents, project: KnownProject | null): void {
    if (project !== null) {
      const spike = projectSpikes.note(project.environmentId, accepted.length);
      if (spike !== null) reportSpike(token, null, spike);
    }
    const ids = accepted.map(({ partitionId }) => partitionId);
    for (const { id, spike } of hotKeys.note(token, ids)) {
      // The address of a visitor without cookies is not for reports; its events all have one distinct id.
      const hot = accepted.find(({ partitionId }) => partitionId === id);
      reportSpike(token, hot?.record.distinct_id ?? '', spike);
    }
  }

  function reportSpike(token: string, distinctId: string | null, { window, ...numbers }: TrafficSpike): void {
    const scope = distinctId === null ? 'project' : 'distinct_id';
    metrics.spike(scope);
    reports.add({
      token,
      type: 'traffic_spike',
      count: numbers.events,
      subject: `${distinctId ?? ''}:${window}`,
      details: { scope, ...(distinctId === null ? {} : { distinctId, reroutedToOverflow: true }), ...numbers },
      identity: `${scope}:${distinctId ?? ''}:${window}`,
    });
  }

  function reportQuota({ token, events }: Arriving, { eventsPerMonth }: KnownProject): void {
    const period = quotas.period();
    const details = { period, eventsPerMonth };
    reports.add({ token, type: 'quota_limited', count: events, subject: period, details, identity: period });
  }

  function refuse(
    { token, events }: Arriving,
    { eventsPerSecond }: KnownProject,
    again: { retryAfterSeconds: number; isTold: boolean },
  ): never {
    metrics.rateLimited(events);
    reports.add({
      token,
      type: 'rate_limited',
      count: events,
      subject: '',
      details: { eventsPerSecond },
      identity: null,
    });
    const message = 'This project sends faster than its plan allows. Please send the events again later.';
    const { retryAfterSeconds } = again;
    throw new AppError(again.isTold ? 'rate_limited' : 'unavailable', message, {
      code: 'throttled',
      retryAfterSeconds,
    });
  }

  return {
    admit(arriving, request) {
      const { project, isHistorical, events } = arriving;
      // A migration is part of the plan, in a lane of its own (contract/ingestion.md, historical rule 1).
      if (project === null || isHistorical) return 'admitted';
      if (quotas.isUsedUp(project)) {
        reportQuota(arriving, project);
        return 'quota_limited';
      }
      const retryAfterSeconds = rateLimit.admit(project, events);
      if (retryAfterSeconds !== null) refuse(arriving, project, { retryAfterSeconds, isTold: retriesOn429(request) });
      return 'admitted';
    },
    steer(captured, project) {
      if (captured.lane === 'historical' && project === null) markUnchecked(captured);
      const restricted = restrictions.of(captured.token);
      if (captured.lane === 'live') noteTraffic(captured, project);
      if (restricted === undefined && (captured.lane === 'historical' || !hotKeys.hasAny())) return captured;
      const steering = steerEvents(captured, restricted, hotKeys.isHot);
      if (steering.forced > 0) metrics.rerouted('force_overflow', steering.forced);
      if (steering.hot > 0) metrics.rerouted('hot_key', steering.hot);
      if (steering.personless > 0) metrics.personProcessingSkipped(steering.personless);
      if (steering.blocked > 0) {
        const { token } = captured;
        reports.add({
          token,
          type: 'blocked_token',
          count: steering.blocked,
          subject: '',
          details: {},
          identity: null,
        });
      }
      return steering.captured;
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

/** Nobody could say whether the plan includes migrations: the consumer will ask. */
function markUnchecked({ accepted }: CapturedEvents): void {
  for (const { record } of accepted) record.plan_unchecked = true;
}
