import type { Sql } from '@millrace/db';
import { AppError } from '@millrace/errors';
import { Type } from 'typebox';
import { type Caller, onlyEnvironmentsOf, visibleOrganizationIds } from '../../access/caller.ts';
import { requireProjectInKey } from '../../access/key-restrictions.ts';
import { findProjectOfCaller } from './parent-project-store.ts';

/** Path parameter of everything below a project that belongs to the project and not to one of its environments. */
export const parentParams = Type.Object({
  project_id: Type.String({ description: 'Id (integer) of the project, or `@current`.' }),
});

export interface ParentProject {
  projectId: number;
  organizationId: string;
}

/**
 * The project the path names, within the caller's organizations. Its environments may be private one by one; the project
 * is not.
 *
 * The returned function throws AppError: `not_found`, or `forbidden` when the key is restricted to others.
 */
export function addressedParent(sql: Sql) {
  return async ({ caller, params }: { caller: Caller; params: { project_id: string } }): Promise<ParentProject> => {
    const isCurrent = params.project_id === '@current';
    const id = /^\d{1,10}$/.test(params.project_id) ? Number(params.project_id) : 0;
    const isPossible = isCurrent || (id > 0 && id <= 2_147_483_647);
    const found = isPossible
      ? await findProjectOfCaller(sql, caller.userId, {
          id: isCurrent ? null : id,
          preferred: caller.currentEnvironmentId,
          organizationIds: isCurrent ? visibleOrganizationIds(caller) : null,
          only: isCurrent ? onlyEnvironmentsOf(caller) : null,
        })
      : undefined;
    if (!found) throw new AppError('not_found', 'Project not found.');
    // A key for single environments reaches a project by any of them.
    requireProjectInKey(caller, found, params.project_id);
    return found;
  };
}
