// One batch after the other, at the pace that the answers of the service ask for.

import type { Answer, Core } from '../client/core.ts';
import type { EventQueue, QueuedEvent } from './queue.ts';
import { ask, type Body, type Envelope } from './wire.ts';

/** Sends what is queued, and acts as the service's answers ask. */
export interface Delivery {
  /** Sends all that is queued now, one request after the other. Resolves when it was taken, refused, or put back. */
  flush(): Promise<void>;
  /** Sends what can outlive the page, before this returns: it may be the last chance. */
  hurry(): Promise<void>;
}

interface Taken {
  quota_limited?: string[];
}

const mostEvents = 500;
/** Limit of a request that outlives its page, with room for beacons. */
const mostHurriedCharacters = 30_000;
const quotaPauseMs = 60_000;

export function createDelivery(
  core: Pick<Core, 'options' | 'log'>,
  { url, wrap, pack }: Envelope,
  { queue, pace }: { queue: EventQueue; pace: Pace },
): Delivery {
  /** Of one request: fewer after one that was too large, or that something on the way may have found too large. */
  let most = mostEvents;
  let limit = mostEvents;
  /** How many are still to be sent before `flush` is done. */
  let goal = 0;
  let running: Promise<void> | undefined;

  /** @returns false when it is time to rest. */
  function settle(events: QueuedEvent[], { status, json, retryAfter }: Answer): boolean {
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
      // The plan's events are used up: what was sent is not stored, and what comes would not be either.
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
    return settle(events, await ask(core, url() + query, { body }));
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
      // Meanwhile a beacon may have taken them, or they had to make room.
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
      while (events.length > 1 && wrap(events).length > mostHurriedCharacters) events = queue.first(events.length >> 1);
      if (events.length > 0 && !isPaused(pace) && queue.take(events)) await send(events, wrap(events));
    },
  };
}

/** When the next request makes sense. */
export interface Pace {
  /** Requests in a row that came to nothing. */
  failures: number;
  /** By a clock that nobody sets. */
  pausedUntil: number;
}

const shortestRestMs = 3000;
const longestRestMs = 300_000;

/** Spread, so that the visitors of a service that was away do not come back all at once. */
export function restMs({ failures, pausedUntil }: Pace): number {
  const backoffMs = Math.min(shortestRestMs * 2 ** (failures - 1), longestRestMs) * (0.75 + Math.random() / 2);
  return Math.max(failures && backoffMs, pausedUntil - performance.now());
}

export function isPaused({ pausedUntil }: Pace): boolean {
  return performance.now() < pausedUntil;
}

function pause(pace: Pace, ms: number): void {
  pace.pausedUntil = performance.now() + ms;
}
