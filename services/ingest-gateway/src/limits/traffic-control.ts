import { recordKey } from '@millrace/contracts';
import { AppError } from '@millrace/runtime';
import type { KnownProject } from '../access/project-key-store.ts';
import type { AcceptedEvent, CapturedEvents } from '../readers/captured-events.ts';
import type { KeyRestrictions } from './restrictions.ts';
import type { TrafficSpike } from './spikes.ts';
import { createTrafficParts, type TrafficControlDependencies, type TrafficParts } from './traffic-parts.ts';

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
   * @param retriesOn429 false for a client that would drop its events at any 4xx.
   * @throws AppError `rate_limited`, or `unavailable` for such a client.
   */
  admit(admission: Admission, retriesOn429: boolean): 'admitted' | 'quota_limited';
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
    admit(admission, retriesOn429) {
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
      throw throttled(retryAfterSeconds, retriesOn429);
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
  const message = 'The project is sending events faster than its plan allows. Send these events again later.';
  return new AppError(isTold ? 'rate_limited' : 'unavailable', message, { code: 'throttled', retryAfterSeconds });
}

/** Nobody could say whether the plan includes migrations: the consumer will ask. */
function markUnchecked({ accepted }: CapturedEvents): void {
  for (const { record } of accepted) record.plan_unchecked = true;
}

/** Whose traffic it is. */
interface Owner {
  token: string;
  /** Null: no store could say. */
  environmentId: number | null;
}

/** Events of one request. */
interface Concerned {
  token: string;
  events: number;
}

/** Counts what limits and lists find, for metrics and for warnings to the project. */
interface TrafficFindings {
  /** @param distinctId of a hot key; null: it is the whole project. */
  spike(owner: Owner, distinctId: string | null, spike: TrafficSpike): void;
  quotaUsedUp(concerned: Concerned, project: KnownProject): void;
  tooFast(concerned: Concerned, project: KnownProject): void;
  /** Events on the operator's drop list. */
  blocked(owner: Owner, events: number): void;
}

function createTrafficFindings({
  quotas,
  metrics,
  reports,
}: Pick<TrafficParts, 'quotas' | 'metrics' | 'reports'>): TrafficFindings {
  return {
    spike({ token, environmentId }, distinctId, { window, ...numbers }) {
      const scope = distinctId === null ? 'project' : 'distinct_id';
      metrics.spike(scope);
      reports.add({
        token,
        environmentId,
        type: 'traffic_spike',
        count: numbers.events,
        subject: `${distinctId ?? ''}:${window}`,
        details: { scope, ...(distinctId === null ? {} : { distinctId, reroutedToOverflow: true }), ...numbers },
        identity: `${scope}:${distinctId ?? ''}:${window}`,
      });
    },
    quotaUsedUp({ token, events: count }, { environmentId, eventsPerMonth }) {
      const period = quotas.period();
      const details = { period, eventsPerMonth };
      const type = 'quota_limited';
      reports.add({ token, environmentId, type, count, subject: period, details, identity: period });
    },
    tooFast({ token, events: count }, { environmentId, eventsPerSecond }) {
      metrics.rateLimited(count);
      const details = { eventsPerSecond };
      reports.add({ token, environmentId, type: 'rate_limited', count, subject: '', details, identity: null });
    },
    blocked({ token, environmentId }, count) {
      reports.add({ token, environmentId, type: 'blocked_token', count, subject: '', details: {}, identity: null });
    },
  };
}

/** What became of the events of one request, for the figures. */
interface Routing {
  captured: CapturedEvents;
  blocked: number;
  forced: number;
  personless: number;
  hot: number;
}

/**
 * Applies the operator's lists and sends the events of hot keys to the overflow lane. Order of precedence: drop, then
 * historical (nothing reroutes it), then forced overflow, then hot (docs/wire-rules.md#topics).
 * - Forced overflow: no key, no person, so its events spread over all partitions (case R09).
 * - Hot: the key stays, so that one person's events stay in order; it delays only who shares its overflow partition.
 *
 * @param restrictions of the request's project key, if there are any.
 */
function routeEvents(
  captured: CapturedEvents,
  restrictions: KeyRestrictions | undefined,
  isHot: (key: string) => boolean,
): Routing {
  const routing: Routing = { captured, blocked: 0, forced: 0, personless: 0, hot: 0 };
  const isLive = captured.lane === 'live';
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
    } else if (isLive && isHot(recordKey('live', captured.token, partitionId))) {
      event.overflow = 'in_order';
      routing.hot += 1;
    }
  }
  if (routing.blocked > 0) routing.captured = { ...captured, accepted };
  return routing;
}
