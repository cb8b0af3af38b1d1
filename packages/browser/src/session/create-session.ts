import type { Client, Options } from '../client/client.ts';
import type { Emitter, Store } from '../client/core.ts';
import { newUuid } from '../page/new-uuid.ts';
import { createWindowId } from './create-window-id.ts';

export interface SessionState {
  sessionId: string;
  windowId: string;
  startedMs: number;
}

export interface Session {
  /** Of something the visitor does: keeps the session alive, or begins the next. */
  touch(nowMs?: number): SessionState;
  /** Of a mere question. */
  current(): SessionState;
  onSessionId: Client['onSessionId'];
  reset(nextId?: string | null): void;
}

const longestMs = 24 * 3600_000;
/** The time of the last activity is written no more often. */
const writtenEveryMs = 5000;

export function idleMsOf({ session_idle_timeout_seconds: seconds }: Options): number {
  return Math.min(36_000, Math.max(60, seconds || 1800)) * 1000;
}

/** `$sesid` of the store: `[last activity, id, start]`, shared by all tabs. */
export function createSession(options: Options, store: Store, signals: Emitter): Session {
  const windowIdOf = createWindowId(options);
  /** Undefined until the first one; empty after a reset. */
  let known: string | undefined;
  let nextId: string | null | undefined;

  const check = (nowMs: number, isActivity: boolean): SessionState => {
    const stored = store.get('$sesid');
    const [activeMs = 0, id, since] = (Array.isArray(stored) ? stored : []) as [number?, string?, number?];
    const noSessionId = !id;
    const activityTimeout = !noSessionId && isActivity && Math.abs(nowMs - activeMs) > idleMsOf(options);
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

/** When the session began, which its id (UUIDv7) says; undefined for another id. */
function startOf(id: unknown): number | undefined {
  const [, high, low] = /^([\da-f]{8})-([\da-f]{4})-7[\da-f]{3}-[89ab][\da-f]{3}-[\da-f]{12}$/i.exec(String(id)) ?? [];
  return high && low ? Number.parseInt(high + low, 16) : undefined;
}
