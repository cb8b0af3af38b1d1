import type { KnownProject } from '../access/project-key-store.ts';
import type { SharedCounters } from './shared-counters.ts';

export type QuotaProject = Pick<KnownProject, 'environmentId' | 'eventsPerMonth'>;

export interface Quotas {
  /** True when the project's events of this month are used up. Unlimited projects cost nothing here. */
  isUsedUp(project: QuotaProject): boolean;
  /** Counts live events that the log has acknowledged. */
  noteStored(project: QuotaProject, events: number): void;
  /** The running month, `2026-11`. */
  period(): string;
}

/** The month's counter is kept a little longer than the month, for clocks that differ. */
const afterEndMs = 24 * 60 * 60 * 1000;

/**
 * How many events of the plan are used, for each environment and calendar month in UTC. The request that reaches the
 * limit is taken whole and the next ones are not. So gateways exceed the limit by what arrives between two flushes.
 */
export function createQuotas({
  counters,
  now,
  name = 'quota',
}: {
  counters: SharedCounters;
  now(): number;
  /** Name of the counters; `quota` are those of events. */
  name?: string;
}): Quotas {
  let month = monthOf(now());

  function currentMonth(): Month {
    const nowMs = now();
    if (nowMs >= month.endMs || nowMs < month.startMs) month = monthOf(nowMs);
    return month;
  }

  function count(project: QuotaProject, events: number): number {
    const { period, endMs } = currentMonth();
    return counters.add(`${name}:${project.environmentId}:${period}`, events, endMs + afterEndMs);
  }

  return {
    isUsedUp: (project) => project.eventsPerMonth !== null && count(project, 0) >= project.eventsPerMonth,
    noteStored(project, events) {
      if (project.eventsPerMonth !== null && events > 0) count(project, events);
    },
    period: () => currentMonth().period,
  };
}

interface Month {
  period: string;
  startMs: number;
  endMs: number;
}

function monthOf(ms: number): Month {
  const date = new Date(ms);
  const [year, month] = [date.getUTCFullYear(), date.getUTCMonth()];
  return {
    period: date.toISOString().slice(0, 7),
    startMs: Date.UTC(year, month),
    endMs: Date.UTC(year, month + 1),
  };
}

export interface RateLimit {
  /**
   * Counts the events of a request against what the plan allows per second.
   * @returns null when they may come in; else after how many whole seconds the client may come again.
   */
  admit(project: KnownProject, events: number): number | null;
}

interface RateLimitOptions {
  counters: SharedCounters;
  now(): number;
  /** The limit holds for this stretch as a whole, so that a batch may be larger than one second's share. */
  windowMs: number;
}

/**
 * The abuse limit. The first request of a window is always admitted, however large, and so is the whole request that
 * reaches the limit. Otherwise a batch larger than the limit could never be delivered, however often the SDK repeats
 * it.
 */
export function createRateLimit({ counters, now, windowMs }: RateLimitOptions): RateLimit {
  return {
    admit(project, events) {
      if (project.eventsPerSecond === null) return null;
      const nowMs = now();
      const window = Math.floor(nowMs / windowMs);
      const endMs = (window + 1) * windowMs;
      const name = `rate:${project.environmentId}:${window}`;
      const before = counters.add(name, 0, endMs + windowMs);
      if (before >= (project.eventsPerSecond * windowMs) / 1000) return Math.max(1, Math.ceil((endMs - nowMs) / 1000));
      counters.add(name, events, endMs + windowMs);
      return null;
    },
  };
}
