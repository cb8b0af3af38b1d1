import type { Sql } from '@millrace/db';

export interface CalculationRow {
  id: string;
  started_at: Date;
  finished_at: Date | null;
  count: number | null;
  error: string | null;
}

/** One page of the times a cohort was counted, the latest first, and how often it was. */
export async function listCalculations(
  sql: Sql,
  cohortId: number,
  { limit, offset }: { limit: number; offset: number },
): Promise<{ count: number; rows: CalculationRow[] }> {
  const [counted, rows] = await Promise.all([
    sql.query<{ count: number }>('SELECT count(*)::int AS count FROM cohort_calculation WHERE cohort_id = $1', [
      cohortId,
    ]),
    sql.query<CalculationRow & Record<string, unknown>>(
      `SELECT id, started_at, finished_at, count, error FROM cohort_calculation
        WHERE cohort_id = $1 ORDER BY started_at DESC, id DESC LIMIT $2 OFFSET $3`,
      [cohortId, limit, offset],
    ),
  ]);
  return { count: counted[0]?.count ?? 0, rows };
}
