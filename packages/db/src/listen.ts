// Receives PostgreSQL notifications (LISTEN) on a separate connection, and detects when they stop arriving.

import { randomUUID } from 'node:crypto';
import { setImmediate as immediate, setTimeout as sleep } from 'node:timers/promises';
import type { Stoppable } from '@millrace/runtime';
import pg from 'pg';
import type { ReadClientConfig } from './open-pool.ts';
import { endConnection } from './pg-internals/end-connection.ts';

export interface ListenOptions {
  /** The channel name, which can contain only letters, digits and underscores. */
  channel: string;
  onMessage(payload: string): void;
  /** Called each time listening starts. Notifications before the start may have been missed. Must not throw. */
  onStart(): void;
  /**
   * Called when listening ends or cannot start, but at most once until it starts again. The listener then reconnects
   * automatically. Must not throw.
   */
  onInterrupted(error: Error): void;
}

export interface ListenConnections {
  config: ReadClientConfig;
  notify(channel: string, payload: string): Promise<unknown>;
  pingEveryMs?: number;
}

export interface Listener extends Stoppable {
  /**
   * Returns whether notifications arrive, as far as the listener knows. It notices a connection that was lost without
   * an error within three seconds.
   */
  isListening(): boolean;
}

const firstDelayMs = 100;
const longestDelayMs = 1000;
/**
 * The delay before reconnecting if the echo did not arrive. The delay is long because a pooler does not change its mode
 * within seconds.
 */
const afterNoEchoMs = 30_000;
const usualPingEveryMs = 1000;
const responseTimeoutMs = 2000;
const echoPrefix = 'echo ';

/**
 * Listens to a PostgreSQL channel on a separate connection, and reconnects until it is stopped. It regularly sends a
 * notification over another connection and waits for its echo, because a pooler in transaction mode accepts LISTEN but
 * never delivers anything.
 * @param notify a function that sends a notification over another connection
 * @param pingEveryMs the time between two echo checks
 */
export function listen(
  { channel, onMessage, onStart, onInterrupted }: ListenOptions,
  { config, notify, pingEveryMs = usualPingEveryMs }: ListenConnections,
): Listener {
  const stopping = new AbortController();
  let isListening = false;
  let wasReported = false;

  async function listenAgainAndAgain(): Promise<void> {
    for (let delayMs = firstDelayMs; !stopping.signal.aborted; delayMs = Math.min(2 * delayMs, longestDelayMs)) {
      const began = performance.now();
      const error = await listenOnce().catch((thrown: Error) => thrown);
      isListening = false;
      if (stopping.signal.aborted || error === undefined) return;
      if (!wasReported) onInterrupted(error);
      wasReported = true;
      // The connection worked for a while, so the next retry uses the shortest delay.
      if (performance.now() - began > afterNoEchoMs) delayMs = firstDelayMs;
      await pause(error instanceof NoEcho ? afterNoEchoMs : delayMs);
    }
  }

  async function listenOnce(): Promise<void> {
    const client = new pg.Client({ ...config(), query_timeout: responseTimeoutMs });
    const lost = new AbortController();
    client.on('error', (error) => lost.abort(error));
    client.on('end', () => lost.abort(new Error('The connection to PostgreSQL was closed.')));
    const over = AbortSignal.any([stopping.signal, lost.signal]);
    const received = new Set<string>();
    client.on('notification', ({ payload = '' }) => {
      if (payload.startsWith(echoPrefix)) received.add(payload);
      else onMessage(payload);
    });
    try {
      await client.connect();
      await client.query(`LISTEN ${channel}`);
      const echo = `${echoPrefix}${randomUUID()}`;
      await notify(channel, echo);
      await untilReceived(echo, received, over);
      lost.signal.throwIfAborted();
      if (stopping.signal.aborted) return;
      isListening = true;
      wasReported = false;
      onStart();
      while (!stopping.signal.aborted) {
        await client.query('SELECT 1');
        received.clear();
        await pauseFor(pingEveryMs, over);
        lost.signal.throwIfAborted();
      }
    } finally {
      await endConnection(client);
    }
  }

  const pause = (ms: number) => pauseFor(ms, stopping.signal);

  const running = listenAgainAndAgain();
  return {
    isListening: () => isListening,
    async stop() {
      stopping.abort();
      await running;
    },
  };
}

/** Waits until the echo notification arrives. @throws NoEcho if it does not arrive in time */
async function untilReceived(echo: string, received: ReadonlySet<string>, signal: AbortSignal): Promise<void> {
  const deadline = performance.now() + responseTimeoutMs;
  while (!received.has(echo)) {
    if (signal.aborted) return;
    const isLate = performance.now() > deadline;
    // Before giving up, read notifications that have already arrived, because this process may have been blocked.
    await (isLate ? immediate() : pauseFor(10, signal));
    if (isLate && !received.has(echo)) throw new NoEcho();
  }
}

const pauseFor = (ms: number, signal: AbortSignal) => sleep(ms, undefined, { signal, ref: false }).catch(() => {});

class NoEcho extends Error {
  override readonly name = 'NoEcho';
  constructor() {
    super('PostgreSQL accepts LISTEN, but no notification arrives. Check for a connection pooler in transaction mode.');
  }
}
