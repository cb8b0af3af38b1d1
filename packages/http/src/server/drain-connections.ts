import type { Server, ServerResponse } from 'node:http';
import { Server as NetServer } from 'node:net';
import { setImmediate as nextLoop, setTimeout as sleep } from 'node:timers/promises';

export interface ConnectionDrain {
  /** To be told of every request, before it is worked on. */
  note(response: ServerResponse): void;
  /**
   * Lets requests in progress finish and ends every connection with an answer that says so; takes new connections only
   * for `graceMs` more. Resolves when the last one is closed. Idempotent.
   */
  drain(): Promise<void>;
  isDraining(): boolean;
}

export interface DrainOptions {
  /** Connections that come for so long after stopping began are still served: balancers learn of it with a delay. */
  graceMs: number;
  /** So long after that, what is left is cut. */
  timeoutMs: number;
}

const slot = Symbol('slot');

type Noted = ServerResponse & { [slot]?: number | undefined };

/** A connection without a request is left alone until no request has come for so long: one may be on its way on it. */
const longestQuietMs = 500;
/**
 * Time is counted in steps of this length, each of which lets the process read what has arrived: a process that got no
 * processor for a second has not listened for a second, and must not take its silence for its clients'.
 */
const stepMs = 50;

/**
 * Stops an HTTP server without breaking a request. Node's own `close` cuts idle connections at once, and a kept-alive
 * connection is idle between two requests of a busy client: what the client sends in that moment would be lost, and so
 * would what waits to be accepted. Here it is answered, with `Connection: close`, and only what stays idle is cut.
 */
export function createConnectionDrain(server: Server, { graceMs, timeoutMs }: DrainOptions): ConnectionDrain {
  const underWay = createSlotMap<Noted>();
  let drained: Promise<void> | undefined;
  let quietMs = 0;

  async function drain(): Promise<void> {
    for (const response of underWay.all()) announceEnd(response);
    for (let gone = 0; gone < graceMs; gone += stepMs) await sleep(Math.min(stepMs, graceMs));
    if (graceMs > 0) await acceptWhatWaits(server, performance.now() + timeoutMs);
    const quietAtLeast = Math.min(graceMs, longestQuietMs);
    quietMs = 0;
    const steps = setInterval(() => {
      quietMs += stepMs;
      if (quietMs < quietAtLeast) return;
      // A connection whose answer had begun before stopping did is idle now, and nobody else would close it. One on which
      // no request ever came does not count as idle.
      if (underWay.all().length > 0) server.closeIdleConnections();
      else server.closeAllConnections();
    }, stepMs);
    const cut = setTimeout(() => server.closeAllConnections(), timeoutMs);
    // The net server's, which stops listening and nothing else.
    await new Promise<void>((resolve) => NetServer.prototype.close.call(server, () => resolve()));
    clearInterval(steps);
    clearTimeout(cut);
  }

  /** One for all responses: `once`, and a function for each of them, is paid for at every request. */
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

/** The event loop accepts one connection a turn; those that still wait when a server stops listening are reset. */
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

/** Things that are there for a short while, each in a slot it gives back when it goes. */
interface SlotMap<T> {
  /** @returns the slot taken. */
  take(thing: T): number;
  release(slot: number): void;
  all(): T[];
}

/**
 * Not a `Set`: one that much passes through outgrows its table every few dozen things, and what an outgrown table in V8's
 * old generation held is copied about as if it were in use until that generation is cleaned. A gateway spent a quarter of
 * its time on requests that were long answered.
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
