import type { Sql } from '@millrace/db';
import { AppError } from '@millrace/errors';

/** @throws AppError `not_found` when the environment is gone by now. */
export async function readEventRetention(
  sql: Sql,
  environmentId: number,
): Promise<{ event_retention_days: number | null }> {
  const [row] = await sql.query<{ event_retention_days: number | null }>(
    'SELECT event_retention_days FROM environment WHERE id = $1::int',
    [environmentId],
  );
  if (row === undefined) throw new AppError('not_found', 'Not found.');
  return row;
}
