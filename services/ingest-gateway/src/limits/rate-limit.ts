import type { KnownProject } from '../access/project-key-store.ts';
import type { SharedCounters } from './shared-counters.ts';

export interface RateLimit {
  /**
   * Counts the events of a request against what the plan allows per second.
   * @returns null when they may come in; else after how many whole seconds the client may come again.
   */
  admit(project: KnownProject, events: number): number | null;
}

export interface RateLimitOptions {
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
