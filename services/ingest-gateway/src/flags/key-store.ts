// SQL that finds a secret key's environment, and an environment's project API key.

import type { Sql } from '@millrace/db/sql';

/**
 * Returns the environment of a secret key, or null for an unknown key. After a rotation, accepts the previous key too.
 */
export async function findSecretKeyOwner(sql: Sql, secureValue: string): Promise<number | null> {
  const [row] = await sql.query<{ project_id: number }>(
    'SELECT project_id FROM project_secret_key WHERE secure_value = $1',
    [secureValue],
  );
  return row?.project_id ?? null;
}

export async function findKeyByEnvironmentId(sql: Sql, environmentId: number): Promise<string | null> {
  const [row] = await sql.query<{ api_token: string }>('SELECT api_token FROM environment WHERE id = $1', [
    environmentId,
  ]);
  return row?.api_token ?? null;
}
