import type { KnownProject } from '../access/project-key-store.ts';
import type { TrafficParts } from './traffic-parts.ts';
import type { TrafficSpike } from './traffic-spike.ts';

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
export interface TrafficFindings {
  /** @param distinctId of a hot key; null: it is the whole project. */
  spike(owner: Owner, distinctId: string | null, spike: TrafficSpike): void;
  quotaUsedUp(concerned: Concerned, project: KnownProject): void;
  tooFast(concerned: Concerned, project: KnownProject): void;
  /** Events on the operator's drop list. */
  blocked(owner: Owner, events: number): void;
}

export function createTrafficFindings({
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
