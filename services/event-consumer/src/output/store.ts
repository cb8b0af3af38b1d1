// SQL that reads stored events again for publishing.

import type { Sql } from '@millrace/db/sql';

export interface StoredEvent {
  projectId: number;
  uuid: string;
  event: string;
  distinctId: string;
  timestampMs: number;
  capturedAtMs: number;
  properties: string;
  elementsChain: string;
  personUuid: string;
  personCreatedAtMs: number | null;
  personProperties: string;
  personMode: number;
  isHistorical: boolean;
}

export interface EventKey {
  projectId: number;
  uuid: string;
}

/**
 * Reads the stored events with these keys, in order. The result does not include dropped events, which have an identity
 * but no row.
 */
export async function readStoredEvents(sql: Sql, keys: EventKey[]): Promise<StoredEvent[]> {
  if (keys.length === 0) return [];
  return sql.query<StoredEvent & Record<string, unknown>>(
    `SELECT e.project_id AS "projectId", e.uuid, e.event, e.distinct_id AS "distinctId",
            (extract(epoch FROM e.timestamp) * 1000)::float8 AS "timestampMs",
            (extract(epoch FROM e.captured_at) * 1000)::float8 AS "capturedAtMs",
            e.properties::text AS properties, e.elements_chain AS "elementsChain", e.person_id AS "personUuid",
            (extract(epoch FROM e.person_created_at) * 1000)::float8 AS "personCreatedAtMs",
            e.person_properties::text AS "personProperties", e.person_mode AS "personMode",
            e.historical_migration AS "isHistorical"
       FROM unnest($1::int[], $2::uuid[]) WITH ORDINALITY AS sought (project_id, uuid, ordinal)
      CROSS JOIN LATERAL (SELECT i.timestamp FROM event_identity i
                           WHERE i.project_id = sought.project_id AND i.uuid = sought.uuid LIMIT 1) AS i
      CROSS JOIN LATERAL (SELECT * FROM event e
                           WHERE e.project_id = sought.project_id AND e.timestamp = i.timestamp
                             AND e.uuid = sought.uuid LIMIT 1) AS e
      ORDER BY sought.ordinal`,
    [keys.map(({ projectId }) => projectId), keys.map(({ uuid }) => uuid)],
  );
}
