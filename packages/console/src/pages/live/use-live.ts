// Receives a project's live events, and keeps the latest thousand for the page.

import { useEffect, useRef, useState } from 'react';
import type { Query } from '../../api/request.ts';
import type { LiveMessage } from './messages.ts';
import { joinLiveStream, type StreamState } from './shared-stream.ts';

/** Maximum number of rows in memory. Older events are available on the Events page. */
const maxRows = 1000;
const beatMs = 300;
const hiddenPatienceMs = 60_000;

export interface Row {
  key: string;
  message: LiveMessage;
  /** Time when the message arrived, according to the local clock. */
  at: number;
  /** Time that the list shows and sorts by. */
  time: number;
  isNew: boolean;
}

export interface Live {
  rows: readonly Row[];
  state: StreamState;
  /** Reason why the stream does not contain stored events. Null if it contains them. */
  why: string | null;
  /** Number of messages that the server has skipped, because the page could not keep up. */
  missed: number;
  wasAway: boolean;
  /** The data that the server currently cannot read. Null if all data is available. */
  trouble: string | null;
  /** Fraction of all events that the stream contains. Less than 1 if the stream is sampled. */
  share: number;
  waiting: number;
}

const empty: Live = {
  rows: [],
  state: { kind: 'connecting' },
  why: null,
  missed: 0,
  wasAway: false,
  trouble: null,
  share: 1,
  waiting: 0,
};

/**
 * Receives a project's live events. Updates are batched. While the list is paused, new events are only counted. If the
 * tab is hidden for more than a minute, the stream closes, and the page reports this when the tab is visible again.
 */
export function useLiveEvents(path: string, query: Query, isPaused: boolean): Live {
  const [live, setLive] = useState<Live>(empty);
  const waiting = useRef<Row[]>([]);
  const skipped = useRef(0);
  const paused = useRef(isPaused);
  paused.current = isPaused;
  const isVisible = useIsVisible();
  const key = JSON.stringify([path, query]);
  // biome-ignore lint/correctness/useExhaustiveDependencies: runs when the key changes
  useEffect(() => {
    waiting.current = [];
    setLive(empty);
  }, [key]);
  // biome-ignore lint/correctness/useExhaustiveDependencies: the key contains path and query
  useEffect(() => {
    if (!isVisible) {
      setLive((now) => ({ ...now, wasAway: now.rows.length > 0 || now.state.kind === 'open' }));
      return undefined;
    }
    let count = 0;
    const seen = new Set<string>();
    const leave = joinLiveStream(path, query, {
      state: (state) => setLive((now) => ({ ...now, state, ...(state.kind === 'open' && { trouble: null }) })),
      from: (from) => {
        if (from.kind === 'hello') setLive((now) => ({ ...now, why: from.stored ? null : from.why }));
        if (from.kind === 'gap') setLive((now) => ({ ...now, missed: now.missed + from.missed }));
        if (from.kind === 'trouble') setLive((now) => ({ ...now, trouble: from.detail }));
        if (from.kind === 'lag') setLive((now) => (now.trouble === null ? now : { ...now, trouble: null }));
        if (from.kind === 'share') setLive((now) => ({ ...now, share: from.share }));
        if (from.kind !== 'event') return;
        const { uuid, outcome } = from.message;
        const name = `${uuid ?? ''} ${outcome} ${from.message.reason ?? ''}`;
        if (uuid !== null && seen.has(name)) return;
        seen.add(name);
        if (seen.size > 4 * maxRows) seen.clear();
        count += 1;
        waiting.current.push({
          key: `${uuid ?? 'none'}-${outcome}-${count}`,
          message: from.message,
          at: Date.now(),
          time: getMessageTime(from.message),
          isNew: true,
        });
        if (waiting.current.length > maxRows) waiting.current.shift();
        if (paused.current) skipped.current += 1;
      },
    });
    const beat = setInterval(() => {
      if (paused.current)
        setLive((now) => (now.waiting === skipped.current ? now : { ...now, waiting: skipped.current }));
      else if (waiting.current.length > 0) {
        const came = waiting.current.splice(0).reverse();
        skipped.current = 0;
        setLive((now) => ({
          ...now,
          waiting: 0,
          rows: sortNewestFirst([...came, ...now.rows.map(old)]).slice(0, maxRows),
        }));
      }
    }, beatMs);
    return () => {
      leave();
      clearInterval(beat);
    };
  }, [key, isVisible]);
  return live;
}

export const getMessageTime = ({ stored_at: storedAt, timestamp }: LiveMessage) => Date.parse(storedAt ?? timestamp);

/**
 * Sorts rows by time, newest first. The sort is stable, so rows with the same time remain in order of arrival, latest
 * first.
 */
export const sortNewestFirst = (rows: readonly Row[]) => rows.toSorted((one, other) => other.time - one.time);

const old = (row: Row): Row => (row.isNew ? { ...row, isNew: false } : row);

/** Returns whether the tab is visible or was visible within the last minute. */
function useIsVisible(): boolean {
  const [isVisible, setVisible] = useState(true);
  useEffect(() => {
    let timer: ReturnType<typeof setTimeout> | undefined;
    const look = () => {
      clearTimeout(timer);
      if (document.hidden) timer = setTimeout(() => setVisible(false), hiddenPatienceMs);
      else setVisible(true);
    };
    document.addEventListener('visibilitychange', look);
    return () => {
      clearTimeout(timer);
      document.removeEventListener('visibilitychange', look);
    };
  }, []);
  return isVisible;
}
