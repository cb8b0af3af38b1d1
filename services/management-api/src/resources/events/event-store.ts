import type { Sql } from '@millrace/db';
import { type Conditions, createConditions } from '../../sql/conditions.ts';
import type { TimePlace } from '../time-place.ts';

export interface EventRow {
  uuid: string;
  event: string;
  distinct_id: string;
  timestamp: Date;
  properties: Record<string, unknown>;
  elements_chain: string;
  /** The person as of ingestion; only shown when the distinct id belongs to nobody now. */
  person_id: string;
  person_properties: Record<string, unknown>;
  /** About how long the row is as JSON. */
  bytes: number;
  /** How many rows there were before those beyond `maxBytes` were left out. */
  fetched: number;
}

export interface EventFilter {
  event?: string;
  distinct_id?: string;
  person_id?: string;
  /** ISO 8601, both exclusive. */
  after?: string;
  before?: string;
}

export interface EventWindow {
  from: TimePlace | null;
  limit: number;
  /** The rows end with the one that reaches this size, so that a page of huge events is a short page. */
  maxBytes: number;
}

/** Compressed rows are unpacked to tell their size; the others tell it themselves, which is nearly free. */
const sizeOf = (column: string) =>
  `CASE WHEN pg_column_size(${column}) < 2000 THEN pg_column_size(${column}) ELSE octet_length(${column}::text) END`;

/** The rows of `query`, in its order, up to the one with which `maxBytes` are reached. */
function upToBytes(query: string, maxBytes: string): string {
  return `SELECT * FROM (
            SELECT *, sum(bytes) OVER (${newestFirst} ROWS UNBOUNDED PRECEDING) - bytes AS bytes_before,
                   (count(*) OVER ())::int AS fetched
              FROM (SELECT e.*, (${sizeOf('e.properties')} + ${sizeOf('e.person_properties')}
                                 + octet_length(e.elements_chain) + 500)::int AS bytes
                      FROM (${query}) AS e) AS e) AS e
           WHERE bytes_before < ${maxBytes} ${newestFirst}`;
}

export const columns =
  'e.uuid, e.event, e.distinct_id, e.timestamp, e.properties, e.elements_chain, e.person_id, e.person_properties';
const newestFirst = 'ORDER BY e.timestamp DESC, e.uuid DESC';

/**
 * Events of a project, the newest first, from behind `from` on. Walks the primary key (project_id, timestamp, uuid) month by
 * month and stops when the page is full.
 */
export async function listEvents(sql: Sql, projectId: number, filter: EventFilter, window: EventWindow) {
  const where = eventConditions(projectId, filter, window.from);
  if (filter.person_id !== undefined) {
    // Nobody's event: stored under this person, whom its distinct id does not belong to any more or never did.
    where.add(`e.person_id = ${where.parameter(filter.person_id)}`);
    where.add(`NOT EXISTS (SELECT 1 FROM person_distinct_id d
                            WHERE d.project_id = e.project_id AND d.distinct_id = e.distinct_id)`);
  }
  return sql.query<EventRow & Record<string, unknown>>(
    upToBytes(
      `SELECT ${columns} FROM event e WHERE ${where.text()} ${newestFirst} LIMIT ${where.parameter(window.limit)}`,
      where.parameter(window.maxBytes),
    ),
    where.values,
  );
}

/**
 * The same for one distinct id, or for all distinct ids of the person `person_id`. Each id is looked up by the index
 * (project_id, distinct_id, timestamp) and gives at most one page, so that rare visitors of a busy project are found
 * without walking the project.
 */
export async function listEventsByDistinctId(sql: Sql, projectId: number, filter: EventFilter, window: EventWindow) {
  const where = eventConditions(projectId, filter, window.from);
  where.add('e.distinct_id = wanted.distinct_id');
  const limit = where.parameter(window.limit);
  return sql.query<EventRow & Record<string, unknown>>(
    upToBytes(
      `SELECT ${columns}
         FROM (${wantedDistinctIds(where, projectId, filter)}) AS wanted
        CROSS JOIN LATERAL (
              SELECT ${columns} FROM event e WHERE ${where.text()} ${newestFirst} LIMIT ${limit}) AS e
        ${newestFirst} LIMIT ${limit}`,
      where.parameter(window.maxBytes),
    ),
    where.values,
  );
}

function wantedDistinctIds(where: Conditions, projectId: number, { person_id, distinct_id }: EventFilter): string {
  if (person_id === undefined) return `SELECT ${where.parameter(distinct_id)}::text AS distinct_id`;
  const one = distinct_id === undefined ? '' : `AND d.distinct_id = ${where.parameter(distinct_id)}`;
  return `SELECT d.distinct_id FROM person_distinct_id d
           WHERE d.project_id = ${where.parameter(projectId)} AND d.person_uuid = ${where.parameter(person_id)} ${one}`;
}

function eventConditions(projectId: number, filter: EventFilter, from: TimePlace | null): Conditions {
  const where = createConditions();
  where.add(`e.project_id = ${where.parameter(projectId)}`);
  if (filter.event !== undefined) where.add(`e.event = ${where.parameter(filter.event)}`);
  if (filter.distinct_id !== undefined) where.add(`e.distinct_id = ${where.parameter(filter.distinct_id)}`);
  if (filter.after !== undefined) where.add(`e.timestamp > ${where.parameter(new Date(filter.after))}`);
  if (filter.before !== undefined) where.add(`e.timestamp < ${where.parameter(new Date(filter.before))}`);
  if (from !== null) {
    const timestamp = where.parameter(from.timestamp);
    // The first half is implied by the second, but only it lets the planner leave out the months behind.
    where.add(`e.timestamp <= ${timestamp} AND (e.timestamp, e.uuid) < (${timestamp}, ${where.parameter(from.id)})`);
  }
  return where;
}
