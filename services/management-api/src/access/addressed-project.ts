// Finds the project or environment in a request path.

import { type FoundEnvironment, findEnvironment } from '@millrace/accounts/access';
import { parseRecordId } from '@millrace/contracts';
import type { Sql } from '@millrace/db';
import type { BaseContext } from '@millrace/http';
import { AppError, isAppError } from '@millrace/runtime';
import { Type } from 'typebox';
import {
  type AddressedProject,
  environmentExists,
  findCurrentOrFirstEnvironment,
  findEnvironmentByToken,
  findFirstEnvironment,
} from './addressed-store.ts';
import { type Caller, findScopedEnvironments, getVisibleOrganizationIds, requireProjectInKey } from './caller.ts';
import { type BasePath, basePath } from './define-route.ts';
import { readRecordRights, requireRouteRights } from './record-rights.ts';

const projectParams = Type.Object({
  project_id: Type.String({ description: 'ID (integer) of the project or of one of its environments, or `@current`.' }),
});

export const idParams = Type.Object({
  id: Type.String({ description: 'ID (integer) of the project or environment, or `@current`.' }),
});

/**
 * Creates a function that returns the environment in the path, if it is in one of the caller's organizations. Projects
 * of other organizations get the same error as projects that do not exist (docs/api/access.md#levels). `@current` is
 * the caller's current environment, or the first one that the key can access. The returned function throws AppError
 * `not_found`, or `forbidden` if the API key is limited to other projects or the environment is private.
 */
function addressedProject(sql: Sql) {
  return async ({ caller, params, route }: ProjectContext): Promise<AddressedProject> => {
    const found =
      params.project_id === '@current'
        ? await currentEnvironment(sql, caller)
        : await findByNumber(params.project_id, (id) => findEnvironment(sql, caller.userId, id));
    if (!found) throw new AppError('not_found', 'Project not found.');
    return enter(sql, found, { caller, named: params.project_id, route });
  };
}

/**
 * Checks the caller's access to the project in a path.
 * @throws AppError `forbidden` if the key is limited to other projects, or if the caller has no access to the
 *   environment or to the kind of record
 */
async function enter(
  sql: Sql,
  found: FoundEnvironment,
  { caller, named, route }: { caller: Caller; named: string } & Pick<ProjectContext, 'route'>,
): Promise<AddressedProject> {
  requireInKey(caller, found, named);
  const addressed = await requireAccess(sql, caller, found, "You don't have access to the project.");
  requireRouteRights(addressed.rights, route);
  return addressed;
}

/**
 * Returns the environment with this project API key, for paths that do not contain a project. Without a key, returns
 * the caller's current environment. The caller needs the same access as for `route` under the project.
 * @throws AppError `invalid` if the caller has no such project, `not_found` if the caller has no current environment,
 *   or `forbidden`
 */
export async function findProjectOfToken(
  sql: Sql,
  token: string | undefined,
  { caller, route }: { caller: Caller } & Pick<ProjectContext, 'route'>,
): Promise<AddressedProject> {
  const found =
    token === undefined
      ? await currentEnvironment(sql, caller)
      : await findEnvironmentByToken(sql, caller.userId, token);
  if (found) return enter(sql, found, { caller, named: String(found.environmentId), route });
  if (token === undefined) throw new AppError('not_found', 'Project not found.');
  throw new AppError('invalid', 'You do not have access to a project with this `token`.', { attr: 'token' });
}

type ProjectContext = Pick<BaseContext<Caller, { project_id: string }>, 'caller' | 'params' | 'route'>;

/**
 * Creates a function that returns the environment for the ID at the end of a path. If `kind` is `project`, the function
 * returns the first environment of the project with this ID.
 *
 * The returned function throws AppError `invalid` if the ID is not a number (docs/api/README.md#paths-and-ids),
 * `not_found` (also for a private environment), and `forbidden` if the key is limited to other projects or if
 * `@current` is private.
 */
export function addressedById(sql: Sql, kind: 'project' | 'environment') {
  const find = kind === 'project' ? findFirstEnvironment : findEnvironment;
  return async ({ caller, params }: { caller: Caller; params: { id: string } }): Promise<AddressedProject> => {
    const isCurrent = params.id === '@current';
    if (!isCurrent && !/^-?\d+$/.test(params.id)) {
      throw new AppError('invalid', `Field 'id' expected a number but got '${params.id.slice(0, 100)}'.`);
    }
    const found = isCurrent
      ? await currentEnvironment(sql, caller)
      : await findByNumber(params.id, (id) => find(sql, caller.userId, id));
    if (!found) throw new AppError('not_found', 'Not found.');
    requireInKey(caller, found, params.id);
    if (found.level === null && !isCurrent) throw new AppError('not_found', 'Not found.');
    return requireAccess(sql, caller, found, "You don't have sufficient permissions in the project.");
  };
}

function requireInKey(caller: Caller, { environmentId, organizationId }: FoundEnvironment, named: string): void {
  requireProjectInKey(caller, { environmentIds: [environmentId], organizationId }, named);
}

async function requireAccess(
  sql: Sql,
  { userId }: Caller,
  found: FoundEnvironment,
  otherwise: string,
): Promise<AddressedProject> {
  const { level } = found;
  if (level === null) throw new AppError('forbidden', otherwise);
  return { ...found, level, rights: await readRecordRights(sql, userId, { ...found, level }) };
}

async function findByNumber<T>(text: string, find: (id: number) => Promise<T | undefined>): Promise<T | undefined> {
  const id = parseRecordId(text);
  return id === undefined ? undefined : find(id);
}

async function currentEnvironment(sql: Sql, caller: Caller): Promise<FoundEnvironment | undefined> {
  return findCurrentOrFirstEnvironment(
    sql,
    { userId: caller.userId, organizationIds: getVisibleOrganizationIds(caller) },
    { only: findScopedEnvironments(caller), preferred: caller.currentEnvironmentId },
  );
}

/**
 * Like `addressedProject`, for resources under an environment. Their existing clients expect status 403 for an
 * environment of another organization, and 404 for an environment that does not exist (docs/api/access.md#levels).
 */
export function parentEnvironment(sql: Sql) {
  const address = addressedProject(sql);
  return async (context: ProjectContext) => {
    try {
      return await address(context);
    } catch (error) {
      const id = parseRecordId(context.params.project_id);
      if (isAppError(error, 'not_found') && id !== undefined && (await environmentExists(sql, id))) {
        throw new AppError('forbidden', "You don't have access to the project.", { cause: error });
      }
      throw error;
    }
  };
}

/**
 * Declares each route twice: under a project for older clients, and under an environment for newer clients. Project IDs
 * and environment IDs find the same environment.
 * @param projectOperations the prefix of the operation IDs under a project
 */
export function environmentBases<Found>(
  find: (context: BaseContext<Caller, { project_id: string }>) => Promise<Found>,
  projectOperations = '',
): BasePath<Found>[] {
  return [
    basePath({ path: '/api/projects/:project_id', operations: projectOperations, params: projectParams, find }),
    basePath({ path: '/api/environments/:project_id', operations: 'environments_', params: projectParams, find }),
  ];
}

export function environmentBasePaths(sql: Sql): BasePath<AddressedProject>[] {
  return environmentBases(addressedProject(sql));
}

/**
 * Replaces the text of all `not_found` errors with the same text, so that callers cannot distinguish missing records
 * from records that they cannot see.
 */
export async function maskNotFound<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw isAppError(error, 'not_found') ? new AppError('not_found', 'Not found.', { cause: error }) : error;
  }
}
