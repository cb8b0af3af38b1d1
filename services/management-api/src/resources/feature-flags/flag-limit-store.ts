import type { Sql } from '@millrace/db';

export interface FlagTotals {
  count: number;
  /** Of their filters as text. */
  bytes: number;
  /** About how many of their filters are regular expressions. */
  patterns: number;
}

/** What the flags of an environment come to, without the deleted ones. */
export async function measureFlags(sql: Sql, environmentId: number): Promise<FlagTotals> {
  const rows = await sql.query<FlagTotals & Record<string, unknown>>(
    `SELECT count(*)::int AS count, coalesce(sum(octet_length(text)), 0)::float8 AS bytes,
            coalesce(sum((length(text) - length(replace(text, 'regex"', ''))) / 6), 0)::float8 AS patterns
       FROM (SELECT filters::text AS text FROM feature_flag WHERE project_id = $1 AND NOT deleted) AS flag`,
    [environmentId],
  );
  return rows[0] ?? { count: 0, bytes: 0, patterns: 0 };
}
