// Checks the filters and variables of a dashboard, which apply to its insights.

import type { Sql } from '@millrace/db';
import { checkFilters, findVariablesProblem, readProjectSettings, type SqlParser } from '@millrace/insights';
import { isAppError } from '@millrace/runtime';
import { refusal } from '../insights/rules.ts';

/**
 * Rejects filters with which no insight can run. Does not read events, and accepts unknown fields.
 * @throws AppError `invalid` naming `attr`. The message names the part of the filters.
 */
export async function requireUsable(
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
 * Rejects variables with which no SQL insight can run.
 * @throws AppError `invalid` naming `variables`
 */
export async function requireVariables(
  sql: Sql,
  { projectId, variables }: { projectId: number; variables: Record<string, unknown> },
): Promise<void> {
  const { variables: stored } = await readProjectSettings(sql, projectId);
  const problem = findVariablesProblem(stored, variables);
  if (problem !== null) throw refusal('variables', problem);
}
