import type { Sql } from '@millrace/db';
import { AppError, isAppError } from '@millrace/errors';
import { addressedProject } from './addressed-project.ts';
import type { Caller } from './caller.ts';
import { environmentExists } from './parent-environment-store.ts';

/**
 * As `addressedProject`, for resources below an environment where existing clients tell somebody else's environment (403)
 * from one that does not exist (404; docs/api-rules.md#levels).
 */
export function parentEnvironment(sql: Sql) {
  const address = addressedProject(sql);
  return async (context: { caller: Caller; params: { project_id: string } }) => {
    try {
      return await address(context);
    } catch (error) {
      const id = Number(context.params.project_id);
      if (isAppError(error, 'not_found') && isRowId(id) && (await environmentExists(sql, id))) {
        throw new AppError('forbidden', "You don't have access to the project.", { cause: error });
      }
      throw error;
    }
  };
}

function isRowId(id: number): boolean {
  return Number.isInteger(id) && id > 0 && id <= 2_147_483_647;
}
