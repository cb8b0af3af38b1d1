// SQL that finds the groups related to a person or another group.

import type { Sql } from '@millrace/db';
import type { GroupKey } from './store.ts';

/** Maximum number of related groups per type. Groups with the first keys in sort order are kept. */
export const maxRelatedGroups = 100;

export type Actor = { personUuid: string } | { group_type_index: number; group_key: string };

/**
 * Finds the groups that are related to a person or a group, sorted by type and key. Only events after `after` count. A
 * person is related to the groups of their events. An index finds these groups. A group is related to groups of other
 * types that occur in the same events. Finding these groups requires reading all events of the project.
 */
export async function findRelatedGroups(
  sql: Sql,
  projectId: number,
  { actor, after }: { actor: Actor; after: Date },
): Promise<GroupKey[]> {
  const isPerson = 'personUuid' in actor;
  const named = isPerson
    ? `e.distinct_id IN (SELECT d.distinct_id FROM person_distinct_id d WHERE d.project_id = $1 AND d.person_uuid = $3::uuid)`
    : `e.properties ->> $3::text = $4::text AND t.group_type_index <> $5::int`;
  const values = isPerson
    ? [actor.personUuid]
    : [`$group_${actor.group_type_index}`, actor.group_key, actor.group_type_index];
  return sql.query<GroupKey & Record<string, unknown>>(
    `SELECT ranked.group_type_index, ranked.group_key
       FROM (SELECT g.group_type_index, g.group_key,
                    row_number() OVER (PARTITION BY g.group_type_index ORDER BY g.group_key) AS place
               FROM (SELECT DISTINCT t.group_type_index, e.properties ->> ('$group_' || t.group_type_index) AS group_key
                       FROM event e JOIN group_type_mapping t ON t.project_id = e.project_id
                      WHERE e.project_id = $1 AND e.timestamp > $2 AND ${named}) AS related
               JOIN "group" g ON g.project_id = $1 AND g.group_type_index = related.group_type_index
                             AND g.group_key = related.group_key) AS ranked
      WHERE ranked.place <= ${maxRelatedGroups}
      ORDER BY ranked.group_type_index, ranked.group_key`,
    [projectId, after, ...values],
  );
}
