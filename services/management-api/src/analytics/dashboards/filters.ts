// Validates a dashboard's filters and variables. Both apply to the insights on the dashboard.

import type { Sql } from '@millrace/db';
import { checkFilters, findVariablesProblem, readProjectSettings, type SqlParser } from '@millrace/insights';
import { isAppError } from '@millrace/runtime';
import { refusal } from '../insights/rules.ts';

/**
 * Rejects filters that would make every insight fail. Does not read events, and accepts unknown fields.
 * @throws AppError `invalid` naming `attr`. The message names the invalid filter field.
 */
export async function requireUsableFilters(
  deps: { sql: Sql; parser: SqlParser },
  { projectId, filters, attr }: { projectId: number; filters: Record<string, unknown>; attr: string },
): Promise<void> {
  try {
    await checkFilters(deps, { projectId, filters, now: Date.now() });
  } catch (error) {
    throw isAppError(error, 'invalid') ? refusal(attr, error.message) : error;
  }
}

/**
 * Rejects variables that would make every SQL insight fail.
 * @throws AppError `invalid` naming `variables`
 */
export async function requireValidVariables(
  sql: Sql,
  { projectId, variables }: { projectId: number; variables: Record<string, unknown> },
): Promise<void> {
  const { variables: stored } = await readProjectSettings(sql, projectId);
  const problem = findVariablesProblem(stored, variables);
  if (problem !== null) throw refusal('variables', problem);
}
