import type { IncomingMessage } from 'node:http';
import { AppError } from '@millrace/errors';
import type { KnownProject } from '../access/project-key-store.ts';
import type { CapturedEvents } from '../request/to-captured-events.ts';
import { retriesOn429 } from './retries-on-429.ts';
import { routeEvents } from './route-events.ts';
import { createTrafficFindings } from './traffic-findings.ts';
import { createTrafficParts, type TrafficControlDependencies } from './traffic-parts.ts';

/** What one request is, before its events are looked at. */
export interface Admission {
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
   * with 200 and nothing is stored (docs/wire-rules.md#quotas-and-limits).
   * @throws AppError `rate_limited`, or `unavailable` for a client that would drop its events at any 4xx.
   */
  admit(admission: Admission, request: Pick<IncomingMessage, 'method' | 'headers'>): 'admitted' | 'quota_limited';
  /** Counts live traffic, applies the operator's lists, and sends the events of hot keys to the overflow lane. */
  route(captured: CapturedEvents, project: KnownProject | null): CapturedEvents;
  /** Tells that the log has acknowledged events of the request. */
  noteStored(admission: Admission, events: number): void;
  stop(): Promise<void>;
}

/** @see createTrafficParts for what it waits for. Never rejects for a store that is away. */
export async function createTrafficControl(deps: TrafficControlDependencies): Promise<TrafficControl> {
  const parts = await createTrafficParts(deps);
  const { quotas, rateLimit, restrictions, projectSpikes, hotKeys, metrics } = parts;
  const findings = createTrafficFindings(parts);

  function noteTraffic(captured: CapturedEvents, project: KnownProject | null): void {
    const { token, accepted } = captured;
    if (project !== null) {
      const spike = projectSpikes.note(project.environmentId, accepted.length);
      if (spike !== null) findings.spike(captured, null, spike);
    }
    const ids = accepted.map(({ partitionId }) => partitionId);
    for (const { id, spike } of hotKeys.note(token, ids)) {
      // The address of a visitor without cookies is not reported. All their events have the same distinct id.
      const hot = accepted.find(({ partitionId }) => partitionId === id);
      findings.spike(captured, hot?.record.distinct_id ?? '', spike);
    }
  }

  return {
    admit(admission, request) {
      const { project, isHistorical, events } = admission;
      // A migration is part of the plan, in a lane of its own (docs/ingestion-rules.md#historical-migrations).
      if (project === null || isHistorical) return 'admitted';
      if (quotas.isUsedUp(project)) {
        findings.quotaUsedUp(admission, project);
        return 'quota_limited';
      }
      const retryAfterSeconds = rateLimit.admit(project, events);
      if (retryAfterSeconds === null) return 'admitted';
      findings.tooFast(admission, project);
      throw throttled(retryAfterSeconds, retriesOn429(request));
    },
    route(captured, project) {
      if (captured.lane === 'historical' && project === null) markUnchecked(captured);
      const restricted = restrictions.of(captured.token);
      if (captured.lane === 'live') noteTraffic(captured, project);
      if (restricted === undefined && (captured.lane === 'historical' || !hotKeys.hasAny())) return captured;
      const routing = routeEvents(captured, restricted, hotKeys.isHot);
      if (routing.forced > 0) metrics.rerouted('force_overflow', routing.forced);
      if (routing.hot > 0) metrics.rerouted('hot_key', routing.hot);
      if (routing.personless > 0) metrics.personProcessingSkipped(routing.personless);
      if (routing.blocked > 0) findings.blocked(captured, routing.blocked);
      return routing.captured;
    },
    noteStored({ project, isHistorical }, events) {
      if (project !== null && !isHistorical) quotas.noteStored(project, events);
    },
    async stop() {
      restrictions.stop();
      await parts.reports.stop();
      await parts.counters.stop();
    },
  };
}

function throttled(retryAfterSeconds: number, isTold: boolean): AppError {
  const message = 'This project sends faster than its plan allows. Please send the events again later.';
  return new AppError(isTold ? 'rate_limited' : 'unavailable', message, { code: 'throttled', retryAfterSeconds });
}

/** Nobody could say whether the plan includes migrations: the consumer will ask. */
function markUnchecked({ accepted }: CapturedEvents): void {
  for (const { record } of accepted) record.plan_unchecked = true;
}
