// Closes the connections of a stopping server without interrupting requests.

import type { Server, ServerResponse } from 'node:http';
import { Server as NetServer } from 'node:net';
import { setImmediate as nextLoop, setTimeout as sleep } from 'node:timers/promises';

export interface ConnectionDrain {
  /** Registers a request. Call it for every request before processing it. */
  note(response: ServerResponse): void;
  /**
   * Lets requests in progress finish and closes every connection after a response that announces this. New connections
   * are accepted only for another `graceMs`. Resolves when the last connection is closed. Can be called several times.
   */
  drain(): Promise<void>;
  isDraining(): boolean;
}

export interface DrainOptions {
  /**
   * How long new connections are still accepted after stopping begins, because load balancers need time to notice it.
   */
  graceMs: number;
  /** The time after the end of `graceMs` at which remaining connections are closed. */
  timeoutMs: number;
}

const slot = Symbol('slot');

type Noted = ServerResponse & { [slot]?: number | undefined };

/**
 * Idle connections are closed when the server has received no request for this long. Until then, one may be on its way.
 */
const longestQuietMs = 500;
/**
 * Time is counted in steps of this length, and in each step the process reads data that has arrived. A process that got
 * no CPU for a second received nothing during that second, and must not conclude that clients sent nothing.
 */
const stepMs = 50;

/**
 * Stops an HTTP server without breaking a request.
 *
 * Node's own `close` closes idle connections immediately. But the keep-alive connection of a busy client is idle
 * between two requests. A request sent at that moment would be lost, and so would connections that wait to be accepted.
 * Here, such requests get a response with `Connection: close`, and only connections that stay idle are closed.
 */
export function createConnectionDrain(server: Server, { graceMs, timeoutMs }: DrainOptions): ConnectionDrain {
  const underWay = createSlotMap<Noted>();
  let drained: Promise<void> | undefined;
  let quietMs = 0;

  async function drain(): Promise<void> {
    for (const response of underWay.all()) announceEnd(response);
    for (let elapsedMs = 0; elapsedMs < graceMs; elapsedMs += stepMs) await sleep(Math.min(stepMs, graceMs));
    if (graceMs > 0) await acceptWhatWaits(server, performance.now() + timeoutMs);
    const quietAtLeast = Math.min(graceMs, longestQuietMs);
    quietMs = 0;
    const steps = setInterval(() => {
      quietMs += stepMs;
      if (quietMs < quietAtLeast) return;
      // A connection whose response began before stopping is idle now, and nothing else closes it. Node.js does not
      // consider a connection without any request as idle.
      if (underWay.all().length > 0) server.closeIdleConnections();
      else server.closeAllConnections();
    }, stepMs);
    const cut = setTimeout(() => server.closeAllConnections(), timeoutMs);
    // The `close` of the net server only stops listening.
    await new Promise<void>((resolve) => NetServer.prototype.close.call(server, () => resolve()));
    clearInterval(steps);
    clearTimeout(cut);
  }

  /**
   * All responses share one listener function, because `once` or a closure for each response takes time on every
   * request.
   */
  function forget(this: Noted): void {
    const taken = this[slot];
    if (taken === undefined) return;
    this[slot] = undefined;
    underWay.release(taken);
  }

  return {
    isDraining: () => drained !== undefined,
    note(response: Noted) {
      response[slot] = underWay.take(response);
      quietMs = 0;
      response.on('close', forget);
      if (drained !== undefined) announceEnd(response);
    },
    drain() {
      drained ??= drain();
      return drained;
    },
  };
}

/**
 * Accepts connections that wait. The event loop accepts one per iteration, and connections that still wait when a
 * server stops listening are reset.
 */
async function acceptWhatWaits(server: Server, until: number): Promise<void> {
  let accepted = true;
  const note = () => {
    accepted = true;
  };
  server.on('connection', note);
  while (accepted && performance.now() < until) {
    accepted = false;
    await nextLoop();
    await nextLoop();
  }
  server.off('connection', note);
}

function announceEnd(response: ServerResponse): void {
  if (!response.headersSent) response.setHeader('connection', 'close');
}

/** A collection of short-lived items. Each item takes a slot and releases it at its end. */
interface SlotMap<T> {
  /**
   * Adds an item.
   * @returns the slot
   */
  take(thing: T): number;
  release(slot: number): void;
  all(): T[];
}

/**
 * Creates a replacement for a `Set`, which replaces its table after every few dozen insertions. V8 keeps copying the
 * contents of replaced tables in the old generation until that generation is collected, and a gateway spent a quarter
 * of its time on requests that had long ended.
 */
function createSlotMap<T>(): SlotMap<T> {
  const things: (T | undefined)[] = [];
  const free: number[] = [];
  return {
    take(thing) {
      const slot = free.pop() ?? things.length;
      things[slot] = thing;
      return slot;
    },
    release(slot) {
      things[slot] = undefined;
      free.push(slot);
    },
    all: () => things.filter((thing) => thing !== undefined),
  };
}
