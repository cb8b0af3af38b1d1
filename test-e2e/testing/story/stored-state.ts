import type { Pool } from 'pg';
import type { ExpectedGroup, ExpectedPerson } from './expected-state.ts';

export interface StoredEvent {
  uuid: string;
  event: string;
  distinct_id: string;
  timestamp: string;
  /** Sequence number of the event within its distinct ID. */
  n: number | null;
  /** The event's company, from `$group_<index of company>`. */
  company: string | null;
}

export interface StoredState {
  /** Sorted by UUID. */
  events: StoredEvent[];
  /** Persons, in the format and order of the expected state. */
  persons: (Omit<ExpectedPerson, 'mainDistinctId'> & { mainDistinctId: string; creatorEventUuid: string })[];
  groups: ExpectedGroup[];
}

/**
 * Reads the database content in the format of the expected state.
 * @param projectId the project to read; all projects by default
 */
export async function readStoredState({
  database,
  projectId = null,
}: {
  database: Pool;
  projectId?: number | null;
}): Promise<StoredState> {
  const events = await database.query<Omit<StoredEvent, 'timestamp'> & { timestamp: Date }>(
    `SELECT uuid, event, distinct_id, timestamp, (properties->>'n')::int AS n,
            properties->>('$group_' || (SELECT group_type_index FROM group_type_mapping WHERE group_type = 'company')) AS company
       FROM event
      WHERE $1::int IS NULL OR project_id = $1
      ORDER BY uuid::text COLLATE "C"`,
    [projectId],
  );
  const persons = await database.query<{
    ids: string[];
    properties: Record<string, unknown>;
    is_identified: boolean;
    created_at: Date;
    main_distinct_id: string;
  }>(
    `SELECT array_agg(d.distinct_id ORDER BY d.distinct_id COLLATE "C") AS ids,
            p.properties, p.is_identified, p.created_at, p.main_distinct_id
       FROM person p LEFT JOIN person_distinct_id d ON d.project_id = p.project_id AND d.person_uuid = p.uuid
      WHERE $1::int IS NULL OR p.project_id = $1
      GROUP BY p.project_id, p.uuid
      ORDER BY min(d.distinct_id COLLATE "C")`,
    [projectId],
  );
  const groups = await database.query<ExpectedGroup>(
    `SELECT m.group_type AS type, g.group_key AS key, g.group_properties AS properties
       FROM "group" g JOIN group_type_mapping m USING (project_id, group_type_index)
      WHERE $1::int IS NULL OR project_id = $1
      ORDER BY m.group_type COLLATE "C", g.group_key COLLATE "C"`,
    [projectId],
  );
  return {
    events: events.rows.map((row) => ({ ...row, timestamp: row.timestamp.toISOString() })),
    persons: persons.rows.map(({ ids, properties, is_identified, created_at, main_distinct_id }) => {
      const { $creator_event_uuid: creatorEventUuid, ...rest } = properties;
      return {
        distinctIds: ids,
        properties: rest,
        isIdentified: is_identified,
        createdAt: created_at.toISOString(),
        mainDistinctId: main_distinct_id,
        creatorEventUuid: String(creatorEventUuid),
      };
    }),
    groups: groups.rows,
  };
}
