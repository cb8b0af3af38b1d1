import type { Sql } from '@millrace/db/sql';

/** The environment whose secret key this is, the former one of a rolled key included; null when it is nobody's. */
export async function findSecretKeyOwner(sql: Sql, secureValue: string): Promise<number | null> {
  const [row] = await sql.query<{ project_id: number }>(
    'SELECT project_id FROM project_secret_key WHERE secure_value = $1',
    [secureValue],
  );
  return row?.project_id ?? null;
}
