// The Health page's tables of Kafka topics, running services and ClickHouse copies.

import type { ReactNode } from 'react';
import type { Health, useHealth } from '../../api/queries.ts';
import { formatAgo } from '../../parts/ago.ts';
import { QueryContent } from '../../parts/states.tsx';
import { formatTime } from '../../parts/time.ts';
import { formatNumber, words } from '../../words.ts';
import { text } from './words.ts';

type Query = ReturnType<typeof useHealth>;

export function TopicTable({ health, zone }: { health: Query; zone: string }) {
  const { heads, about, names, nothing, unknown, never, title, hint } = text.topics;
  return (
    <Part title={title} hint={hint} health={health} source="log">
      {({ topics, alarm }) => (
        <div className="health-scroll">
          <table className="table" aria-label={title}>
            <thead>
              <tr>
                <th scope="col">{heads.topic}</th>
                <th scope="col" className="number">
                  {heads.waiting}
                </th>
                <th scope="col" className="number">
                  {heads.oldest}
                </th>
                <th scope="col" className="number">
                  {heads.accepted}
                </th>
                <th scope="col">{heads.stored}</th>
              </tr>
            </thead>
            <tbody>
              {topics?.map((one) => {
                const isLate = alarm !== null && (one.oldest_seconds ?? 0) > alarm.threshold_seconds;
                return (
                  <tr key={one.topic}>
                    <td>
                      <strong>{names[one.topic] ?? one.topic}</strong>{' '}
                      <span className="quiet health-about">{about[one.topic]}</span>
                    </td>
                    <td className="number">{formatNumber(one.waiting)}</td>
                    <td className={isLate ? 'number warn' : 'number'}>
                      {one.waiting === 0
                        ? nothing
                        : one.oldest_seconds === null
                          ? unknown
                          : text.seconds(one.oldest_seconds)}
                    </td>
                    <td className="number">
                      {one.accepted_per_minute === null ? unknown : formatNumber(one.accepted_per_minute)}
                    </td>
                    <td className="quiet">
                      {one.read_at === null ? (
                        never
                      ) : (
                        <time dateTime={one.read_at} title={formatTime(one.read_at, zone)}>
                          {formatAgo(one.read_at)}
                        </time>
                      )}
                    </td>
                  </tr>
                );
              })}
            </tbody>
          </table>
        </div>
      )}
    </Part>
  );
}

/** Age, in seconds, from which a ClickHouse copy is shown as out of date. A copy is normally about ten seconds old. */
const staleSeconds = 60;

export function ServiceTable({ health }: { health: Query }) {
  const { title, hint, version, names, connected, absent, withoutSqlRole } = text.services;
  return (
    <Part title={title} hint={hint} health={health} source="services">
      {(data) => (
        <>
          <ul className="health-services">
            {data.services?.map(({ name, connections }) => (
              <li key={name}>
                <span className={connections > 0 ? 'dot good' : 'dot warn'} />
                <strong className="grow">{names[name] ?? name}</strong>
                <span className={connections > 0 ? 'quiet' : 'warn'}>
                  {connections > 0 ? connected(connections) : absent}
                </span>
              </li>
            ))}
          </ul>
          <p className="hint">{version(data.version)}</p>
          {data.clickhouse && <CopyAges {...data.clickhouse} />}
          {data.sql_role === false && <p className="hint warn">{withoutSqlRole}</p>}
        </>
      )}
    </Part>
  );
}

/** Shows how old ClickHouse's copies of events and persons are. Queries read these copies. */
function CopyAges({ events_age_seconds: events, persons_age_seconds: persons }: NonNullable<Health['clickhouse']>) {
  const { copiedEvents, copiedPersons, personsOfPostgres } = text.services;
  const isStale = Math.max(events ?? 0, persons ?? 0) > staleSeconds;
  return (
    <p className={isStale ? 'hint warn' : 'hint'}>
      {events !== null && `${copiedEvents(text.seconds(events))} `}
      {persons === null ? personsOfPostgres : copiedPersons(text.seconds(persons))}
    </p>
  );
}

/** A section of the Health page, which is grayed out if its source is unavailable. */
function Part({
  title,
  hint,
  health,
  source,
  children,
}: {
  title: string;
  hint: string;
  health: Query;
  source: keyof Health['sources'];
  children: (data: Health) => ReactNode;
}) {
  return (
    <section className="panel health-part" aria-label={title}>
      <h2>{title}</h2>
      <p className="hint">{hint}</p>
      {/* Show an error only if the health data has never loaded. The health line above the page reports later errors. */}
      <QueryContent query={{ ...health, error: health.data ? null : health.error }} what={words.pages.health.title}>
        {(data) =>
          data.sources[source] === 'ok' ? (
            children(data)
          ) : (
            <p className="quiet" role="status" data-state="away">
              {text.away(data.sources[source])}
            </p>
          )
        }
      </QueryContent>
    </section>
  );
}
