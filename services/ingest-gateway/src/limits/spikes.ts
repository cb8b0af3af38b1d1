// Detects projects that send far more events than usual.

import { LRUCache } from 'lru-cache';
import type { SharedCounters } from './shared-counters.ts';

interface ProjectSpikesOptions {
  counters: SharedCounters;
  now(): number;
  windowMs: number;
  /** A window with fewer events is never a spike. */
  minEvents: number;
  /** A window is a spike if its events exceed the baseline by this factor. */
  factor: number;
  /** How long a new process reports no spikes, because it does not know the usual traffic yet. */
  warmUpMs: number;
  maxProjects?: number;
}

export interface ProjectSpikes {
  /** Counts live events. @returns the spike if these events start it, or else null */
  note(environmentId: number, events: number): TrafficSpike | null;
  /** Returns how many projects currently have a spike in this process. */
  spiking(): number;
}

interface Traffic {
  window: number;
  /** The events of all gateways in this window, as far as they are known. */
  events: number;
  baseline: number;
  windowsSeen: number;
  isSpiking: boolean;
}

/**
 * The weight of the last window in the baseline. With the default window length, the average adapts within about five
 * minutes.
 */
const weight = 1 / 16;
/**
 * Projects with fewer events than this share of `minEvents` are counted only in this process, and all others in the
 * shared store.
 */
const sharedFrom = 0.1;

/**
 * Finds projects that suddenly send many more events than before. A spike is reported once, when it starts, and ends
 * after a window below the threshold. A small project takes only a few numbers in this process's memory.
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
      // In the first windows, the baseline is a plain average, so that it adapts quickly.
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
        // A project that has stopped sending events never starts another window, so its spike ends here.
        if (traffic === undefined || traffic.window < window - 1) spiking.delete(environmentId);
      }
      return spiking.size;
    },
  };
}

export interface TrafficSpike {
  /** The events of all gateways in the current window, as far as they are known. */
  events: number;
  windowSeconds: number;
  baselineEvents: number;
  thresholdEvents: number;
  /** The window's number since the epoch, which is the same on all gateways. */
  window: number;
}
