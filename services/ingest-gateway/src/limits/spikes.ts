import { LRUCache } from 'lru-cache';
import type { SharedCounters } from './shared-counters.ts';

interface ProjectSpikesOptions {
  counters: SharedCounters;
  now(): number;
  windowMs: number;
  /** A window with fewer events is never a spike. */
  minEvents: number;
  /** How many times the baseline a window must hold. */
  factor: number;
  /** A process that has just started does not know what is usual, and reports no spike for this time. */
  warmUpMs: number;
  maxProjects?: number;
}

export interface ProjectSpikes {
  /** Counts live events. @returns the spike when these events begin one, null otherwise. */
  note(environmentId: number, events: number): TrafficSpike | null;
  /** Projects in a spike, as far as seen here. */
  spiking(): number;
}

interface Traffic {
  window: number;
  /** Events of the window, of all gateways as far as known. */
  events: number;
  /** Moving average of the windows before. */
  baseline: number;
  windowsSeen: number;
  isSpiking: boolean;
}

/** The weight of the latest window in the baseline: the average follows within some five minutes of windows. */
const weight = 1 / 16;
/** From this share of `minEvents` on a project is counted in the shared store; below it only in this process. */
const sharedFrom = 0.1;

/**
 * Finds projects that suddenly send much more than before. A spike is reported once, when it begins, and is over after
 * a window below the threshold. A small project costs a few numbers in this process and nothing elsewhere.
 */
export function createProjectSpikes(options: ProjectSpikesOptions): ProjectSpikes {
  const { counters, now, windowMs, minEvents, factor, warmUpMs, maxProjects = 100_000 } = options;
  const projects = new LRUCache<number, Traffic>({ max: maxProjects });
  const spiking = new Set<number>();
  const reportsFromMs = now() + warmUpMs;

  function enterWindow(environmentId: number, window: number): Traffic {
    const traffic = projects.get(environmentId);
    if (traffic === undefined) {
      const fresh = { window, events: 0, baseline: 0, windowsSeen: 0, isSpiking: false };
      projects.set(environmentId, fresh);
      return fresh;
    }
    if (window > traffic.window) {
      if (traffic.isSpiking && traffic.events < thresholdOf(traffic)) {
        traffic.isSpiking = false;
        spiking.delete(environmentId);
      }
      traffic.windowsSeen += 1;
      // The average of the first windows is a plain mean, so that the baseline is right soon.
      const share = Math.max(weight, 1 / traffic.windowsSeen);
      traffic.baseline += (traffic.events - traffic.baseline) * share;
      traffic.baseline *= (1 - weight) ** (window - traffic.window - 1);
      traffic.window = window;
      traffic.events = 0;
    }
    return traffic;
  }

  const thresholdOf = ({ baseline }: Traffic) => Math.max(minEvents, factor * baseline);

  return {
    note(environmentId, events) {
      const nowMs = now();
      const window = Math.floor(nowMs / windowMs);
      const traffic = enterWindow(environmentId, window);
      const before = traffic.events;
      traffic.events += events;
      if (traffic.events >= minEvents * sharedFrom) {
        const pending = before >= minEvents * sharedFrom ? events : traffic.events;
        const name = `traffic:${environmentId}:${window}`;
        traffic.events = Math.max(traffic.events, counters.add(name, pending, (window + 2) * windowMs));
      }
      const threshold = thresholdOf(traffic);
      if (traffic.isSpiking || traffic.events < threshold || nowMs < reportsFromMs) return null;
      traffic.isSpiking = true;
      spiking.add(environmentId);
      return {
        events: traffic.events,
        windowSeconds: windowMs / 1000,
        baselineEvents: Math.round(traffic.baseline),
        thresholdEvents: Math.ceil(threshold),
        window,
      };
    },
    spiking() {
      const window = Math.floor(now() / windowMs);
      for (const environmentId of spiking) {
        const traffic = projects.peek(environmentId);
        // Projects that stopped sending close no window any more.
        if (traffic === undefined || traffic.window < window - 1) spiking.delete(environmentId);
      }
      return spiking.size;
    },
  };
}

/** A burst of traffic, in numbers. */
export interface TrafficSpike {
  /** Events in the running window, of all gateways as far as known. */
  events: number;
  windowSeconds: number;
  /** What a window held lately. */
  baselineEvents: number;
  /** What the window had to reach. */
  thresholdEvents: number;
  /** Number of the window since the epoch; with the length it is the same on all gateways. */
  window: number;
}
