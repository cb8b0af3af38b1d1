// SQL that records the names of received events and properties, and when feature flags were last called.

import type { Transaction } from '@millrace/db/sql';
import type { PropertyType } from './property-type.ts';

export interface EventDefinition {
  projectId: number;
  name: string;
  seenAtMs: number;
}

export const definitionType = { event: 1, person: 2, group: 3 } as const;

export interface PropertyDefinition {
  projectId: number;
  type: (typeof definitionType)[keyof typeof definitionType];
  /** The group type index, or -1 for event and person properties. */
  groupTypeIndex: number;
  name: string;
  propertyType: PropertyType | null;
  seenAtMs: number;
}

/**
 * Inserts new names and advances `last_seen_at`. If a user created a definition before the first event arrived, sets
 * the definition's times. Does not change fields that users edit. Locks rows in the order of their keys.
 */
export async function upsertEventDefinitions(tx: Transaction, definitions: EventDefinition[]): Promise<void> {
  if (definitions.length === 0) return;
  await tx.query(
    `INSERT INTO event_definition (project_id, name, last_seen_at)
     SELECT project_id, name, to_timestamp(seen_at_ms / 1000.0)
       FROM unnest($1::int[], $2::text[], $3::bigint[]) AS d (project_id, name, seen_at_ms)
      ORDER BY project_id, name COLLATE "C"
         ON CONFLICT (project_id, name) DO UPDATE
        SET last_seen_at = EXCLUDED.last_seen_at, created_at = COALESCE(event_definition.created_at, EXCLUDED.created_at)
      WHERE event_definition.last_seen_at IS NULL OR event_definition.last_seen_at < EXCLUDED.last_seen_at`,
    [
      definitions.map(({ projectId }) => projectId),
      definitions.map(({ name }) => name),
      definitions.map(({ seenAtMs }) => seenAtMs),
    ],
  );
}

/**
 * Inserts or updates property definitions, like `upsertEventDefinitions`. Does not change a type that was detected
 * before or set by a user.
 */
export async function upsertPropertyDefinitions(tx: Transaction, definitions: PropertyDefinition[]): Promise<void> {
  if (definitions.length === 0) return;
  await tx.query(
    `INSERT INTO property_definition (project_id, type, group_type_index, name, property_type, last_seen_at)
     SELECT project_id, type, group_type_index, name, property_type, to_timestamp(seen_at_ms / 1000.0)
       FROM unnest($1::int[], $2::smallint[], $3::smallint[], $4::text[], $5::text[], $6::bigint[])
         AS d (project_id, type, group_type_index, name, property_type, seen_at_ms)
      ORDER BY project_id, type, group_type_index, name COLLATE "C"
         ON CONFLICT (project_id, type, group_type_index, name) DO UPDATE
        SET last_seen_at = GREATEST(property_definition.last_seen_at, EXCLUDED.last_seen_at),
            property_type = COALESCE(property_definition.property_type, EXCLUDED.property_type)`,
    [
      definitions.map(({ projectId }) => projectId),
      definitions.map(({ type }) => type),
      definitions.map(({ groupTypeIndex }) => groupTypeIndex),
      definitions.map(({ name }) => name),
      definitions.map(({ propertyType }) => propertyType),
      definitions.map(({ seenAtMs }) => seenAtMs),
    ],
  );
}

export interface FlagCall {
  projectId: number;
  flagKey: string;
  calledAtMs: number;
}

/** Advances `last_called_at`. Locks rows in ID order, and ignores unknown keys. */
export async function recordFlagCalls(tx: Transaction, calls: FlagCall[]): Promise<void> {
  if (calls.length === 0) return;
  await tx.query(
    `WITH called AS (
       SELECT f.id, to_timestamp(c.called_at_ms / 1000.0) AS at
         FROM unnest($1::int[], $2::text[], $3::bigint[]) AS c (project_id, flag_key, called_at_ms)
         JOIN feature_flag f ON f.project_id = c.project_id AND f.key = c.flag_key AND NOT f.deleted
        ORDER BY f.id FOR NO KEY UPDATE OF f)
     UPDATE feature_flag f SET last_called_at = called.at FROM called
      WHERE f.id = called.id AND (f.last_called_at IS NULL OR f.last_called_at < called.at)`,
    [
      calls.map(({ projectId }) => projectId),
      calls.map(({ flagKey }) => flagKey),
      calls.map(({ calledAtMs }) => calledAtMs),
    ],
  );
}
