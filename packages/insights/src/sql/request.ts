// Converts an SQL query from a client to a request for running or checking the query.

import type { ProjectSettings } from '../plan/context.ts';
import type { SqlMetadataQuery, SqlQuery } from '../sql-query.ts';
import { readVariableValues } from '../sql-variables.ts';
import type { SqlRequest } from './run.ts';

/** @throws AppError `invalid` with the name of a variable whose value does not fit the variable's type */
export function sqlRequest(
  query: SqlQuery | SqlMetadataQuery,
  { projectId, settings, now, rows }: { projectId: number; settings: ProjectSettings; now: number; rows?: number },
): SqlRequest {
  const { query: text, variables, filters, modifiers } = query;
  const { values: ofVariables, unknown: unknownVariables } = readVariableValues(settings.variables, variables);
  const values = query.kind === 'HogQLQuery' ? query.values : undefined;
  return {
    projectId,
    settings,
    text,
    now,
    variables: ofVariables,
    unknownVariables,
    ...(values && { values }),
    ...(filters && { filters }),
    ...(modifiers && { modifiers }),
    ...(rows !== undefined && { rows }),
  };
}
