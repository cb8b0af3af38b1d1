// Groups the events of a visit into a session, which ends after a period without activity.

import type { Client, Options } from './client/client.ts';
import type { Emitter, Store } from './client/core.ts';
import { attempt, page } from './page/globals.ts';
import { createTabStorage } from './storage/text-storage.ts';
import { newUuid } from './values.ts';

interface SessionState {
  sessionId: string;
  windowId: string;
  startedMs: number;
}

export interface Session {
  /** Records visitor activity. Continues the session or starts a new one. */
  touch(nowMs?: number): SessionState;
  /** Reads the session without extending it. */
  current(): SessionState;
  onSessionId: Client['onSessionId'];
  reset(nextId?: string | null): void;
}

const longestMs = 24 * 3600_000;
/** Minimum interval between two writes of the last activity time. */
const writtenEveryMs = 5000;

export function readIdleMs({ session_idle_timeout_seconds: seconds }: Options): number {
  return Math.min(36_000, Math.max(60, seconds || 1800)) * 1000;
}

/** Manages the session, which all tabs share. It is stored in `$sesid` as `[last activity, ID, start]`. */
export function createSession(options: Options, store: Store, signals: Emitter): Session {
  const windowIdOf = createWindowId(options);
  /** Session ID. Undefined before the first session, and empty after a reset. */
  let known: string | undefined;
  let nextId: string | null | undefined;

  const check = (nowMs: number, isActivity: boolean): SessionState => {
    const stored = store.get('$sesid');
    const [activeMs = 0, id, since] = (Array.isArray(stored) ? stored : []) as [number?, string?, number?];
    const noSessionId = !id;
    const activityTimeout = !noSessionId && isActivity && Math.abs(nowMs - activeMs) > readIdleMs(options);
    const sessionPastMaximumLength = !noSessionId && Math.abs(nowMs - (since ?? activeMs)) > longestMs;
    const isNew = noSessionId || activityTimeout || sessionPastMaximumLength;
    const sessionId = isNew ? (nextId ?? newUuid(nowMs)) : id;
    const startedMs = isNew ? (startOf(nextId) ?? nowMs) : (since ?? activeMs);
    const windowId = windowIdOf(isNew);
    if (isNew || (isActivity && Math.abs(nowMs - activeMs) >= writtenEveryMs))
      store.set({ $sesid: [nowMs, sessionId, startedMs] });
    const former = known;
    known = sessionId;
    if (isNew) nextId = undefined;
    if (sessionId !== former) {
      if (former !== undefined) signals.emit('session', { sessionId, windowId });
      const change = { noSessionId, activityTimeout, sessionPastMaximumLength };
      signals.emit('sessionId', [sessionId, windowId, change]);
    }
    return { sessionId, windowId, startedMs };
  };
  const current = () => check(Date.now(), false);

  const { sessionID } = options.bootstrap;
  const bootstrapMs = startOf(sessionID);
  if (bootstrapMs) store.set({ $sesid: [Date.now(), sessionID, bootstrapMs] });

  return {
    touch: (nowMs = Date.now()) => check(nowMs, true),
    current,
    onSessionId(listener) {
      const { sessionId, windowId } = current();
      listener(sessionId, windowId);
      return signals.on('sessionId', (detail) => listener(...detail));
    },
    reset(id) {
      nextId = startOf(id) === undefined ? undefined : id;
      known = '';
      store.remove('$sesid');
    },
  };
}

/** Returns the session's start time if the ID is a UUIDv7, which contains the time. Otherwise, returns undefined. */
function startOf(id: unknown): number | undefined {
  const [, high, low] = /^([\da-f]{8})-([\da-f]{4})-7[\da-f]{3}-[89ab][\da-f]{3}-[\da-f]{12}$/i.exec(String(id)) ?? [];
  return high && low ? Number.parseInt(high + low, 16) : undefined;
}

/**
 * Creates window IDs. A page reload keeps the ID, and a new session replaces it. A tab sets a flag in its storage, and
 * deletes the flag when the visitor leaves the page. A duplicated tab therefore detects the original tab's flag and
 * creates a new ID.
 */
function createWindowId({ persistence, persistence_name, token }: Options): (isNew: boolean) => string {
  const storage = createTabStorage(persistence);
  const name = `ph_${persistence_name || token}_`;
  const [idName, mark] = [`${name}window_id`, `${name}primary_window_exists`];
  let id = storage.read(mark) ? undefined : attempt<unknown>(() => JSON.parse(storage.read(idName) ?? 'null'));
  storage.write(mark, 'true');
  page?.addEventListener('pagehide', () => storage.remove(mark));
  page?.addEventListener('pageshow', () => storage.write(mark, 'true'));
  return (isNew) => {
    if (isNew || typeof id !== 'string') {
      id = newUuid();
      storage.write(idName, JSON.stringify(id));
    }
    return id as string;
  };
}
