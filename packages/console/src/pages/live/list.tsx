// The list of live events, which can display many events per second.

import { useVirtualizer } from '@tanstack/react-virtual';
import { type KeyboardEvent, useEffect, useRef, useState } from 'react';
import { escapeInvisible } from '../../event-detail/json-text.ts';
import { formatValue, summarizeProperties } from '../../event-detail/summary.ts';
import { useProject } from '../../frame/project.ts';
import { usePageKeys } from '../../parts/keys.ts';
import { formatClock } from '../../parts/time.ts';
import { formatWarningType } from '../../words.ts';
import type { Row } from './use-live.ts';
import { text } from './words.ts';

const rowHeight = 34;
/**
 * Slightly longer than an animation frame. Rows open after a timer, because animation frames do not fire while the
 * window is hidden.
 */
const frameMs = 20;

interface ListProps {
  rows: readonly Row[];
  open: Row | null;
  onOpen: (row: Row | null) => void;
  onPause: () => void;
}

/**
 * Lists events with the newest first, and renders only the visible rows. The keys j, k, Enter, Esc and Space work while
 * the list has the focus.
 */
export function LiveEventList({ rows, open, onOpen, onPause }: ListProps) {
  const { timezone } = useProject();
  const box = useRef<HTMLDivElement>(null);
  const [current, setCurrent] = useState<string | null>(null);
  const virtual = useVirtualizer({
    count: rows.length,
    getScrollElement: () => box.current,
    estimateSize: () => rowHeight,
    overscan: 8,
    getItemKey: (at) => rows[at]?.key ?? at,
  });
  const openSoon = useAfterPaint(onOpen);
  const at = rows.findIndex(({ key }) => key === current);
  const drawn = virtual.getVirtualItems();
  const isCurrentDrawn = drawn.some(({ index }) => index === at);
  const move = (by: number) => {
    const next = rows[Math.max(0, Math.min(rows.length - 1, at + by))];
    if (!next) return;
    setCurrent(next.key);
    virtual.scrollToIndex(rows.indexOf(next));
    if (open) openSoon(next);
  };
  const moveFromPage = (by: number) => {
    box.current?.focus();
    move(by);
  };
  const close = () => openSoon(null);
  usePageKeys({ j: () => moveFromPage(1), k: () => moveFromPage(-1), Escape: close });
  const onKey = (event: KeyboardEvent) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key === 'j' || event.key === 'ArrowDown') move(1);
    else if (event.key === 'k' || event.key === 'ArrowUp') move(-1);
    else if (event.key === 'Enter') openSoon(rows[at] ?? null);
    else if (event.key === 'Escape') close();
    else if (event.key === ' ') onPause();
    else return;
    event.preventDefault();
  };
  return (
    <div className="list">
      <div className="live-row live-head" aria-hidden="true">
        <span />
        <span className="cut" title={timezone}>
          {text.time(timezone)}
        </span>
        <span>{text.event}</span>
        <span>{text.person}</span>
        <span className="live-wide">{text.from}</span>
        <span className="live-wide">{text.properties}</span>
      </div>
      <Announcer rows={rows} />
      <div
        ref={box}
        className="live-rows"
        role="listbox"
        tabIndex={0}
        aria-label={text.listLabel}
        aria-activedescendant={isCurrentDrawn ? `live-${current}` : undefined}
        onKeyDown={onKey}
      >
        <div className="live-space" role="presentation" style={{ height: virtual.getTotalSize() }}>
          {drawn.map(({ index, start, key }) => {
            const row = rows[index];
            if (!row) return null;
            const isOpen = open?.key === row.key;
            return (
              // biome-ignore lint/a11y/useKeyWithClickEvents: the list handles the keys of its rows
              <div
                key={key}
                id={`live-${row.key}`}
                role="option"
                tabIndex={-1}
                aria-selected={isOpen || row.key === current}
                aria-setsize={rows.length}
                aria-posinset={index + 1}
                className={`live-row live-${row.message.outcome}${row.isNew ? ' live-new' : ''}`}
                style={{ transform: `translateY(${start}px)` }}
                onClick={() => {
                  setCurrent(row.key);
                  openSoon(isOpen ? null : row);
                }}
              >
                <Cells row={row} zone={timezone} />
              </div>
            );
          })}
        </div>
      </div>
    </div>
  );
}

/**
 * Opens an event after its row has been highlighted, because rendering the details takes longer than a frame. If the
 * user selects several rows within a frame, for example by holding down a key, only the last row opens.
 */
function useAfterPaint(onOpen: ListProps['onOpen']): ListProps['onOpen'] {
  const newest = useRef(onOpen);
  newest.current = onOpen;
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  return (row) => {
    clearTimeout(timer.current);
    timer.current = setTimeout(() => newest.current(row), frameMs);
  };
}

function Cells({ row: { message, time }, zone }: { row: Row; zone: string }) {
  return (
    <>
      <span className={`dot ${message.outcome === 'stored' ? 'good' : message.outcome === 'changed' ? 'warn' : 'bad'}`}>
        <span className="only-heard">{text.outcomes[message.outcome]}</span>
      </span>
      <span className="mono quiet">{formatClock(new Date(time).toISOString(), zone)}</span>
      <strong className="cut live-name">{escapeInvisible(message.event ?? text.noName)}</strong>
      <span className="cut">{escapeInvisible(message.distinct_id ?? '')}</span>
      <span className="cut mono quiet live-wide">{formatValue(message.properties.$lib)}</span>
      <span className="cut live-wide">
        {message.outcome === 'stored'
          ? summarizeProperties(message.properties)
          : formatWarningType(message.reason ?? '')}
      </span>
    </>
  );
}

/**
 * Announces the number of new events to screen readers at most every ten seconds, because announcing each event would
 * be too much.
 */
function Announcer({ rows }: { rows: readonly Row[] }) {
  const [announcement, setAnnouncement] = useState('');
  const newest = useRef(rows);
  newest.current = rows;
  useEffect(() => {
    let before = Date.now();
    const timer = setInterval(() => {
      const since = before;
      before = Date.now();
      const count = newest.current.filter(({ at }) => at > since).length;
      setAnnouncement(count === 0 ? '' : text.came(count));
    }, 10_000);
    return () => clearInterval(timer);
  }, []);
  return (
    <div role="log" aria-live="polite" className="only-heard">
      {announcement}
    </div>
  );
}
