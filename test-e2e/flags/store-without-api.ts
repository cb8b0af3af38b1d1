import type pg from 'pg';
import type { CaseFlag } from './flag-cases.ts';

export async function storeCohort(
  database: pg.Pool,
  projectId: number,
  cohort: { name: string; filters: object },
): Promise<number> {
  const { rows } = await database.query<{ id: number }>(
    'INSERT INTO cohort (project_id, name, filters) VALUES ($1, $2, $3) RETURNING id',
    [projectId, cohort.name, JSON.stringify(cohort.filters)],
  );
  return Number(rows[0]?.id);
}

/**
 * Stores a flag without its filters. Filters are stored after all flags have IDs, because flags may depend on each
 * other.
 */
export async function storeFlag(database: pg.Pool, projectId: number, flag: CaseFlag): Promise<number> {
  const { rows } = await database.query<{ id: number }>(
    'INSERT INTO feature_flag (project_id, key, active) VALUES ($1, $2, $3) RETURNING id',
    [projectId, flag.key, flag.active],
  );
  return Number(rows[0]?.id);
}

export async function storeFilters(database: pg.Pool, id: number, filters: object): Promise<void> {
  await database.query('UPDATE feature_flag SET filters = $2 WHERE id = $1', [id, JSON.stringify(filters)]);
}
