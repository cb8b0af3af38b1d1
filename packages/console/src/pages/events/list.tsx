// The list of stored events, newest first.

import { Link } from '@tanstack/react-router';
import { Fragment, useEffect, useRef } from 'react';
import { escapeInvisible } from '../../event-detail/json-text.ts';
import { findPersonName } from '../../event-detail/person-name.tsx';
import { formatValue, summarizeProperties } from '../../event-detail/summary.ts';
import { formatPropertyName } from '../../parts/properties.ts';
import { formatClock, formatDay } from '../../parts/time.ts';
import { text } from './words.ts';

export interface ListedEvent {
  uuid: string;
  event: string;
  distinct_id: string;
  timestamp: string;
  properties: Record<string, unknown>;
  person: { uuid: string; properties: Record<string, unknown> };
}

/** Lists events with a heading for each day. Clicking a row or its link opens the event. */
export function EventList({
  events,
  zone,
  columns,
  open,
  caption,
  addressOf,
  onOpen,
}: {
  events: readonly ListedEvent[];
  zone: string;
  columns: readonly string[];
  open: string;
  caption: string;
  /** Returns the URL parameters that open an event. */
  addressOf: (uuid: string) => Record<string, string>;
  onOpen: (uuid: string) => void;
}) {
  const openRow = useRef<HTMLTableRowElement>(null);
  // biome-ignore lint/correctness/useExhaustiveDependencies: runs when another row is opened
  useEffect(() => {
    // In newer browsers, `scrollIntoView` returns a promise. The braces prevent the effect from returning it to React.
    openRow.current?.scrollIntoView({ block: 'nearest' });
  }, [open]);
  return (
    <table className="table events">
      <caption className="only-heard">{caption}</caption>
      <thead className="events-head">
        <tr>
          <th scope="col">{text.heads.time}</th>
          <th scope="col">{text.heads.event}</th>
          <th scope="col">{text.heads.person}</th>
          <th scope="col" className="events-from">
            {text.heads.from}
          </th>
          {columns.map((name) => (
            <th scope="col" key={name} className="events-more" title={escapeInvisible(name)}>
              {escapeInvisible(formatPropertyName(name))}
            </th>
          ))}
          <th scope="col" className="events-more">
            {text.heads.properties}
          </th>
        </tr>
      </thead>
      <tbody>
        {events.map((event, at) => {
          const day = formatDay(event.timestamp, zone);
          const before = events[at - 1];
          const isOpen = event.uuid === open;
          return (
            <Fragment key={event.uuid}>
              {(before === undefined || formatDay(before.timestamp, zone) !== day) && (
                <tr className="events-day">
                  <th scope="colgroup" colSpan={5 + columns.length}>
                    {day}
                  </th>
                </tr>
              )}
              <tr
                ref={isOpen ? openRow : null}
                data-open={isOpen || undefined}
                onClick={({ target }) => {
                  if (!(target as Element).closest('a')) onOpen(event.uuid);
                }}
              >
                <td className="mono events-time">{formatClock(event.timestamp, zone)}</td>
                <td className="events-name">
                  <Link
                    to="."
                    search={addressOf(event.uuid) as never}
                    preload={false}
                    className="cut"
                    data-row={event.uuid}
                    {...(isOpen && { 'aria-current': 'true' as const })}
                  >
                    {escapeInvisible(event.event.slice(0, 200))}
                  </Link>
                </td>
                <td className="events-person">
                  <div className="cut">
                    {escapeInvisible(findPersonName(event.person.properties) || event.distinct_id.slice(0, 200))}
                  </div>
                </td>
                <td className="mono quiet events-from">
                  <div className="cut">{formatValue(event.properties.$lib)}</div>
                </td>
                {columns.map((name) => (
                  <td key={name} className="mono events-more events-column">
                    <div className="cut">{formatValue(event.properties[name])}</div>
                  </td>
                ))}
                <td className="events-more events-summary">
                  <div className="cut quiet">{summarizeProperties(event.properties)}</div>
                </td>
              </tr>
            </Fragment>
          );
        })}
      </tbody>
    </table>
  );
}
