// Sends batches one after the other, at the pace that the responses of the service allow.

import type { Core, ServerResponse } from '../client/core.ts';
import type { EventQueue, QueuedEvent } from './queue.ts';
import { type Body, type Envelope, sendRequest } from './wire.ts';

/** Sends queued events and reacts to the service's responses. */
export interface Delivery {
  /**
   * Sends all queued events, one request after the other. Resolves when they have been accepted, rejected or put back
   * into the queue.
   */
  flush(): Promise<void>;
  /**
   * Starts a request that can outlive the page. This happens synchronously, because it may be the last chance to send
   * the events.
   */
  hurry(): Promise<void>;
}

interface Taken {
  quota_limited?: string[];
}

const maxEvents = 500;
/** Maximum size of a request that outlives its page. It leaves room for beacons. */
const maxHurriedCharacters = 30_000;
const quotaPauseMs = 60_000;

export function createDelivery(
  core: Pick<Core, 'options' | 'log'>,
  { url, wrap, pack }: Envelope,
  { queue, pace }: { queue: EventQueue; pace: Pace },
): Delivery {
  /**
   * Maximum number of events per request. Reduced after a request that was too large, or that
   * failed, possibly because of its size.
   */
  let most = maxEvents;
  let limit = maxEvents;
  /** Number of events that `flush` still has to send. */
  let goal = 0;
  let running: Promise<void> | undefined;

  /** Processes the response to a request. @returns false if sending should pause. */
  function settle(events: QueuedEvent[], { status, json, retryAfter }: ServerResponse): boolean {
    const half = Math.ceil(events.length / 2);
    const isTaken = status >= 200 && status < 300;
    if (status === 413 && events.length > 1) {
      most = limit = half;
      goal += events.length;
      queue.putBack(events);
    } else if (isTaken || (status >= 400 && status < 500 && status !== 408 && status !== 429)) {
      pace.failures = 0;
      most = Math.min(most * 2, limit);
      queue.forget(events);
      if (!isTaken) core.log.error(`${events.length} events dropped: the server responded with ${status}`, json);
      // The plan's event quota is used up, so the sent events were not stored, and no further ones will be.
      if ((json as Taken | null)?.quota_limited?.includes?.('events')) pause(pace, quotaPauseMs);
    } else {
      pace.failures += 1;
      if (status === 0) most = half;
      if (retryAfter) pause(pace, retryAfter * 1000);
      queue.putBack(events);
      return false;
    }
    return true;
  }

  async function send(events: QueuedEvent[], body: Body): Promise<boolean> {
    const query = pace.failures ? `?retry_count=${pace.failures}` : '';
    return settle(events, await sendRequest(core, url() + query, { body }));
  }

  async function run(): Promise<void> {
    while (goal > 0 && !isPaused(pace)) {
      const events = queue.first(most);
      if (events.length === 0) return;
      if (navigator.onLine === false) {
        pace.failures += 1;
        return;
      }
      const body = await pack(wrap(events));
      // In the meantime, a beacon may have sent the events, or they may have been dropped to make room.
      if (!queue.take(events)) continue;
      goal -= events.length;
      if (!(await send(events, body))) return;
    }
  }

  return {
    async flush() {
      goal = queue.count();
      running ??= run().finally(() => {
        running = undefined;
      });
      await running;
    },
    async hurry() {
      let events = queue.first(most);
      while (events.length > 1 && wrap(events).length > maxHurriedCharacters) events = queue.first(events.length >> 1);
      if (events.length > 0 && !isPaused(pace) && queue.take(events)) await send(events, wrap(events));
    },
  };
}

/** Decides when to send the next request. */
export interface Pace {
  /** Number of consecutive requests that failed. */
  failures: number;
  /** The end of the pause, as a time of `performance.now`, which clock changes do not affect. */
  pausedUntil: number;
}

const shortestRestMs = 3000;
const longestRestMs = 300_000;

/**
 * Returns how long to wait before the next attempt. The time is random, so that clients do not all return at the same
 * time after an outage.
 */
export function msUntilNextRequest({ failures, pausedUntil }: Pace): number {
  const backoffMs = Math.min(shortestRestMs * 2 ** (failures - 1), longestRestMs) * (0.75 + Math.random() / 2);
  return Math.max(failures && backoffMs, pausedUntil - performance.now());
}

export function isPaused({ pausedUntil }: Pace): boolean {
  return performance.now() < pausedUntil;
}

function pause(pace: Pace, ms: number): void {
  pace.pausedUntil = performance.now() + ms;
}
