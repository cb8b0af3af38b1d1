import type { Sql } from '@millrace/db';
import { createConditions } from '../../sql/conditions.ts';
import { type Paged, pageWithinBytes } from '../../sql/page-within-bytes.ts';
import { distinctIdBytes } from '../distinct-ids/distinct-id-store.ts';
import type { PersonRow } from '../shown-persons/person-row.ts';

interface GroupOfEvents {
  group_type_index: number;
  group_key: string;
  /** Only events later than this tell who belongs to it. */
  after: Date;
}

/**
 * One page of the persons of a group, the newest first, below `belowId`: those with an event that names the group. Which
 * events do is not indexed, so each page walks the project's events since `after`.
 */
export async function listGroupMembers(
  sql: Sql,
  projectId: number,
  { group_type_index, group_key, after }: GroupOfEvents,
  { belowId, limit, maxBytes }: { belowId: string | null; limit: number; maxBytes: number },
): Promise<Paged<PersonRow>[]> {
  const where = createConditions();
  const project = where.parameter(projectId);
  where.add(`p.project_id = ${project}`);
  if (belowId !== null) where.add(`p.id < ${where.parameter(belowId)}`);
  where.add(`p.uuid IN (
    SELECT d.person_uuid
      FROM (SELECT DISTINCT e.distinct_id FROM event e
             WHERE e.project_id = ${project} AND e.timestamp > ${where.parameter(after)}
               AND e.properties ->> ${where.parameter(`$group_${group_type_index}`)}::text = ${where.parameter(group_key)}) AS e
      JOIN person_distinct_id d ON d.project_id = ${project} AND d.distinct_id = e.distinct_id)`);
  const size = where.parameter(limit);
  const text = pageWithinBytes({
    keys: `SELECT p.id FROM person p WHERE ${where.text()} ORDER BY p.id DESC LIMIT ${size}::int + 1`,
    keyColumns: ['id'],
    row: (key) => `FROM person p WHERE p.project_id = ${project} AND p.id = ${key('id')}`,
    columns: 'p.id, p.uuid, p.main_distinct_id, p.properties, p.is_identified, p.created_at',
    bytes: `octet_length(p.properties::text) + ${distinctIdBytes('p.project_id', 'p.uuid')} + 1000`,
    limit: size,
    maxBytes: where.parameter(maxBytes),
    isUsual: true,
  });
  return sql.query<Paged<PersonRow> & Record<string, unknown>>(text, where.values);
}
