// Prints sessions, which are not stored. A session is computed from the events whose property `$session_id` is its ID.

import { positionKeyLength } from '../../event-store/dialect.ts';
import { type Fragment, sql } from '../../event-store/sql.ts';
import { isView, shortestStayMs } from '../../event-store/web.ts';
import type { TimeBound } from '../tree.ts';
import type { Printing } from './context.ts';

/** Prints an event's session ID, which is null if the event does not belong to a session. */
const sessionOfEvent = ({ dialect }: Printing): Fragment =>
  sql`nullif(${dialect.text({ of: 'event', key: '$session_id' })}, '')`;

/**
 * Prints a subquery that computes the sessions of the project, with the alias `ss`.
 * @param names the columns that are read
 */
export function sessionsText(names: readonly string[], bounds: readonly TimeBound[], printing: Printing): Fragment {
  const { dialect, projectId } = printing;
  const computed = names.filter((name) => name !== 'session_id');
  const columns = computed.map((name) => sql`${aggregateOf(name, printing)} AS ${alias(name)}`);
  const id = sessionOfEvent(printing);
  const tests = [sql`${id} IS NOT NULL`, ...bounds.flatMap((bound) => boundText(bound, printing))];
  return sql`(SELECT ${sql.join([sql`${id} AS session`, ...columns], ', ')} FROM ${dialect.events}
    WHERE e.project_id = ${sql.int(projectId)} AND ${sql.join(tests, ' AND ')} GROUP BY 1) AS ss`;
}

export const sessionJoin = (names: readonly string[], bounds: readonly TimeBound[], printing: Printing): Fragment =>
  sql`LEFT JOIN ${sessionsText(names, bounds, printing)} ON ss.session = ${sessionOfEvent(printing)}`;

/** Prints a column of the subquery of `sessionsText`. */
export const sessionColumn = (name: string): Fragment =>
  name === 'session_id' ? sql`ss.session` : sql`ss.${alias(name)}`;

const all = [
  'distinct_id',
  '$start_timestamp',
  '$end_timestamp',
  '$session_duration',
  '$pageview_count',
  '$autocapture_count',
  '$screen_count',
  '$entry_current_url',
  '$end_current_url',
  '$entry_referring_domain',
  '$entry_utm_source',
  '$entry_utm_medium',
  '$entry_utm_campaign',
  '$entry_utm_term',
  '$entry_utm_content',
  '$is_bounce',
  '$num_uniq_urls',
];

function alias(name: string): Fragment {
  if (!all.includes(name)) throw new Error(`A session has no column ${name}.`);
  return sql.numbered('t', all.indexOf(name));
}

/** A session lasts at most one day, so its events are at most one day before or after any time within it. */
function boundText({ comparator, value }: TimeBound, { expression, isPostgres }: Printing): Fragment[] {
  const day = isPostgres ? sql`interval '24 hours'` : sql`INTERVAL 86400 SECOND`;
  const time = expression(value);
  const [least, most] = [sql`e.timestamp >= ${time} - ${day}`, sql`e.timestamp <= ${time} + ${day}`];
  return [...(comparator.startsWith('<') ? [] : [least]), ...(comparator.startsWith('>') ? [] : [most])];
}

function aggregateOf(name: string, printing: Printing): Fragment {
  const { dialect, isPostgres } = printing;
  const int = (value: Fragment) => (isPostgres ? sql`(${value})::int8` : sql`toInt64(${value})`);
  const count = (test: Fragment) => sql`count(CASE WHEN ${test} THEN 1 END)`;
  const ms = dialect.millis(sql`e.timestamp`);
  const url = dialect.text({ of: 'event', key: '$current_url' });
  switch (name) {
    case 'distinct_id':
      return sql`substring(max(${dialect.inByteOrder(sql`${dialect.positionKey} || e.distinct_id`)}), ${sql.int(positionKeyLength + 1)})`;
    case '$start_timestamp':
      return sql`min(e.timestamp)`;
    case '$end_timestamp':
      return sql`max(e.timestamp)`;
    case '$session_duration':
      return int(sql`floor(max(${ms}) / 1000) - floor(min(${ms}) / 1000)`);
    case '$pageview_count':
    case '$autocapture_count':
    case '$screen_count':
      return int(count(sql`e.event = ${sql.text(name.replace('_count', ''))}`));
    case '$num_uniq_urls':
      return int(sql`count(DISTINCT CASE WHEN ${isView} THEN ${url} END)`);
    case '$is_bounce': {
      const isShort = sql`max(${ms}) - min(${ms}) < ${sql.int(shortestStayMs)}`;
      const isBounce = sql`${count(isView)} = 1 AND ${count(sql`e.event = '$autocapture'`)} = 0 AND ${isShort}`;
      const bounce = sql`CASE WHEN ${count(isView)} > 0 THEN ${isBounce} END`;
      return isPostgres ? bounce : sql`CAST(${bounce} AS Nullable(Bool))`;
    }
    default: {
      const [, end, key = ''] = /^\$(entry|end)_(.*)$/.exec(name) ?? [];
      return ofView(end === 'end' ? 'last' : 'first', key.startsWith('utm_') ? key : `$${key}`, printing);
    }
  }
}

/** Prints a property of the first or the last page view of a session. */
function ofView(which: 'first' | 'last', key: string, { dialect }: Printing): Fragment {
  const value = sql`coalesce('1' || ${dialect.text({ of: 'event', key })}, '0')`;
  const place = dialect.inByteOrder(sql`CASE WHEN ${isView} THEN ${dialect.positionKey} || ${value} END`);
  const found = which === 'first' ? sql`min(${place})` : sql`max(${place})`;
  const isSet = sql`substring(${found}, ${sql.int(positionKeyLength + 1)}, 1) = '1'`;
  return sql`CASE WHEN ${isSet} THEN substring(${found}, ${sql.int(positionKeyLength + 2)}) END`;
}
