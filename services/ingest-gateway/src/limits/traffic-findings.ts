import type { KnownProject } from '../access/project-key-store.ts';
import type { TrafficParts } from './traffic-parts.ts';
import type { TrafficSpike } from './traffic-spike.ts';

/** Events of one request. */
interface Concerned {
  token: string;
  events: number;
}

/** What limits and lists find, in the words of figures and of warnings a project can look up. */
export interface TrafficFindings {
  /** @param distinctId of a hot key; null: it is the whole project. */
  spike(token: string, distinctId: string | null, spike: TrafficSpike): void;
  quotaUsedUp(concerned: Concerned, project: KnownProject): void;
  tooFast(concerned: Concerned, project: KnownProject): void;
  /** Events on the operator's drop list. */
  blocked(token: string, events: number): void;
}

export function createTrafficFindings({
  quotas,
  metrics,
  reports,
}: Pick<TrafficParts, 'quotas' | 'metrics' | 'reports'>): TrafficFindings {
  return {
    spike(token, distinctId, { window, ...numbers }) {
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
    },
    quotaUsedUp({ token, events }, { eventsPerMonth }) {
      const period = quotas.period();
      const details = { period, eventsPerMonth };
      reports.add({ token, type: 'quota_limited', count: events, subject: period, details, identity: period });
    },
    tooFast({ token, events }, { eventsPerSecond }) {
      metrics.rateLimited(events);
      const details = { eventsPerSecond };
      reports.add({ token, type: 'rate_limited', count: events, subject: '', details, identity: null });
    },
    blocked(token, events) {
      reports.add({ token, type: 'blocked_token', count: events, subject: '', details: {}, identity: null });
    },
  };
}
