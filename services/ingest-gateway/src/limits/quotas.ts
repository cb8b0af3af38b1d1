// Monthly quotas, and the rate limiter for a project's events.

import type { KnownProject } from '../access/project-key-store.ts';
import type { SharedCounters } from './shared-counters.ts';

export type QuotaProject = Pick<KnownProject, 'environmentId' | 'eventsPerMonth'>;

export interface Quotas {
  isUsedUp(project: QuotaProject): boolean;
  noteStored(project: QuotaProject, events: number): void;
  /** Returns the current month, for example `2026-11`. */
  period(): string;
}

/** A month's counter is kept for one more day, because clocks differ. */
const afterEndMs = 24 * 60 * 60 * 1000;

/**
 * Counts each environment's events per calendar month (UTC). The request that reaches the limit is still accepted
 * completely. Gateways can exceed the limit by the events that arrive between two flushes.
 */
export function createQuotas({
  counters,
  now,
  name = 'quota',
}: {
  counters: SharedCounters;
  now(): number;
  /** The prefix of the counter names. Defaults to `quota`, which is for events. */
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
   * Counts a request's events towards the rate that the plan allows.
   * @returns null if the request is accepted, or else how many seconds the client must wait
   */
  admit(project: KnownProject, events: number): number | null;
}

interface RateLimitOptions {
  counters: SharedCounters;
  now(): number;
  /** The limit applies to the total of this window, so a single batch can exceed the number of events per second. */
  windowMs: number;
}

/**
 * Creates the rate limiter. The first request of a window and the request that reaches the limit are always accepted.
 * Otherwise, a batch that is larger than the limit could never be delivered.
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
