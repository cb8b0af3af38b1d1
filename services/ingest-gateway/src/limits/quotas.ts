import type { KnownProject } from '../access/project-key-store.ts';
import type { SharedCounters } from './shared-counters.ts';

export interface Quotas {
  /** True when the project's events of this month are used up. Unlimited projects cost nothing here. */
  isUsedUp(project: KnownProject): boolean;
  /** Counts live events that the log has acknowledged. */
  noteStored(project: KnownProject, events: number): void;
  /** The running month, `2026-11`. */
  period(): string;
}

/** The month's counter is kept a little longer than the month, for clocks that differ. */
const afterEndMs = 24 * 60 * 60 * 1000;

/**
 * How many events of the plan are used, per project API key's environment and calendar month in UTC. The request that
 * meets the limit is taken whole, the next ones are not, so gateways exceed the limit by what arrives within one flush.
 */
export function createQuotas({ counters, now }: { counters: SharedCounters; now(): number }): Quotas {
  function count(project: KnownProject, events: number): number {
    const end = endOfMonthMs(now());
    return counters.add(`quota:${project.environmentId}:${periodOf(now())}`, events, end + afterEndMs);
  }
  return {
    isUsedUp: (project) => project.eventsPerMonth !== null && count(project, 0) >= project.eventsPerMonth,
    noteStored(project, events) {
      if (project.eventsPerMonth !== null && events > 0) count(project, events);
    },
    period: () => periodOf(now()),
  };
}

function periodOf(ms: number): string {
  return new Date(ms).toISOString().slice(0, 7);
}

function endOfMonthMs(ms: number): number {
  const date = new Date(ms);
  return Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + 1);
}
