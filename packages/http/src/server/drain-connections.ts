// Closes the connections of a server that is shutting down, without interrupting requests.

import type { Server, ServerResponse } from 'node:http';
import { Server as NetServer } from 'node:net';
import { setImmediate as nextLoop, setTimeout as sleep } from 'node:timers/promises';

export interface ConnectionDrain {
  /** Registers a request. Must be called for every request before the request is processed. */
  note(response: ServerResponse): void;
  /**
   * Lets requests in progress finish, and announces in each response that its connection will be closed. Accepts new
   * connections only for another `graceMs` milliseconds. Resolves when the last connection is closed. Can be called
   * several times.
   */
  drain(): Promise<void>;
  isDraining(): boolean;
}

export interface DrainOptions {
  /**
   * Time in milliseconds that new connections are still accepted after the shutdown begins. Load balancers need this
   * time to notice the shutdown.
   */
  graceMs: number;
  /** Time in milliseconds after `graceMs` at which remaining connections are closed. */
  timeoutMs: number;
}

const slot = Symbol('slot');

type Noted = ServerResponse & { [slot]?: number | undefined };

/**
 * Time in milliseconds without any request after which idle connections are closed. They stay open until then, because
 * a request may be on its way.
 */
const longestQuietMs = 500;
/**
 * Length of a time step in milliseconds. In each step, the process reads the data that has arrived. Quiet time is
 * counted in steps, because a process that got no CPU time for a second has received nothing in that second, even if
 * clients sent requests.
 */
const stepMs = 50;

/**
 * Stops an HTTP server without breaking requests.
 *
 * Node's own `close` closes idle connections immediately. But a busy client's keep-alive connection is idle between two
 * requests, and a request sent at that moment would be lost. Connections that are not yet accepted would be lost too.
 * With this function, such requests get a response with `Connection: close`, and only connections that stay idle are
 * closed.
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
      // Close connections that have become idle since the shutdown began, because nothing else closes them. Node.js
      // does not treat a connection without any request as idle.
      if (underWay.all().length > 0) server.closeIdleConnections();
      else server.closeAllConnections();
    }, stepMs);
    const cut = setTimeout(() => server.closeAllConnections(), timeoutMs);
    // Only stop listening. The HTTP server's own `close` would also close idle connections.
    await new Promise<void>((resolve) => NetServer.prototype.close.call(server, () => resolve()));
    clearInterval(steps);
    clearTimeout(cut);
  }

  /** All responses share this listener. `once`, or a closure for each response, would take time on every request. */
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
 * Accepts pending connections. The event loop accepts one connection per iteration. When a server stops listening,
 * connections that are still pending are reset.
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

interface SlotMap<T> {
  /** @returns the slot. The item occupies it until `release` is called. */
  take(thing: T): number;
  release(slot: number): void;
  all(): T[];
}

/**
 * Creates a replacement for a `Set`. A `Set` replaces its internal table after every few dozen insertions, and V8 keeps
 * copying the contents of replaced tables in the old generation until that generation is collected. In the gateway, a
 * `Set` of requests took a quarter of the time.
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
