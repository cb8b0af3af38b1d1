// SQL that reads groups (such as companies) and their members.

import type { Columns, Sql } from '@millrace/db';
import { createConditions } from '../../sql/conditions.ts';
import { createLargeRowReader, type KeyWindow, toLimitClause } from '../../sql/large-page.ts';
import { limitPageBytes } from '../../sql/limit-page-bytes.ts';
import type { PersonKey } from '../persons/store.ts';

interface GroupRow extends Columns<'group', 'group_type_index' | 'group_key' | 'created_at'> {
  group_type: string | null;
  group_properties: Record<string, unknown>;
}

interface GroupFilter {
  group_type_index?: number;
  group_key?: string;
  search?: string;
}

/** Returns true if the database may have to read groups that do not match the filter. */
export function isGroupSearch({ group_type_index, group_key, search }: GroupFilter): boolean {
  if (group_key !== undefined) return group_type_index === undefined;
  return search !== undefined && search !== '';
}

export type GroupKey = Pick<GroupRow, 'group_type_index' | 'group_key'>;

/** Returns the keys of the groups on a page, sorted by type and key. */
export async function findGroupKeys(
  sql: Sql,
  projectId: number,
  filter: GroupFilter,
  { behind, limit, offset }: KeyWindow<GroupKey>,
): Promise<GroupKey[]> {
  const where = createConditions();
  const project = where.parameter(projectId);
  where.add(`g.project_id = ${project}`);
  if (behind !== null) {
    const [index, key] = [where.parameter(behind.group_type_index), where.parameter(behind.group_key)];
    where.add(`(g.group_type_index, g.group_key) > (${index}, ${key})`);
  }
  if (filter.group_type_index !== undefined) {
    where.add(`g.group_type_index = ${where.parameter(filter.group_type_index)}`);
  }
  if (filter.group_key !== undefined) where.add(`g.group_key = ${where.parameter(filter.group_key)}`);
  if (filter.search !== undefined && filter.search !== '') {
    const wanted = `lower(${where.parameter(filter.search)}::text)`;
    where.add(`(strpos(lower(g.group_key), ${wanted}) > 0
             OR strpos(lower(g.group_properties->>'name'), ${wanted}) > 0)`);
  }
  const page = toLimitClause({ limit, offset }, where.parameter);
  return sql.query<GroupKey & Record<string, unknown>>(
    `SELECT g.group_type_index, g.group_key FROM "group" g
      WHERE ${where.text()} ORDER BY g.group_type_index, g.group_key ${page}`,
    where.values,
  );
}

export const readGroups = createLargeRowReader<GroupKey, GroupRow>({
  key: { group_type_index: 'int', group_key: 'text' },
  row: (of) => `FROM "group" g
         LEFT JOIN group_type_mapping t ON t.project_id = g.project_id AND t.group_type_index = g.group_type_index
        WHERE g.project_id = $1::int AND g.group_type_index = ${of('group_type_index')} AND g.group_key = ${of('group_key')}`,
  columns: 't.group_type, g.group_type_index, g.group_key, g.group_properties, g.created_at',
  bytes: 'octet_length(g.group_properties::text) + octet_length(g.group_key) + 500',
});

export async function readGroup(
  sql: Sql,
  projectId: number,
  { group_type_index, group_key }: { group_type_index: number; group_key: string },
): Promise<GroupRow | undefined> {
  const rows = await sql.query<GroupRow & Record<string, unknown>>(
    `SELECT t.group_type, g.group_type_index, g.group_key, g.group_properties, g.created_at
       FROM "group" g
       LEFT JOIN group_type_mapping t ON t.project_id = g.project_id AND t.group_type_index = g.group_type_index
      WHERE g.project_id = $1::int AND g.group_type_index = $2::int AND g.group_key = $3::text`,
    [projectId, group_type_index, group_key],
  );
  return rows[0];
}

/** Maximum number of groups of each type to read when counting how many groups have each property. */
export const maxGroupsCounted = 50_000;

export async function countGroupProperties(
  sql: Sql,
  projectId: number,
): Promise<{ group_type_index: number; name: string; count: number }[]> {
  return sql.query(
    `SELECT t.group_type_index, property.name, count(*)::int AS count
       FROM group_type_mapping t
      CROSS JOIN LATERAL (
            SELECT g.group_properties FROM "group" g
             WHERE g.project_id = t.project_id AND g.group_type_index = t.group_type_index
             ORDER BY g.group_key LIMIT ${maxGroupsCounted}) AS g
      CROSS JOIN LATERAL jsonb_object_keys(g.group_properties) AS property (name)
      WHERE t.project_id = $1::int
      GROUP BY t.group_type_index, property.name
      ORDER BY t.group_type_index, count DESC, property.name`,
    [projectId],
  );
}

export interface StoredGroup extends Columns<'group', 'group_key'> {
  group_properties: Record<string, unknown>;
}

interface GroupsOfType {
  environmentId: number;
  groupType: number;
}

/**
 * Reads groups of a type, sorted by key, starting after the key `after`. May return fewer than `limit` groups. Only an
 * empty page means that no groups remain.
 */
export async function readGroupPage(
  sql: Sql,
  { environmentId, groupType }: GroupsOfType,
  { after, limit }: { after: string | null; limit: number },
): Promise<StoredGroup[]> {
  return sql.query<StoredGroup & Record<string, unknown>>(
    limitPageBytes(
      `SELECT group_key, group_properties FROM "group"
        WHERE project_id = $1 AND group_type_index = $2 AND ($3::text IS NULL OR group_key > $3)
        ORDER BY group_key LIMIT $4`,
      ['group_properties'],
    ),
    [environmentId, groupType, after, limit],
  );
}

export async function countGroups(sql: Sql, { environmentId, groupType }: GroupsOfType): Promise<number> {
  const rows = await sql.query<{ count: number }>(
    'SELECT count(*)::int AS count FROM "group" WHERE project_id = $1 AND group_type_index = $2',
    [environmentId, groupType],
  );
  return rows[0]?.count ?? 0;
}

interface GroupOfEvents {
  group_type_index: number;
  group_key: string;
  /** Only events after this time determine the group's members. */
  after: Date;
}

/**
 * Finds the persons on a page of a group's members, newest first. A person is a member if at least one of the person's
 * events has the group. There is no index on the groups of events, so each page reads all events of the project since
 * `after`.
 */
export async function findGroupMembers(
  sql: Sql,
  projectId: number,
  { group_type_index, group_key, after }: GroupOfEvents,
  { behind, limit, offset }: KeyWindow<PersonKey>,
): Promise<PersonKey[]> {
  const where = createConditions();
  const project = where.parameter(projectId);
  where.add(`p.project_id = ${project}`);
  if (behind !== null) where.add(`p.id < ${where.parameter(behind.id)}`);
  where.add(`p.uuid IN (
    SELECT d.person_uuid
      FROM (SELECT DISTINCT e.distinct_id FROM event e
             WHERE e.project_id = ${project} AND e.timestamp > ${where.parameter(after)}
               AND e.properties ->> ${where.parameter(`$group_${group_type_index}`)}::text = ${where.parameter(group_key)}) AS e
      JOIN person_distinct_id d ON d.project_id = ${project} AND d.distinct_id = e.distinct_id)`);
  const page = toLimitClause({ limit, offset }, where.parameter);
  return sql.query<PersonKey & Record<string, unknown>>(
    `SELECT p.id FROM person p WHERE ${where.text()} ORDER BY p.id DESC ${page}`,
    where.values,
  );
}

export interface TimesInGroup {
  event_count: number;
  last_event_at: Date;
}

/**
 * For each person, returns the number of events with the group, and the time of the latest one. The events are found by
 * distinct ID through an index.
 */
export async function readTimesInGroup(
  sql: Sql,
  projectId: number,
  { group_type_index, group_key, after }: GroupOfEvents,
  uuids: string[],
): Promise<Map<string, TimesInGroup>> {
  const rows = await sql.query<TimesInGroup & { uuid: string }>(
    `SELECT d.person_uuid AS uuid, count(*)::int AS event_count, max(e.timestamp) AS last_event_at
       FROM person_distinct_id d
       JOIN event e ON e.project_id = d.project_id AND e.distinct_id = d.distinct_id
      WHERE d.project_id = $1::int AND d.person_uuid = ANY ($2::uuid[]) AND e.timestamp > $3
        AND e.properties ->> $4::text = $5::text
      GROUP BY d.person_uuid`,
    [projectId, uuids, after, `$group_${group_type_index}`, group_key],
  );
  return new Map(rows.map(({ uuid, ...times }) => [uuid, times]));
}
