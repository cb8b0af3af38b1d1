// Monthly quotas, and the rate limiter for a project's events.

import type { KnownProject } from '../access/project-key-store.ts';
import type { SharedCounters } from './shared-counters.ts';

export type QuotaProject = Pick<KnownProject, 'environmentId' | 'eventsPerMonth'>;

export interface Quotas {
  isUsedUp(project: QuotaProject): boolean;
  /** Counts live events that the event log has acknowledged. */
  noteStored(project: QuotaProject, events: number): void;
  /** Returns the current month, for example `2026-11`. */
  period(): string;
}

/** A month's counter is kept a day longer than the month, because clocks differ. */
const afterEndMs = 24 * 60 * 60 * 1000;

/**
 * Counts the events of each environment in each calendar month (UTC). The request that reaches the limit is still
 * accepted completely. Gateways can therefore exceed the limit by the number of events that arrive between two flushes.
 */
export function createQuotas({
  counters,
  now,
  name = 'quota',
}: {
  counters: SharedCounters;
  now(): number;
  /** The prefix of the counter names. The default, `quota`, is for events. */
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
   * Counts the events of a request towards the rate that the plan allows.
   * @returns null if the request is accepted, or otherwise the number of seconds after which the client can retry
   */
  admit(project: KnownProject, events: number): number | null;
}

interface RateLimitOptions {
  counters: SharedCounters;
  now(): number;
  /**
   * The length of the window to which the limit applies. A batch can therefore exceed the number of events per second.
   */
  windowMs: number;
}

/**
 * Creates the rate limiter. The first request of a window is always accepted, and so is the request that reaches the
 * limit. Otherwise, a batch that is larger than the limit could never be delivered.
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
