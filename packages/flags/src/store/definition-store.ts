// SQL that reads an environment's flag definitions.

import type { Sql } from '@millrace/db/sql';

/** A definition as a JSON string. The reader parses a few rows at a time. */
export interface DefinitionRow {
  kind: 'project' | 'flag' | 'cohort' | 'group_type';
  json: string;
}

/**
 * Reads all definitions that flag evaluation in an environment needs, and their version. A single statement reads one
 * consistent snapshot. The result has a row of kind `project` if the environment exists.
 */
export async function findDefinitionRows(sql: Sql, environmentId: number): Promise<DefinitionRow[]> {
  return sql.query<DefinitionRow & Record<string, unknown>>(
    `SELECT 'project' AS kind,
            json_build_object('version', coalesce(v.version, 0)::text, 'time_zone', e.timezone)::text AS json
       FROM environment e LEFT JOIN flag_definitions_version v ON v.project_id = e.id
      WHERE e.id = $1::int
     UNION ALL
     SELECT 'flag',
            json_build_object('id', f.id, 'key', f.key, 'name', f.name, 'version', f.version, 'active', f.active,
              'filters', f.filters, 'rollout_percentage', f.rollout_percentage,
              'ensure_experience_continuity', f.ensure_experience_continuity,
              'bucketing_identifier', f.bucketing_identifier, 'evaluation_runtime', f.evaluation_runtime,
              'evaluation_contexts', f.evaluation_contexts, 'has_encrypted_payloads', f.has_encrypted_payloads)::text
       FROM feature_flag f
      WHERE f.project_id = $1::int AND NOT f.deleted
     UNION ALL
     SELECT 'cohort',
            json_build_object('id', c.id, 'is_static', c.is_static, 'filters', c.filters, 'groups', c.groups)::text
       FROM cohort c
      WHERE c.project_id = $1::int AND NOT c.deleted
     UNION ALL
     SELECT 'group_type', json_build_object('index', g.group_type_index, 'name', g.group_type)::text
       FROM group_type_mapping g
      WHERE g.project_id = $1::int`,
    [environmentId],
  );
}

/** Reads the version of an environment's definitions, which is `0` if the environment has never had any. */
export async function findDefinitionsVersion(sql: Sql, environmentId: number): Promise<string> {
  const [row] = await sql.query<{ version: string }>(
    'SELECT version::text FROM flag_definitions_version WHERE project_id = $1::int',
    [environmentId],
  );
  return row?.version ?? '0';
}

interface RemoteConfig {
  id: number;
  createdById: number | null;
  /** The payload as a plain or encrypted JSON string, or null if the flag has no payload. */
  payload: string | null;
}

export async function findRemoteConfig(sql: Sql, environmentId: number, keyOrId: string): Promise<RemoteConfig | null> {
  const [row] = await sql.query<RemoteConfig & Record<string, unknown>>(
    `SELECT f.id, f.created_by_id AS "createdById", f.filters->'payloads'->>'true' AS payload
       FROM feature_flag f
      WHERE f.project_id = $1::int AND NOT f.deleted AND f.is_remote_configuration AND (f.key = $2 OR f.id::text = $2)
      ORDER BY f.key = $2 DESC
      LIMIT 1`,
    [environmentId, keyOrId],
  );
  return row ?? null;
}
