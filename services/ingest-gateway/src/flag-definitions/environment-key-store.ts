import type { Sql } from '@millrace/db/sql';

/** The project API key of an environment; null when there is no such environment. */
export async function findKeyOfEnvironment(sql: Sql, environmentId: number): Promise<string | null> {
  const [row] = await sql.query<{ api_token: string }>('SELECT api_token FROM environment WHERE id = $1', [
    environmentId,
  ]);
  return row?.api_token ?? null;
}
