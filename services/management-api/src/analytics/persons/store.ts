// SQL that finds, counts and reads persons, and the events that merged them.

import { eventNames } from '@millrace/contracts';
import { type Sql, unpreparedPrefix } from '@millrace/db';
import { type Condition, printPersonCondition } from '@millrace/insights';
import { type Conditions, createConditions } from '../../sql/conditions.ts';
import { createLargeRowReader, type KeyWindow, toLimitClause } from '../../sql/large-page.ts';
import { distinctIdBytes } from '../distinct-ids/distinct-id-store.ts';
import type { PersonRow } from '../shown-persons/person-row.ts';

export interface PersonFilter {
  distinct_id?: string;
  email?: string;
  search?: string;
  is_identified?: boolean;
  /** A condition on properties, or null for all persons. */
  properties: Condition | null;
}

/** Returns true if the database may have to read persons who do not match the filter. */
export function isPersonSearch({ distinct_id, email, search, is_identified, properties }: PersonFilter): boolean {
  return distinct_id === undefined && ((email ?? search ?? is_identified) !== undefined || properties !== null);
}

/** A person's numeric ID, as a string because the ID has 64 bits. */
export type PersonKey = Pick<PersonRow, 'id'>;

export interface PersonPosition extends PersonKey {
  /**
   * The time when the person was created, in microseconds since 1970. A `Date` has only millisecond precision. Set only
   * in lists that are sorted by `created_at`.
   */
  created_us?: string;
  /**
   * The section of the list that contains the person. In a list with a search string, the first section contains the
   * persons whose email or distinct ID starts with that string.
   */
  part?: 'start' | 'rest';
}

export interface PersonWindow extends KeyWindow<PersonPosition> {
  /** Sort by numeric ID, which is the order in which persons were stored, or by the time when they were first seen. */
  order: '-id' | 'created_at' | '-created_at';
}

interface PersonRange {
  from?: string;
  only?: readonly string[];
  without?: readonly string[];
}

/**
 * Finds the persons on a page. With an email filter, the persons are found through an index. With other filters, the
 * database reads persons in the order of the list until the page is full. Each order has an index.
 */
export async function listPersonKeys(
  sql: Sql,
  { projectId, filter, window }: { projectId: number; filter: PersonFilter; window: PersonWindow },
  { from: least, only, without }: PersonRange = {},
): Promise<PersonPosition[]> {
  const { behind, limit, offset, order } = window;
  const where = createConditions();
  const project = where.parameter(projectId);
  where.add(`p.project_id = ${project}`);
  const [isAfter, direction] = order === 'created_at' ? ['>', 'ASC'] : ['<', 'DESC'];
  const columns = order === '-id' ? ['p.id'] : ['p.created_at', 'p.id'];
  if (behind !== null) {
    const id = where.parameter(behind.id);
    const place =
      order === '-id'
        ? id
        : `'epoch'::timestamptz + ${where.parameter(behind.created_us)}::bigint * interval '1 microsecond', ${id}`;
    where.add(`(${columns.join(', ')}) ${isAfter} (${place})`);
  }
  if (least !== undefined) where.add(`p.id >= ${where.parameter(least)}::bigint`);
  if (only !== undefined) where.add(`p.uuid = ANY (${where.parameter(only)}::uuid[])`);
  if (without !== undefined) where.add(`p.uuid <> ALL (${where.parameter(without)}::uuid[])`);
  const from = addFilter(where, { projectId, project }, filter);
  const page = toLimitClause({ limit, offset }, where.parameter);
  const ordered = columns.map((column) => `${column} ${direction}`).join(', ');
  const alsoRead = order === '-id' ? '' : ', (extract(epoch FROM p.created_at) * 1000000)::bigint::text AS created_us';
  return sql.query<PersonPosition & Record<string, unknown>>(
    `${filter.properties === null ? '' : unpreparedPrefix}SELECT p.id${alsoRead} ${from}
      WHERE ${where.text()} ORDER BY ${ordered} ${page}`,
    where.values,
  );
}

export const readPersons = createLargeRowReader<PersonKey, PersonRow>({
  key: { id: 'bigint' },
  row: (of) => `FROM person p WHERE p.project_id = $1::int AND p.id = ${of('id')}`,
  columns: 'p.id, p.uuid, p.main_distinct_id, p.properties, p.is_identified, p.created_at',
  bytes: `octet_length(p.properties::text) + ${distinctIdBytes('p.project_id', 'p.uuid')} + 1000`,
});

/** A range of person IDs below `behind`, and down to `from`. Null means no limit. */
export interface IdRange {
  behind: string | null;
  from: string | null;
}

export async function countPersons(
  sql: Sql,
  { projectId, filter, most }: { projectId: number; filter: PersonFilter; most: number },
  { behind, from: least }: IdRange = { behind: null, from: null },
): Promise<number> {
  const where = createConditions();
  const project = where.parameter(projectId);
  where.add(`p.project_id = ${project}`);
  if (behind !== null) where.add(`p.id < ${where.parameter(behind)}::bigint`);
  if (least !== null) where.add(`p.id >= ${where.parameter(least)}::bigint`);
  const from = addFilter(where, { projectId, project }, filter);
  const [counted] = await sql.query<{ count: number }>(
    `${filter.properties === null ? '' : unpreparedPrefix}SELECT count(*)::int AS count
       FROM (SELECT 1 ${from} WHERE ${where.text()} LIMIT ${where.parameter(most)}::int) AS found`,
    where.values,
  );
  return counted?.count ?? 0;
}

/** Adds the conditions of a filter. Returns the FROM clause, in which `p` is the person table. */
function addFilter(
  where: Conditions,
  { projectId, project }: { projectId: number; project: string },
  filter: PersonFilter,
): string {
  const { distinct_id, email, search, is_identified, properties } = filter;
  if (distinct_id !== undefined) {
    where.add(`p.uuid = (SELECT d.person_uuid FROM person_distinct_id d
                          WHERE d.project_id = ${project} AND d.distinct_id = ${where.parameter(distinct_id)})`);
  }
  if (is_identified !== undefined) where.add(`p.is_identified = ${where.parameter(is_identified)}`);
  if (email !== undefined) {
    const wanted = where.parameter(email);
    where.add(`p.email_start = ${emailStart(wanted)}`);
    where.add(`p.properties->>'email' = ${wanted}`);
  }
  if (search !== undefined && search !== '') {
    const wanted = `lower(${where.parameter(search)}::text)`;
    where.add(`(strpos(lower(p.properties->>'email'), ${wanted}) > 0
             OR strpos(lower(p.properties->>'name'), ${wanted}) > 0
             OR EXISTS (SELECT 1 FROM person_distinct_id d
                         WHERE d.project_id = ${project} AND d.person_uuid = p.uuid
                           AND strpos(lower(d.distinct_id), ${wanted}) > 0))`);
  }
  if (properties === null) return 'FROM person p';
  const { from, condition } = printPersonCondition({ projectId, where: properties }, where.parameter);
  where.add(condition);
  return from;
}

/** SQL for an email address in the format of the column `email_start`: in lower case and truncated. */
const emailStart = (email: string) => `left(lower(${email}::text), 320)`;

/** Unicode's last character. A prefix followed by this character sorts after all other strings with the prefix. */
const lastCharacter = '\u{10ffff}';

/**
 * Finds the persons whose email (ignoring case) or distinct ID (as typed or in lower case) starts with a string.
 * @returns null if more than `max` persons match
 */
export async function findPersonsByStart(
  sql: Sql,
  projectId: number,
  { text, max }: { text: string; max: number },
): Promise<string[] | null> {
  const emails = `SELECT p.uuid FROM person p
     WHERE p.project_id = $1::int AND p.email_start >= ${emailStart('$2')} AND p.email_start < ${emailStart('$2')} || $3`;
  const ids = (start: string) => `SELECT d.person_uuid FROM person_distinct_id d
     WHERE d.project_id = $1::int AND d.distinct_id COLLATE "C" >= ${start} AND d.distinct_id COLLATE "C" < ${start} || $3`;
  const each = [emails, ids('$2::text'), ids('lower($2::text)')].map((one) => `(${one} LIMIT $4::int)`);
  const rows = await sql.query<{ uuid: string }>(each.join(' UNION ALL '), [projectId, text, lastCharacter, max + 1]);
  const uuids = new Set(rows.map(({ uuid }) => uuid));
  return uuids.size > max ? null : [...uuids];
}

/**
 * Returns the ID of the person `count` positions after the given person in a list sorted by ID, or null if the list
 * ends before that position.
 */
export async function findPersonIdAfter(
  sql: Sql,
  projectId: number,
  { behind, count }: { behind: string | null; count: number },
): Promise<string | null> {
  const [row] = await sql.query<{ id: string }>(
    `SELECT id FROM person WHERE project_id = $1::int AND id < coalesce($2::bigint, 9223372036854775807)
      ORDER BY id DESC OFFSET $3::int LIMIT 1`,
    [projectId, behind, count - 1],
  );
  return row?.id ?? null;
}

export async function readPerson(sql: Sql, projectId: number, uuid: string): Promise<PersonRow | undefined> {
  const rows = await sql.query<PersonRow & Record<string, unknown>>(
    `SELECT id, uuid, main_distinct_id, properties, is_identified, created_at
       FROM person WHERE project_id = $1::int AND uuid = $2::uuid`,
    [projectId, uuid],
  );
  return rows[0];
}

/** Returns the UUIDs of persons with these UUIDs or numeric IDs. Omits persons who do not exist. */
export async function listPersonUuids(sql: Sql, projectId: number, ids: string[]): Promise<string[]> {
  const rows = await sql.query<{ uuid: string }>(
    `SELECT uuid FROM person WHERE project_id = $1::int AND uuid = ANY ($2::uuid[])
      UNION
     SELECT uuid FROM person WHERE project_id = $1::int AND id = ANY ($3::bigint[])`,
    [projectId, ids.filter((id) => id.includes('-')), ids.filter((id) => !id.includes('-'))],
  );
  return rows.map(({ uuid }) => uuid);
}

export interface MergeEvent {
  uuid: string;
  event: string;
  timestamp: Date;
  distinct_id: string;
  /** The other distinct ID in the merge event, truncated to 400 characters. */
  other_distinct_id: string;
}

export const maxMergeEvents = 1000;
const { identify, createAlias, mergeDangerously } = eventNames;
export const mergeEvents = [identify, createAlias, mergeDangerously];

export const mergeEventIdProperty = (event: string) => (event === identify ? '$anon_distinct_id' : 'alias');
