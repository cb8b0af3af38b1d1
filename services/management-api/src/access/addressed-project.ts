import type { Sql } from '@millrace/db';
import { AppError } from '@millrace/errors';
import { Type } from 'typebox';
import { type AddressedProject, findEnvironment, firstEnvironment } from './addressed-store.ts';
import { type Caller, visibleOrganizationIds } from './caller.ts';
import { requireOrganizationInKey, requireProjectInKey } from './key-restrictions.ts';

/** Path parameter of everything below `/api/projects/:project_id`. */
export const projectParams = Type.Object({
  project_id: Type.String({ description: 'Id (integer) of the project or of one of its environments, or `@current`.' }),
});

/**
 * The environment the path names, found only within the caller's own organizations: a foreign project and one that does
 * not exist look the same (reference/management-api.md 2.8). `@current` is the first one the key may use.
 *
 * The returned function throws AppError: `not_found`, or `forbidden` when the key is restricted to others.
 */
export function addressedProject(sql: Sql) {
  return async ({ caller, params }: { caller: Caller; params: { project_id: string } }): Promise<AddressedProject> => {
    if (params.project_id === '@current') return currentProject(sql, caller);
    const id = /^\d{1,10}$/.test(params.project_id) ? Number(params.project_id) : 0;
    const memberOf = caller.memberships.map((membership) => membership.organizationId);
    const project = id > 0 && id <= 2_147_483_647 ? await findEnvironment(sql, id, memberOf) : undefined;
    if (!project) throw unknownProject();
    requireOrganizationInKey(caller, project.organizationId);
    requireProjectInKey(caller, project.environmentId);
    return project;
  };
}

async function currentProject(sql: Sql, caller: Caller): Promise<AddressedProject> {
  const only = caller.scopedTeams.length > 0 ? caller.scopedTeams : null;
  const project = await firstEnvironment(sql, visibleOrganizationIds(caller), {
    only,
    preferred: caller.currentEnvironmentId,
  });
  if (!project) throw unknownProject();
  return project;
}

function unknownProject(): AppError {
  return new AppError('not_found', 'Project not found.');
}
