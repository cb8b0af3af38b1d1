import type { Sql } from '@millrace/db';

export async function findEnvironmentToken(sql: Sql, environmentId: number): Promise<string | undefined> {
  const rows = await sql.query<{ api_token: string }>('SELECT api_token FROM environment WHERE id = $1', [
    environmentId,
  ]);
  return rows[0]?.api_token;
}
