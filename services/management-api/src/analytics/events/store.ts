// SQL that reads events and their current persons.

import type { Columns, Sql } from '@millrace/db';
import type { Condition } from '@millrace/insights';
import { createLargeRowReader, type KeyWindow } from '../../sql/large-page.ts';
import type { TimePosition, TimeRange, TimeSpan } from '../../time/time-range.ts';
import { distinctIdBytes } from '../distinct-ids/distinct-id-store.ts';

/**
 * A stored event. The person columns contain the values at the time of storage. The API shows them only if the event's
 * distinct ID currently has no person.
 */
export interface EventRow
  extends Columns<'event', 'uuid' | 'event' | 'distinct_id' | 'timestamp' | 'elements_chain' | 'person_id'> {
  properties: Record<string, unknown>;
  person_properties: Record<string, unknown>;
}

export type EventWithTimes = EventRow & Columns<'event', 'captured_at' | 'created_at'>;

export interface EventFilter extends TimeRange {
  event?: string;
  distinct_id?: string;
  person_id?: string;
  /** A condition on properties, or null for all events. */
  properties: Condition | null;
}

export interface EventWindow extends KeyWindow<TimePosition> {
  isOldestFirst: boolean;
}

const columns =
  'e.uuid, e.event, e.distinct_id, e.timestamp, e.properties, e.elements_chain, e.person_id, e.person_properties';

export const intervals = ['minute', 'hour', 'day'] as const;
export type Interval = (typeof intervals)[number];

/** Finds the start times of the intervals that overlap a time range in a time zone. @returns milliseconds since 1970 */
export async function findIntervalStarts(
  sql: Sql,
  { after, before }: TimeSpan,
  { interval, timeZone }: { interval: Interval; timeZone: string },
): Promise<number[]> {
  const starts =
    interval === 'day'
      ? `SELECT local AT TIME ZONE $1::text AS start
           FROM generate_series(date_trunc('day', $2::timestamptz AT TIME ZONE $1::text),
                                $3::timestamptz AT TIME ZONE $1::text, '1 day') AS local`
      : `SELECT start
           FROM generate_series(date_trunc('${interval}', $2::timestamptz, $1::text), $3::timestamptz,
                                '1 ${interval}') AS start`;
  const rows = await sql.query<{ start_ms: number }>(
    `SELECT DISTINCT (extract(epoch FROM start) * 1000)::float8 AS start_ms FROM (${starts}) AS planned
      WHERE start < $3::timestamptz ORDER BY 1`,
    [timeZone, after, before],
  );
  return rows.map(({ start_ms }) => start_ms);
}

/**
 * SQL that estimates the size of an event in a response. The response contains the elements twice: as a string and
 * parsed. The size includes the current person, because the person may be much larger than the event.
 */
const eventBytes = `octet_length(e.properties::text) + 5 * octet_length(e.elements_chain) + 500
  + coalesce((SELECT octet_length(p.properties::text) + ${distinctIdBytes('p.project_id', 'p.uuid')}
                FROM person_distinct_id d JOIN person p ON p.project_id = d.project_id AND p.uuid = d.person_uuid
               WHERE d.project_id = e.project_id AND d.distinct_id = e.distinct_id LIMIT 1),
             octet_length(e.person_properties::text))`;

export const readEvents = createLargeRowReader<TimePosition, EventRow>({
  key: { timestamp: 'timestamptz', id: 'uuid' },
  row: (of) =>
    `FROM event e WHERE e.project_id = $1::int AND e.timestamp = ${of('timestamp')} AND e.uuid = ${of('id')}`,
  columns,
  bytes: eventBytes,
});

interface EventPersonRow {
  distinct_id: string;
  uuid: string;
  main_distinct_id: string;
  properties: Record<string, unknown>;
}

/** Returns the current persons of these distinct IDs. Omits distinct IDs without a person. */
export async function listPersonsOfDistinctIds(
  sql: Sql,
  projectId: number,
  distinctIds: string[],
): Promise<EventPersonRow[]> {
  return sql.query<EventPersonRow & Record<string, unknown>>(
    `SELECT d.distinct_id, p.uuid, p.main_distinct_id, p.properties
       FROM person_distinct_id d
       JOIN person p ON p.project_id = d.project_id AND p.uuid = d.person_uuid
      WHERE d.project_id = $1 AND d.distinct_id = ANY ($2::text[])`,
    [projectId, distinctIds],
  );
}

/**
 * Reads one event. `event_identity` contains the event's time, so PostgreSQL reads only one monthly partition, by
 * primary key.
 */
export async function readEvent(sql: Sql, projectId: number, uuid: string): Promise<EventWithTimes | undefined> {
  const rows = await sql.query<EventWithTimes & Record<string, unknown>>(
    `SELECT ${columns}, e.captured_at, e.created_at
       FROM event_identity i
      CROSS JOIN LATERAL (SELECT * FROM event e
                           WHERE e.project_id = i.project_id AND e.timestamp = i.timestamp AND e.uuid = i.uuid LIMIT 1) AS e
      WHERE i.project_id = $1::int AND i.uuid = $2::uuid`,
    [projectId, uuid],
  );
  return rows[0];
}

/** Returns an event's time, even after PostgreSQL has deleted the event itself. */
export async function readTimeOfEvent(sql: Sql, projectId: number, uuid: string): Promise<Date | undefined> {
  const rows = await sql.query<{ timestamp: Date }>(
    'SELECT timestamp FROM event_identity WHERE project_id = $1::int AND uuid = $2::uuid',
    [projectId, uuid],
  );
  return rows[0]?.timestamp;
}

/** Reads the approximate response sizes of persons by distinct ID. Omits distinct IDs without a person. */
export async function readPersonSizes(
  sql: Sql,
  projectId: number,
  distinctIds: string[],
): Promise<Map<string, number>> {
  const rows = await sql.query<{ distinct_id: string; bytes: number }>(
    `SELECT d.distinct_id, (octet_length(p.properties::text) + ${distinctIdBytes('p.project_id', 'p.uuid')})::float8 AS bytes
       FROM person_distinct_id d JOIN person p ON p.project_id = d.project_id AND p.uuid = d.person_uuid
      WHERE d.project_id = $1 AND d.distinct_id = ANY ($2::text[])`,
    [projectId, distinctIds],
  );
  return new Map(rows.map(({ distinct_id, bytes }) => [distinct_id, bytes]));
}
