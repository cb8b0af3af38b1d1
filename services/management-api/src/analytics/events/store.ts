// What is read of events, and of the persons they belong to now.

import { type Columns, type Sql, unprepared } from '@millrace/db';
import { type Conditions, createConditions } from '../../sql/conditions.ts';
import { type KeyWindow, largeRows, limitOf } from '../../sql/large-page.ts';
import type { TimePosition, TimeRange, TimeSpan } from '../../time/time-range.ts';
import { distinctIdBytes } from '../distinct-ids/distinct-id-store.ts';
import { propertyCondition } from '../property-filters/property-condition.ts';
import type { PropertyFilter } from '../property-filters/property-filter.ts';

/** The person is that as of ingestion, only shown when the distinct id belongs to nobody now. */
export interface EventRow
  extends Columns<'event', 'uuid' | 'event' | 'distinct_id' | 'timestamp' | 'elements_chain' | 'person_id'> {
  properties: Record<string, unknown>;
  person_properties: Record<string, unknown>;
}

/** Of one event it is also shown when it arrived and when it was written. */
export type EventWithTimes = EventRow & Columns<'event', 'captured_at' | 'created_at'>;

export interface EventFilter extends TimeRange {
  event?: string;
  distinct_id?: string;
  person_id?: string;
  properties: PropertyFilter[];
}

export interface EventWindow extends KeyWindow<TimePosition> {
  isOldestFirst: boolean;
}

const columns =
  'e.uuid, e.event, e.distinct_id, e.timestamp, e.properties, e.elements_chain, e.person_id, e.person_properties';

/**
 * Which events of a project are on a page. Walks the primary key (project_id, timestamp, uuid) month by month and stops when
 * the page is full.
 */
export async function findEventKeys(sql: Sql, projectId: number, filter: EventFilter, window: EventWindow) {
  const where = createConditions();
  const from = addConditions(where, projectId, filter, window);
  if (filter.person_id !== undefined) addNobodysEvents(where, filter.person_id);
  const page = `${orderOf(window)} ${limitOf(window, where.parameter)}`;
  return findKeys(sql, filter, {
    where,
    text: `SELECT e.timestamp, e.uuid AS id ${from} WHERE ${where.text()} ${page}`,
  });
}

/**
 * The same for one distinct id, or for all distinct ids of the person `person_id`. Each id is looked up by the index
 * (project_id, distinct_id, timestamp) and gives no more events than the page reaches, so that rare visitors of a busy
 * project are found without walking the project.
 */
export async function findEventKeysByDistinctId(sql: Sql, projectId: number, filter: EventFilter, window: EventWindow) {
  const where = createConditions();
  const from = addConditions(where, projectId, filter, window);
  where.add('e.distinct_id = wanted.distinct_id');
  const reach = where.parameter(window.limit + window.offset);
  const order = orderOf(window);
  const text = `SELECT e.timestamp, e.uuid AS id
      FROM (${wantedDistinctIds(where, projectId, filter)}) AS wanted
     CROSS JOIN LATERAL (
           SELECT e.timestamp, e.uuid ${from} WHERE ${where.text()} ${order} LIMIT ${reach}::int) AS e
     ${order} ${limitOf(window, where.parameter)}`;
  return findKeys(sql, filter, { where, text });
}

function findKeys(
  sql: Sql,
  { properties }: EventFilter,
  { where, text }: { where: Conditions; text: string },
): Promise<TimePosition[]> {
  const isUsual = properties.length === 0;
  return sql.query<TimePosition & Record<string, unknown>>(`${isUsual ? '' : unprepared}${text}`, where.values);
}

/** Only events of nobody: stored under this person, whom their distinct id does not belong to any more or never did. */
function addNobodysEvents(where: Conditions, personId: string): void {
  where.add(`e.person_id = ${where.parameter(personId)}`);
  where.add(`NOT EXISTS (SELECT 1 FROM person_distinct_id d
                          WHERE d.project_id = e.project_id AND d.distinct_id = e.distinct_id)`);
}

export const intervals = ['minute', 'hour', 'day'] as const;
export type Interval = (typeof intervals)[number];

interface CountedInterval {
  /** When it begins; milliseconds since 1970. */
  start_ms: number;
  count: number;
}

/**
 * The events a filter finds, counted by the interval of a time zone's clocks they happened in; intervals without any have 0.
 *
 * @param isByDistinctId whether the filter means single distinct ids (`meansDistinctIds`), which an index finds.
 */
export async function countEvents(
  sql: Sql,
  projectId: number,
  filter: EventFilter & TimeSpan,
  { interval, timeZone, isByDistinctId }: { interval: Interval; timeZone: string; isByDistinctId: boolean },
): Promise<CountedInterval[]> {
  const where = createConditions();
  let from = addConditions(where, projectId, filter, { behind: null });
  if (isByDistinctId) {
    where.add('e.distinct_id = wanted.distinct_id');
    from = `FROM (${wantedDistinctIds(where, projectId, filter)}) AS wanted
            CROSS JOIN LATERAL (SELECT e.timestamp ${from} WHERE ${where.text()}) AS e`;
  } else {
    if (filter.person_id !== undefined) addNobodysEvents(where, filter.person_id);
    from = `${from} WHERE ${where.text()}`;
  }
  const zone = `${where.parameter(timeZone)}::text`;
  const [after, before] = [where.parameter(filter.after), where.parameter(filter.before)];
  const starts = startsOf(interval, { zone, after, before });
  return sql.query<CountedInterval & Record<string, unknown>>(
    `${filter.properties.length === 0 ? '' : unprepared}WITH counted AS (
       SELECT date_trunc('${interval}', e.timestamp, ${zone}) AS start, count(*) AS count ${from} GROUP BY 1)
     SELECT (extract(epoch FROM start) * 1000)::float8 AS start_ms, coalesce(counted.count, 0)::float8 AS count
       FROM (SELECT start FROM (${starts}) AS planned WHERE start < ${before}::timestamptz
              UNION SELECT start FROM counted) AS every
       LEFT JOIN counted USING (start)
      ORDER BY start`,
    where.values,
  );
}

/** SQL for when the intervals begin that lie between two times or over them, by the clocks of a zone; the last may be behind. */
function startsOf(interval: Interval, { zone, after, before }: Record<'zone' | 'after' | 'before', string>): string {
  return interval === 'day'
    ? `SELECT local AT TIME ZONE ${zone} AS start
         FROM generate_series(date_trunc('day', ${after}::timestamptz AT TIME ZONE ${zone}),
                              ${before}::timestamptz AT TIME ZONE ${zone}, '1 day') AS local`
    : `SELECT start
         FROM generate_series(date_trunc('${interval}', ${after}::timestamptz, ${zone}), ${before}::timestamptz,
                              '1 ${interval}') AS start`;
}

/** When the intervals begin that `countEvents` counts in; milliseconds since 1970. */
export async function findStarts(
  sql: Sql,
  { after, before }: TimeSpan,
  { interval, timeZone }: { interval: Interval; timeZone: string },
): Promise<number[]> {
  const rows = await sql.query<{ start_ms: number }>(
    `SELECT DISTINCT (extract(epoch FROM start) * 1000)::float8 AS start_ms
       FROM (${startsOf(interval, { zone: '$1::text', after: '$2', before: '$3' })}) AS planned
      WHERE start < $3::timestamptz ORDER BY 1`,
    [timeZone, after, before],
  );
  return rows.map(({ start_ms }) => start_ms);
}

/** The elements are shown as a text and taken apart. The person of today, who may be much larger, is shown with every event. */
const eventBytes = `octet_length(e.properties::text) + 5 * octet_length(e.elements_chain) + 500
  + coalesce((SELECT octet_length(p.properties::text) + ${distinctIdBytes('p.project_id', 'p.uuid')}
                FROM person_distinct_id d JOIN person p ON p.project_id = d.project_id AND p.uuid = d.person_uuid
               WHERE d.project_id = e.project_id AND d.distinct_id = e.distinct_id LIMIT 1),
             octet_length(e.person_properties::text))`;

export const readEvents = largeRows<TimePosition, EventRow>({
  key: { timestamp: 'timestamptz', id: 'uuid' },
  row: (of) =>
    `FROM event e WHERE e.project_id = $1::int AND e.timestamp = ${of('timestamp')} AND e.uuid = ${of('id')}`,
  columns,
  bytes: eventBytes,
});

const orderOf = ({ isOldestFirst }: EventWindow) =>
  isOldestFirst ? 'ORDER BY e.timestamp, e.uuid' : 'ORDER BY e.timestamp DESC, e.uuid DESC';

function wantedDistinctIds(where: Conditions, projectId: number, { person_id, distinct_id }: EventFilter): string {
  if (person_id === undefined) return `SELECT ${where.parameter(distinct_id)}::text AS distinct_id`;
  const one = distinct_id === undefined ? '' : `AND d.distinct_id = ${where.parameter(distinct_id)}`;
  return `SELECT d.distinct_id FROM person_distinct_id d
           WHERE d.project_id = ${where.parameter(projectId)} AND d.person_uuid = ${where.parameter(person_id)} ${one}`;
}

/** Where the properties of a filter are, as an object. */
const filteredColumns = {
  event: 'e.properties',
  person: 'coalesce(current.properties, e.person_properties)',
  event_metadata: "jsonb_build_object('event', e.event)",
};

/** Adds what every list of events asks for. @returns where it reads from, the event as `e`. */
function addConditions(
  where: Conditions,
  projectId: number,
  filter: EventFilter,
  window: { behind: null } | EventWindow,
): string {
  where.add(`e.project_id = ${where.parameter(projectId)}`);
  if (filter.event !== undefined) where.add(`e.event = ${where.parameter(filter.event)}`);
  if (filter.distinct_id !== undefined) where.add(`e.distinct_id = ${where.parameter(filter.distinct_id)}`);
  if (filter.after !== undefined) where.add(`e.timestamp > ${where.parameter(filter.after)}`);
  if (filter.before !== undefined) where.add(`e.timestamp < ${where.parameter(filter.before)}`);
  if (window.behind !== null) {
    const timestamp = where.parameter(window.behind.timestamp);
    const [behindOrAt, behind] = window.isOldestFirst ? ['>=', '>'] : ['<=', '<'];
    // The first half is implied by the second, but only it lets the planner leave out the months behind.
    where.add(
      `e.timestamp ${behindOrAt} ${timestamp} AND (e.timestamp, e.uuid) ${behind} (${timestamp}, ${where.parameter(window.behind.id)})`,
    );
  }
  for (const property of filter.properties) {
    where.add(propertyCondition(property, filteredColumns[property.owner], where.parameter));
  }
  const looksAtPersons = filter.properties.some(({ owner }) => owner === 'person');
  return looksAtPersons ? `FROM event e ${withCurrentPerson}` : 'FROM event e';
}

const withCurrentPerson = `LEFT JOIN LATERAL (
  SELECT p.properties FROM person_distinct_id d JOIN person p ON p.project_id = d.project_id AND p.uuid = d.person_uuid
   WHERE d.project_id = e.project_id AND d.distinct_id = e.distinct_id LIMIT 1) AS current ON true`;

interface EventPersonRow {
  /** The distinct id asked for. */
  distinct_id: string;
  uuid: string;
  main_distinct_id: string;
  properties: Record<string, unknown>;
}

/** The persons some distinct ids belong to now. An id that belongs to nobody is absent. */
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

/** Whether a filter means single distinct ids: one, or those of a person. */
export async function meansDistinctIds(
  sql: Sql,
  projectId: number,
  { person_id, distinct_id }: EventFilter,
): Promise<boolean> {
  return person_id === undefined ? distinct_id !== undefined : hasDistinctIds(sql, projectId, person_id);
}

/** Whether the person exists now, with at least one distinct id. */
async function hasDistinctIds(sql: Sql, projectId: number, personUuid: string): Promise<boolean> {
  const rows = await sql.query('SELECT 1 FROM person_distinct_id WHERE project_id = $1 AND person_uuid = $2 LIMIT 1', [
    projectId,
    personUuid,
  ]);
  return rows.length > 0;
}

/** One event. Its identity knows its time, so one month is looked into and there by its primary key. */
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

/** When an event happened, whether or not it is kept here. */
export async function readTimeOfEvent(sql: Sql, projectId: number, uuid: string): Promise<Date | undefined> {
  const rows = await sql.query<{ timestamp: Date }>(
    'SELECT timestamp FROM event_identity WHERE project_id = $1::int AND uuid = $2::uuid',
    [projectId, uuid],
  );
  return rows[0]?.timestamp;
}

/** About how many bytes the person of today of some ids takes where it is shown. An id that belongs to nobody is absent. */
export async function sizesOfPersons(sql: Sql, projectId: number, distinctIds: string[]): Promise<Map<string, number>> {
  const rows = await sql.query<{ distinct_id: string; bytes: number }>(
    `SELECT d.distinct_id, (octet_length(p.properties::text) + ${distinctIdBytes('p.project_id', 'p.uuid')})::float8 AS bytes
       FROM person_distinct_id d JOIN person p ON p.project_id = d.project_id AND p.uuid = d.person_uuid
      WHERE d.project_id = $1 AND d.distinct_id = ANY ($2::text[])`,
    [projectId, distinctIds],
  );
  return new Map(rows.map(({ distinct_id, bytes }) => [distinct_id, bytes]));
}
