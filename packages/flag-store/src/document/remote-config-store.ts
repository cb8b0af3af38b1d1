import type { Sql } from '@millrace/db/sql';

export interface RemoteConfig {
  /** JSON text, or what it was encrypted to; null when the flag has none. */
  payload: string | null;
}

/** The payload of a flag that only carries one, by its key or its id; null when there is no such flag. */
export async function findRemoteConfig(sql: Sql, environmentId: number, keyOrId: string): Promise<RemoteConfig | null> {
  const [row] = await sql.query<RemoteConfig & Record<string, unknown>>(
    `SELECT f.filters->'payloads'->>'true' AS payload
       FROM feature_flag f
      WHERE f.project_id = $1::int AND NOT f.deleted AND f.is_remote_configuration AND (f.key = $2 OR f.id::text = $2)
      ORDER BY f.key = $2 DESC
      LIMIT 1`,
    [environmentId, keyOrId],
  );
  return row ?? null;
}
