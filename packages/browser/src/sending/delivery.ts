// Sends batches one after the other, at the pace that the service's responses allow.

import type { Core, ServerResponse } from '../client/core.ts';
import type { EventQueue, QueuedEvent } from './queue.ts';
import { type Body, type Envelope, sendRequest } from './wire.ts';

export interface Delivery {
  /**
   * Sends all queued events, one request after the other. Resolves when the service has accepted or rejected the
   * events, or when they are back in the queue.
   */
  flush(): Promise<void>;
  /**
   * Starts a request that continues after the visitor leaves the page. The request starts synchronously, because this
   * may be the last chance to send the events.
   */
  hurry(): Promise<void>;
}

interface Taken {
  quota_limited?: string[];
}

const maxEvents = 500;
/** Maximum size of a request that continues after the visitor leaves the page. The limit leaves room for beacons. */
const maxHurriedCharacters = 30_000;
const quotaPauseMs = 60_000;

export function createEventDelivery(
  core: Pick<Core, 'options' | 'log'>,
  { url, wrap, pack }: Envelope,
  { queue, retryState }: { queue: EventQueue; retryState: RetryState },
): Delivery {
  /**
   * Maximum number of events per request. The client lowers it when a request was too large, or when a request failed,
   * because its size may have been the reason.
   */
  let most = maxEvents;
  let limit = maxEvents;
  /** Number of events that the current `flush` has not sent yet. */
  let goal = 0;
  let running: Promise<void> | undefined;

  /** Processes the response to a request. @returns false if sending should pause */
  function settle(events: QueuedEvent[], { status, json, retryAfter }: ServerResponse): boolean {
    const half = Math.ceil(events.length / 2);
    const isTaken = status >= 200 && status < 300;
    if (status === 413 && events.length > 1) {
      most = limit = half;
      goal += events.length;
      queue.putBack(events);
    } else if (isTaken || (status >= 400 && status < 500 && status !== 408 && status !== 429)) {
      retryState.failures = 0;
      most = Math.min(most * 2, limit);
      queue.forget(events);
      if (!isTaken) core.log.error(`${events.length} events dropped: the server responded with ${status}`, json);
      // The service did not store the batch, and will not store further events, because the plan's event quota is used
      // up.
      if ((json as Taken | null)?.quota_limited?.includes?.('events')) pause(retryState, quotaPauseMs);
    } else {
      retryState.failures += 1;
      if (status === 0) most = half;
      if (retryAfter) pause(retryState, retryAfter * 1000);
      queue.putBack(events);
      return false;
    }
    return true;
  }

  async function send(events: QueuedEvent[], body: Body): Promise<boolean> {
    const query = retryState.failures ? `?retry_count=${retryState.failures}` : '';
    return settle(events, await sendRequest(core, url() + query, { body }));
  }

  async function run(): Promise<void> {
    while (goal > 0 && !isPaused(retryState)) {
      const events = queue.first(most);
      if (events.length === 0) return;
      if (navigator.onLine === false) {
        retryState.failures += 1;
        return;
      }
      const body = await pack(wrap(events));
      // While the batch was being compressed, a beacon may have sent the events, or the queue may have dropped them to
      // make room.
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
      if (events.length > 0 && !isPaused(retryState) && queue.take(events)) await send(events, wrap(events));
    },
  };
}

/** The state that determines when to send the next request. */
export interface RetryState {
  failures: number;
  /** When the pause ends, as a time of `performance.now`, which system clock changes do not affect. */
  pausedUntil: number;
}

const shortestRestMs = 3000;
const longestRestMs = 300_000;

/**
 * Returns how long to wait before the next attempt. The wait is random, so that clients do not all reconnect at the
 * same time after an outage.
 */
export function msUntilNextRequest({ failures, pausedUntil }: RetryState): number {
  const backoffMs = Math.min(shortestRestMs * 2 ** (failures - 1), longestRestMs) * (0.75 + Math.random() / 2);
  return Math.max(failures && backoffMs, pausedUntil - performance.now());
}

export function isPaused({ pausedUntil }: RetryState): boolean {
  return performance.now() < pausedUntil;
}

function pause(retryState: RetryState, ms: number): void {
  retryState.pausedUntil = performance.now() + ms;
}
