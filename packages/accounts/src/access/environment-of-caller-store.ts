import type { Sql } from '@millrace/db/sql';
import { effectiveLevel, environmentsOfCaller } from './effective-level.ts';

/** An environment with the level a caller has there: null where it is private to others. */
export interface FoundEnvironment {
  environmentId: number;
  projectId: number;
  organizationId: string;
  level: number | null;
}

/** The columns of `FoundEnvironment`, for a query from `environmentsOfCaller`. */
export const foundEnvironmentColumns = `e.id AS "environmentId", e.project_id AS "projectId",
  p.organization_id AS "organizationId", ${effectiveLevel} AS level`;

/** The environment with this id, if it belongs to an organization of the caller. */
export async function findEnvironment(
  sql: Sql,
  userId: number,
  environmentId: number,
): Promise<FoundEnvironment | undefined> {
  const rows = await sql.query<FoundEnvironment & Record<string, unknown>>(
    `SELECT ${foundEnvironmentColumns} FROM ${environmentsOfCaller} WHERE e.id = $2`,
    [userId, environmentId],
  );
  return rows[0];
}
