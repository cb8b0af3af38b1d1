/**
 * SQL for group types and groups. Each function sends one statement, or none for an empty list. See ledger/store.ts for
 * the lock order.
 */
import type { JsonObject } from '@millrace/contracts';
import type { Transaction } from '@millrace/db/sql';
import { checkLoadedSize, insertOrThrowConflict, maxLoadedBytes } from '../failures.ts';

export interface StoredGroupType {
  projectId: number;
  type: string;
  index: number;
  createdAtMs: number;
}

export interface GroupKey {
  projectId: number;
  index: number;
  key: string;
}

export interface StoredGroup extends GroupKey {
  properties: JsonObject;
  version: number;
  createdAtMs: number;
}

/**
 * Reads all group types of the projects, at most five per project. Group types are never changed or deleted, so no lock
 * is needed.
 */
export async function readGroupTypes(tx: Transaction, projectIds: number[]): Promise<StoredGroupType[]> {
  if (projectIds.length === 0) return [];
  const rows = await tx.query<GroupTypeRow>(
    `SELECT project_id, group_type, group_type_index, (extract(epoch FROM created_at) * 1000)::float8 AS created_at_ms
       FROM group_type_mapping
      WHERE project_id = ANY ($1::int[])`,
    [projectIds],
  );
  return rows.map((row) => ({
    projectId: row.project_id,
    type: row.group_type,
    index: row.group_type_index,
    createdAtMs: Math.round(row.created_at_ms),
  }));
}

/**
 * Locks those of the groups that exist, and returns their state under the lock.
 * @throws BatchTooLarge if several groups together exceed the size limit
 */
export async function lockGroups(tx: Transaction, keys: GroupKey[]): Promise<StoredGroup[]> {
  if (keys.length === 0) return [];
  const rows = await tx.query<GroupRow>(
    `WITH locked AS MATERIALIZED (
       SELECT g.*
         FROM unnest($1::int[], $2::int[], $3::text[]) AS touched (project_id, group_type_index, group_key)
         JOIN "group" g USING (project_id, group_type_index, group_key)
        ORDER BY g.project_id, g.group_type_index, g.group_key COLLATE "C"
          FOR NO KEY UPDATE OF g)
     SELECT project_id, group_type_index, group_key, version, running_bytes,
            CASE WHEN running_bytes <= $4 THEN group_properties END AS group_properties,
            (extract(epoch FROM created_at) * 1000)::float8 AS created_at_ms
       FROM (SELECT locked.*,
                    sum(octet_length(group_properties::text)) OVER (ROWS UNBOUNDED PRECEDING)::float8 AS running_bytes
               FROM locked) AS measured`,
    [
      keys.map(({ projectId }) => projectId),
      keys.map(({ index }) => index),
      keys.map(({ key }) => key),
      keys.length === 1 ? Number.MAX_SAFE_INTEGER : maxLoadedBytes,
    ],
  );
  if (keys.length > 1)
    checkLoadedSize(
      'its groups are large',
      rows.map(({ running_bytes: bytes }) => bytes),
    );
  return rows.map((row) => ({
    projectId: row.project_id,
    index: row.group_type_index,
    key: row.group_key,
    properties: row.group_properties,
    version: Number(row.version),
    createdAtMs: Math.round(row.created_at_ms),
  }));
}

/** Inserts group types. @throws LedgerConflict if another batch was the first to use the index or add the type */
export async function insertGroupTypes(tx: Transaction, types: StoredGroupType[]): Promise<void> {
  if (types.length === 0) return;
  await insertOrThrowConflict(
    'a group type',
    tx.query(
      `INSERT INTO group_type_mapping (project_id, group_type, group_type_index, created_at)
     SELECT project_id, group_type, group_type_index, to_timestamp(created_at_ms / 1000.0)
       FROM unnest($1::int[], $2::text[], $3::int[], $4::bigint[])
         AS t (project_id, group_type, group_type_index, created_at_ms)
      ORDER BY project_id, group_type_index`,
      [
        types.map(({ projectId }) => projectId),
        types.map(({ type }) => type),
        types.map(({ index }) => index),
        types.map(({ createdAtMs }) => createdAtMs),
      ],
    ),
  );
}

/** Inserts groups in lock order. @throws LedgerConflict if one of the groups exists */
export async function insertGroups(tx: Transaction, groups: StoredGroup[]): Promise<void> {
  if (groups.length === 0) return;
  await insertOrThrowConflict(
    'a group',
    tx.query(
      `INSERT INTO "group" (project_id, group_type_index, group_key, group_properties, version, created_at)
     SELECT project_id, group_type_index, group_key, group_properties, version, to_timestamp(created_at_ms / 1000.0)
       FROM jsonb_to_recordset($1::jsonb) AS g (${groupColumns})
      ORDER BY project_id, group_type_index, group_key COLLATE "C"`,
      [groupDocument(groups)],
    ),
  );
}

export async function updateGroups(tx: Transaction, groups: StoredGroup[]): Promise<void> {
  if (groups.length === 0) return;
  await tx.query(
    `UPDATE "group"
        SET group_properties = g.group_properties, version = g.version,
            created_at = to_timestamp(g.created_at_ms / 1000.0)
       FROM jsonb_to_recordset($1::jsonb) AS g (${groupColumns})
      WHERE "group".project_id = g.project_id AND "group".group_type_index = g.group_type_index
        AND "group".group_key = g.group_key`,
    [groupDocument(groups)],
  );
}

interface GroupTypeRow {
  project_id: number;
  group_type: string;
  group_type_index: number;
  created_at_ms: number;
}

interface GroupRow {
  project_id: number;
  group_type_index: number;
  group_key: string;
  group_properties: JsonObject;
  version: string;
  created_at_ms: number;
  /** The total size in bytes of the group properties up to and including this row. */
  running_bytes: number;
}

const groupColumns = `project_id int, group_type_index int, group_key text, group_properties jsonb, version bigint,
  created_at_ms bigint`;

function groupDocument(groups: StoredGroup[]): string {
  return JSON.stringify(
    groups.map((group) => ({
      project_id: group.projectId,
      group_type_index: group.index,
      group_key: group.key,
      group_properties: group.properties,
      version: group.version,
      created_at_ms: group.createdAtMs,
    })),
  );
}
