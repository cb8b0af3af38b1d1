import type { Sql } from '@millrace/db';
import { checkFilters, readSettings, variablesProblem } from '@millrace/insights';
import { isAppError } from '@millrace/runtime';
import { refusal } from '../insights/rules.ts';

/**
 * Refuses filters under which no insight can run, as far as that is known without events. Fields that are not known are kept.
 * @throws AppError `invalid` naming `attr`, with the part of the filters in the sentence.
 */
export async function requireUsable(
  sql: Sql,
  { projectId, filters, attr }: { projectId: number; filters: Record<string, unknown>; attr: string },
): Promise<void> {
  try {
    await checkFilters(sql, { projectId, filters, now: Date.now() });
  } catch (error) {
    throw isAppError(error, 'invalid') ? refusal(attr, error.message) : error;
  }
}

/** Rejects variables with which no SQL insight can run. @throws AppError `invalid` naming `variables`. */
export async function requireVariables(
  sql: Sql,
  { projectId, variables }: { projectId: number; variables: Record<string, unknown> },
): Promise<void> {
  const { variables: stored } = await readSettings(sql, projectId);
  const problem = variablesProblem(stored, variables);
  if (problem !== null) throw refusal('variables', problem);
}
