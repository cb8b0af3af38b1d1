import type { Options } from '../client/client.ts';
import type { Emitter, Log } from '../client/core.ts';
import { newUuid } from '../page/new-uuid.ts';
import type { WholeStore } from '../storage/create-store.ts';
import { createWindowId } from './create-window-id.ts';

export interface SessionState {
  sessionId: string;
  windowId: string;
  startedMs: number;
}

export interface SessionChange {
  noSessionId: boolean;
  activityTimeout: boolean;
  sessionPastMaximumLength: boolean;
}

export type SessionListener = (sessionId: string, windowId: string, change?: SessionChange) => void;

export interface Session {
  /** Of something the visitor does: keeps the session alive, or begins the next. */
  touch(nowMs?: number): SessionState;
  /** Of a mere question. */
  current(): SessionState;
  onChange(listener: SessionListener): () => void;
  reset(nextId?: string): void;
}

const longestMs = 24 * 3600_000;
/** The time of the last activity is written no more often. */
const writtenEveryMs = 5000;

export interface SessionParts {
  options: Options;
  store: WholeStore;
  signals: Emitter;
  log: Log;
}

/** `$sesid` of the store: `[last activity, id, start]`, shared by all tabs. */
export function createSession({ options, store, signals, log }: SessionParts): Session {
  const window = createWindowId(options);
  const listeners = new Set<SessionListener>();
  const idleMs = () => Math.min(36_000, Math.max(60, options.session_idle_timeout_seconds || 1800)) * 1000;
  let known = '';
  let activeMs = 0;
  let wasReset = false;
  let nextId: string | undefined;

  const read = () => {
    const said = store.get('$sesid');
    const [active, id, started] = Array.isArray(said) ? said : [];
    return { active: Math.max(Number(active) || 0, id === known ? activeMs : 0), id, started: Number(started) || 0 };
  };

  const check = (nowMs: number, isActivity: boolean): SessionState => {
    const { active, id, started } = read();
    const noSessionId = typeof id !== 'string' || id === '';
    const activityTimeout = !noSessionId && isActivity && Math.abs(nowMs - active) > idleMs();
    const sessionPastMaximumLength = !noSessionId && Math.abs(nowMs - started) > longestMs;
    const isNew = noSessionId || activityTimeout || sessionPastMaximumLength;
    const sessionId = isNew ? (nextId ?? newUuid(nowMs)) : id;
    const startedMs = isNew ? (startOf(nextId) ?? nowMs) : started;
    if (isNew) nextId = undefined;
    const windowId = window.id(isNew);
    const isChanged = sessionId !== known;
    const isFirst = known === '' && !wasReset;
    const isWritten = isNew || nowMs - active >= writtenEveryMs;
    if (isActivity || isNew) activeMs = nowMs;
    known = sessionId;
    if (isWritten && (isActivity || isNew)) store.set({ $sesid: [nowMs, sessionId, startedMs] });
    if (!isChanged) return { sessionId, windowId, startedMs };
    wasReset = false;
    if (!isFirst) signals.emit('session', { sessionId, windowId });
    const change = { noSessionId, activityTimeout, sessionPastMaximumLength };
    for (const listener of listeners) call(listener, [sessionId, windowId, change], log);
    return { sessionId, windowId, startedMs };
  };

  const { sessionID } = options.bootstrap;
  const bootstrapStart = startOf(sessionID);
  if (bootstrapStart !== undefined) store.set({ $sesid: [Date.now(), sessionID, bootstrapStart] });

  return {
    touch: (nowMs = Date.now()) => check(nowMs, true),
    current: () => check(Date.now(), false),
    onChange(listener) {
      listeners.add(listener);
      if (known) call(listener, [known, window.id(false)], log);
      return () => void listeners.delete(listener);
    },
    reset(id) {
      nextId = startOf(id) === undefined ? undefined : id;
      store.remove('$sesid');
      wasReset = true;
    },
  };
}

/** When the session began, which its id (UUIDv7) says; undefined for another id. */
function startOf(id: string | undefined): number | undefined {
  return typeof id === 'string' && /^[\da-f]{8}-[\da-f]{4}-7[\da-f]{3}-[89ab][\da-f]{3}-[\da-f]{12}$/i.test(id)
    ? Number.parseInt(id.replace('-', '').slice(0, 12), 16)
    : undefined;
}

function call(listener: SessionListener, detail: Parameters<SessionListener>, log: Log): void {
  try {
    listener(...detail);
  } catch (error) {
    log.error(error);
  }
}
